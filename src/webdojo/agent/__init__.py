"""Harnesses: from a task and its history to a prompt, and from a response to tool calls."""
