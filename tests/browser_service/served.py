"""A browser service on a free port of this machine, in a thread of its own, or in a process."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from socket import create_server
from types import MappingProxyType
from typing import Self

from webdojo.browser.config import BrowserConfig
from webdojo.browser_service.server import DrainingServer
from webdojo.browser_service.service import SessionService
from webdojo.browser_service.wire import TOKEN_VARIABLE


class Served:
    """A context manager; `url` is where it listens."""

    def __init__(self, config: BrowserConfig, token: str = "", hosts: Mapping[str, str] = MappingProxyType({})) -> None:
        self._given = config, token, hosts
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.service: SessionService
        self.url = ""
        self._server: DrainingServer

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()

    async def _run(self) -> None:
        config, token, hosts = self._given
        with create_server(("127.0.0.1", 0)) as listening:
            self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            async with SessionService(config, hosts) as self.service:
                self._server = DrainingServer(self.service, token)
                self._ready.set()
                await self._server.serve([listening])


@contextmanager
def served_process(*options: str, token: str = "") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`webdojo browser serve` as a user starts it, and its URL; killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", "webdojo.cli", "browser", "serve", "--port", "0", *options],
        env=os.environ | {"PYTHONUNBUFFERED": "1", TOKEN_VARIABLE: token},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            address = re.match(r"(http://127\.0\.0\.1:\d+) ", process.stdout.readline())
            assert address is not None
            yield process, address[1]
        finally:
            process.kill()
