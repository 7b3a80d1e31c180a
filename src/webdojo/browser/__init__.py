"""The browser driver: isolated sessions in real Chromium, 13 tools, feedback in words.

Nothing here knows about tasks, models or rewards.
"""
