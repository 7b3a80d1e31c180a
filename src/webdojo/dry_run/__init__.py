"""What a recipe will cost before it runs: episodes, turns and tokens (`cost.py`), memory (`memory.py`)."""
