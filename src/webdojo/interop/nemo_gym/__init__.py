"""webdojo's environments as a resources server of NeMo-Gym."""
