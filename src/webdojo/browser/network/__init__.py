"""Which hosts a browser may reach and how often, and the proxy that enforces it."""
