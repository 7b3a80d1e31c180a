"""Judges: models that read an episode and say whether its task was done.

`judge.py` is what they share, `case.py` what they are shown, `verdict.py` how their answers are read; every other file
is one protocol.
"""
