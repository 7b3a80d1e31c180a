"""What an evaluation tells others: by which protocol it was made (`protocol.py`), what it cost (`cost.py`), all that
its number depends on (`kit.py`), and what a leaderboard wants of it (`online_mind2web.py`). `counted.py` finds the
episodes that it counts, and `stages.py` those of every stage of a run, also of one that goes on.
"""
