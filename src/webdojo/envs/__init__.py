"""Environments: where episodes happen, who serves the pages, which tasks there are, and perhaps a verdict of their own.

`env.py` says what an environment is; each other file is one, and `registry.py` lists them.
"""
