"""The server of `webdojo openenv serve`: OpenEnv's own application around our environments.

A session is a WebSocket connection. The server pings each, so that one whose other end is gone without a word ends
within a minute; one that is silent for longer than the idle limit loses its episode and its place.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.types import ConcurrencyConfig

from webdojo.errors import ConfigError
from webdojo.interop.host import EpisodeHost
from webdojo.interop.openenv.environment import WebdojoEnvironment
from webdojo.interop.openenv.models import WebdojoAction, WebdojoObservation, WebdojoState
from webdojo.interop.refusals import tell_refusals

PING_S = 20.0
"""How often a client is pinged, and how long its answer may take."""


class Server(uvicorn.Server):
    """A server of uvicorn that returns after a stop signal, instead of raising it again before the host has closed."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit  # a second signal does not wait for connections
        self.should_exit = True


def create_app(host: EpisodeHost, max_sessions: int, idle_timeout_s: float) -> FastAPI:
    """The application for a host that has started on the loop that runs now."""
    loop = asyncio.get_running_loop()

    def make() -> WebdojoEnvironment:
        return WebdojoEnvironment(host, loop)

    app = create_fastapi_app(
        make,
        WebdojoAction,
        WebdojoObservation,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=max_sessions, session_timeout=idle_timeout_s or None),
        env_name="webdojo",
        state_cls=WebdojoState,
    )
    tell_refusals(app)
    return app


async def serve(
    host: EpisodeHost,
    *,
    address: str,
    port: int,
    max_sessions: int,
    idle_timeout_s: float,
    on_listening: Callable[[str], None],
) -> None:
    """Serve a host that has not started until a signal, on a free port where `port` is 0; `on_listening` is told the
    URL.

    Raises:
        ConfigError: the port is taken, or the address is not this machine's.
    """
    try:
        listening = socket.create_server((address, port))
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {address} port {port}: {error.strerror}; pick others with --host and --port"
        ) from None
    with listening:
        async with host:
            config = uvicorn.Config(
                create_app(host, max_sessions, idle_timeout_s),
                log_level="warning",
                access_log=False,
                ws="websockets-sansio",
                ws_ping_interval=PING_S,
                ws_ping_timeout=PING_S,
                timeout_graceful_shutdown=5,
            )
            on_listening(f"http://{address}:{listening.getsockname()[1]}")
            await Server(config).serve([listening])
