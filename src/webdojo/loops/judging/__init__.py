"""Judging the judges: verdicts on stored episodes (`verdicts.py`), how they agree (`compare.py`), what they are worth
where the truth is known (`audit.py`), what they make of episodes that were tampered with (`stress.py`, whose
`corruptions.py` does it), and whether an evaluation's verdicts come again (`replay.py`).
"""
