"""What a recipe costs, known before it runs: episodes, turns and tokens (`cost.py`) and memory (`memory.py`)."""
