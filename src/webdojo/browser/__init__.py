"""The browser driver: isolated sessions in real Chromium, 13 tools, feedback in words.

`pool.BrowserPool` opens sessions, `session.BrowserSession` observes and acts, and `tools` says which calls exist.
`page/` reads what a page holds besides its pixels; `network/` decides which hosts may be reached. Nothing here
knows about tasks, models or rewards.
"""
