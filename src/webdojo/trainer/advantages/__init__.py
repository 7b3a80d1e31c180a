"""Advantages, one record each.

A new one is a file here and a line in `registry.py`, or a file of your own that the recipe names. No module here
imports torch.
"""
