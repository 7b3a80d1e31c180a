"""The storage of a run: trajectories and metrics in SQLite, screenshots by hash, checkpoints.

Invariant: what a call stores is on disk when the call returns, and a process that is killed at any
moment leaves a run folder that opens, with every committed record and no half-written file.
"""
