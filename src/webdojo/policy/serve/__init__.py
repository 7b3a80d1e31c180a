"""`webdojo serve`: an engine behind OpenAI's chat completions, for clients that know no tokens.

`wire` is what clients send, `prompts` makes a prompt of it, `transcript` turns sampled ids into what
clients read, `app` ties them together. Nothing that a client sends makes the server fetch anything.
"""
