"""From a finished trajectory to its reward."""
