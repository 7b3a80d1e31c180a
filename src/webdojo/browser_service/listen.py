"""The address that a server of ours listens on, and the token that it needs there."""

from __future__ import annotations

import socket

from webdojo.browser_service.access import is_loopback
from webdojo.errors import ConfigError


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises:
        ConfigError: the port is taken, or the host is none of this machine's addresses.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}; pick others with --host and --port"
        ) from None


def url_of(host: str, listening: socket.socket) -> str:
    """Where clients of this machine find it."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def require_token(host: str, token: str, variable: str) -> None:
    """Raise ConfigError where others can reach the address and there is no token."""
    if not token and not is_loopback(host):
        raise ConfigError(
            f"--host {host} can be reached from other machines, and there is no token: "
            f"set {variable} in the environment, or leave --host out to serve this machine only"
        )
