"""The server of the viewer."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from urllib.parse import quote

import uvicorn

from webdojo.browser_service.wire import is_loopback
from webdojo.errors import ConfigError
from webdojo.view.server.access import TOKEN_VARIABLE
from webdojo.view.server.app import create_app
from webdojo.view.server.runs import Runs

STOP_TIMEOUT_S = 2


class Server(uvicorn.Server):
    """A server of uvicorn that ends the streams of events when a signal ends it."""

    def __init__(self, config: uvicorn.Config, runs: Runs) -> None:
        super().__init__(config)
        self._runs = runs

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._runs.stopping.set()
        super().handle_exit(sig, frame)


def serve(folders: Sequence[Path], host: str, port: int, on_listening: Callable[[str], None]) -> None:
    """Serve runs until a signal, on a free port where `port` is 0; `on_listening` is told the address to open.

    Where other machines can reach the host, a token is part of that address: the one in the environment, or a new one.
    """
    runs = Runs(folders)
    token = "" if is_loopback(host) else os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(24)
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}; pick others with --host and --port"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    names = list(runs.paths())
    place = f"/runs/{quote(names[0])}" if len(names) == 1 else "/"
    config = uvicorn.Config(
        create_app(runs, token),
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_TIMEOUT_S,
    )
    with listening:
        url = f"http://{shown}:{listening.getsockname()[1]}{place}"
        on_listening(f"{url}?token={token}" if token else url)
        try:
            Server(config, runs).run([listening])
        finally:
            runs.close()
