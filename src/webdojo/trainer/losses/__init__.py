"""Policy losses, one record each, and the KL estimators that may stand beside them.

A new one is a file here and a line in `registry.py`, or a file of your own that the recipe names. No module here
imports torch: the recipe reads the records when it is validated.
"""
