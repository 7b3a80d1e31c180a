"""Rewards: what a reward function is (`function.py`), the gate around any verdict (`gate.py`), and the functions
that come with webdojo; `registry.py` lists them.
"""
