"""`webdojo serve` on a free port of this machine, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from socket import create_server
from typing import Self

import uvicorn

from webdojo.policy.serve.app import ChatService, create_app


class Served:
    """A context manager; `url` is what clients are given."""

    def __init__(self, service: ChatService, token: str = "") -> None:
        self._socket = create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self._server = uvicorn.Server(uvicorn.Config(create_app(service, token), lifespan="off", log_level="warning"))
        self._thread = threading.Thread(target=lambda: asyncio.run(self._server.serve([self._socket])), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._socket.close()
