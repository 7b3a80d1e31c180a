"""The socket that a server listens on, and whether it needs a token there."""

from __future__ import annotations

import socket

from webdojo.browser_service.access import is_loopback
from webdojo.errors import ConfigError


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one.

    Raises:
        ConfigError: the port is taken, or the host is not an address of this machine.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}; pick others with --host and --port"
        ) from None


def url_of(host: str, listening: socket.socket) -> str:
    """Return the URL of a server for clients on this machine."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def require_token(host: str, token: str, variable: str) -> None:
    """Raise ConfigError if other machines can reach the address and there is no token."""
    if not token and not is_loopback(host):
        raise ConfigError(
            f"--host {host} can be reached from other machines, and there is no token: "
            f"set {variable} in the environment, or leave --host out to serve this machine only"
        )
