"""A local server: one ASGI app on a port of this machine, in a separate thread, on loopback by default."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import Self

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from webdojo.errors import SiteError

LOOPBACK = "127.0.0.1"
_EVERY = "0.0.0.0"


class LocalServer:
    """A context manager that serves an app.

    Args:
        app: what answers the requests.
        port: 0 takes a free one.
        host: an IPv4 address of this machine, or `0.0.0.0` for all of them.

    Raises:
        SiteError: the port is taken, or the address is not this machine's.
    """

    def __init__(self, app: ASGIApp, port: int = 0, host: str = LOOPBACK) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise SiteError(
                f"port {port} of {host} cannot be used for the sites ({error.strerror}); pick another"
            ) from None
        address, self.port = self._socket.getsockname()
        self.address = f"{LOOPBACK if address == _EVERY else address}:{self.port}"
        """Host and port at which this machine reaches the server."""
        config = uvicorn.Config(
            app, http="h11", log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True, name="sites")

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    async def hang_up(self, client: tuple[str, int]) -> None:
        """Close a client's connection without an answer."""
        for connection in list(self._server.server_state.connections):
            if isinstance(connection, H11Protocol) and connection.client == client:
                connection.transport.close()
        await asyncio.sleep(0.01)  # so that the answer which follows finds nobody

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
