"""The sessions of `webdojo.browser` over HTTP: a server that offers them (`server`), the pool of sessions that live on
servers (`client`), and what the two send each other (`wire`)."""
