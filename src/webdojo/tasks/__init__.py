"""Task sets as data: how their files are read. Nothing here starts a server or a browser (`envs/task_sets.py`)."""
