"""How good an agent is: success rates with intervals, over all tasks and over valid ones."""
