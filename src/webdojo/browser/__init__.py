"""Real Chromium: one process, one isolated context a session, 13 tools, feedback in words.

`pool.BrowserPool` opens sessions, `session.BrowserSession` observes and acts, `tools` says which
calls exist. Nothing here knows about tasks, models or rewards.
"""
