"""Distilling a judge (OpenWebRL §4.3): verdicts on stored episodes, with their reasons (`labels.py`), become what a
small model would be asked and shall answer (`examples.py`), a balanced data set beside episodes of other sites
(`dataset.py`), and a checkpoint that judges by the same protocol (`distill.py`).
"""
