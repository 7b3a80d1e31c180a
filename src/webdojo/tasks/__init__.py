"""Tasks as data; nothing here starts a server or a browser."""
