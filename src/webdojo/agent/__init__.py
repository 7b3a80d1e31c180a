"""Harnesses make prompts from a task and its history, and tool calls from responses."""
