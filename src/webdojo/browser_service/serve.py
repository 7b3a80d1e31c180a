"""Runs a browser server until a signal stops it, and then lets open sessions finish.

SIGTERM or Ctrl-C begins a drain: the server takes no new sessions, `/health` answers 503, and calls on open sessions go
on. The process ends when the last session has ended, after `serve.drain_timeout_s`, or at a second signal.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from types import FrameType

import uvicorn

from webdojo.browser.config import BrowserConfig
from webdojo.browser_service.access import TOKEN_VARIABLE, is_loopback
from webdojo.browser_service.server import create_app
from webdojo.browser_service.service import SessionService
from webdojo.errors import ConfigError

KEEP_ALIVE_S = 75
"""Longer than clients keep idle connections, so that no request meets a connection that just closed."""

_STOP_TIMEOUT_S = 5


class DrainingServer(uvicorn.Server):
    """A uvicorn server whose first stop signal begins a drain."""

    def __init__(self, service: SessionService, token: str) -> None:
        super().__init__(
            uvicorn.Config(
                create_app(service, token),
                lifespan="off",
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=_STOP_TIMEOUT_S,
            )
        )
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._service.health.draining:
            self.should_exit = True
        else:
            self._service.drain()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._service.drained


async def serve(
    config: BrowserConfig,
    *,
    host: str,
    port: int,
    token: str,
    hosts: Mapping[str, str],
    on_listening: Callable[[str], None],
) -> None:
    """Serve sessions until a signal.

    Args:
        port: 0 takes a free one.
        token: the token that clients must send; it may be empty on loopback.
        hosts: see `BrowserPool`.
        on_listening: called with the URL of the server.

    Raises:
        ConfigError: there is no token for an address that others can reach, or it cannot be listened on.
        BrowserError: Chromium does not start.
    """
    if not token and not is_loopback(host):
        raise ConfigError(
            f"--host {host} can be reached from other machines, and there is no token: "
            f"set {TOKEN_VARIABLE} in the environment, or leave --host out to serve this machine only"
        )
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}; pick others with --host and --port"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    with listening:
        async with SessionService(config, hosts) as service:
            on_listening(f"http://{shown}:{listening.getsockname()[1]}")
            await DrainingServer(service, token).serve([listening])


def read_hosts(options: Sequence[str]) -> dict[str, str]:
    """Parse `PATTERN=ADDRESS` options into what `BrowserPool` takes.

    Raises:
        ConfigError: an option has another form.
    """
    hosts = {}
    for option in options:
        pattern, _, address = option.partition("=")
        if not pattern or not address or set(option) & set(", ;"):
            raise ConfigError(f"--hosts {option!r} must look like PATTERN=ADDRESS, e.g. *.localhost:80=10.0.0.5:4000")
        hosts[pattern] = address
    return hosts
