"""One ASGI app on a port of this machine, in a thread of its own: it answers from enter to exit, and only here."""

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


class LocalServer:
    """A context manager that serves an app on 127.0.0.1.

    Args:
        app: what answers the requests.
        port: 0 takes a free one.

    Raises:
        SiteError: the port is taken.
    """

    def __init__(self, app: ASGIApp, port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError as error:
            self._socket.close()
            raise SiteError(
                f"port {port} of 127.0.0.1 cannot be used for the sites ({error.strerror}); pick another"
            ) from None
        self.port: int = self._socket.getsockname()[1]
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
        await asyncio.sleep(0.01)  # the answer that follows then finds nobody

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
