"""webdojo trains visual web agents by online reinforcement learning in real browsers.

Start at `webdojo.types` for the records and `docs/architecture.md` for the map.
"""

__version__ = "0.1.0"
