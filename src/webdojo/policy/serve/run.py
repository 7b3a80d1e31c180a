"""Runs the server until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable

import uvicorn

from webdojo.browser_service.listen import listen, require_token, url_of
from webdojo.policy.serve.app import TOKEN_VARIABLE, ChatService, create_app

_STOP_TIMEOUT_S = 5


async def serve(service: ChatService, *, host: str, port: int, token: str, on_listening: Callable[[str], None]) -> None:
    """Serve a model until a signal; requests in flight get a few seconds to end.

    Args:
        port: 0 takes a free one.
        token: what clients must send as their key; may be empty on loopback.
        on_listening: called with the address for clients, `/v1` included.

    Raises:
        ConfigError: the port is taken, or there is no token for an address that others can reach.
    """
    require_token(host, token, TOKEN_VARIABLE)
    with listen(host, port) as listening:
        config = uvicorn.Config(
            create_app(service, token),
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_STOP_TIMEOUT_S,
        )
        on_listening(f"{url_of(host, listening)}/v1")
        await uvicorn.Server(config).serve([listening])
