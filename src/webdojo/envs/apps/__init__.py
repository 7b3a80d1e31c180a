"""The environment `apps`: real web applications that others wrote, installed from package registries.

`application.py` says what an application is, `registry.py` lists them, and each has a folder: its packages, its world
from a seed, its tasks, and `inside.py`, which its own Python runs. An episode has a copy of the application's database
and a process of its own (`serving.py`), and is judged by what it changed in that database (`changes.py`, `verdict.py`).
"""
