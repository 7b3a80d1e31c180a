"""The sessions of `webdojo.browser` over HTTP: a server that offers them and a client that uses many servers.

`serve.serve` runs a server, `client.RemotePool` is the pool whose sessions live on servers, and `wire` says what
the two send each other. `access` and `listen` serve every server of this package's users.
"""
