"""Names of phases that several parts know, as the store has them."""

RL = "rl"
"""Online training."""
ACT = "act"
"""A single task of a user."""
