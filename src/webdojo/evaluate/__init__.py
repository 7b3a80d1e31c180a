"""How good an agent is: success rates with intervals, over all tasks and over valid ones."""

from webdojo.evaluate.metrics import Rate, SuccessRate, success

__all__ = ["Rate", "SuccessRate", "success"]
