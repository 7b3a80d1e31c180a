"""Trackers: tools of others that show runs, beside TensorBoard. Each is a plug in a file of its own."""
