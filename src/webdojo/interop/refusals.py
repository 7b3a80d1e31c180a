"""What clients may ask of a server of ours that speaks another project's protocol, and how they are told: in one line.

A refusal is a `WebdojoError`, whose line OpenEnv sends over a WebSocket as it is; over HTTP it has a status of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse

from webdojo.errors import PASSING, ConfigError, WebdojoError

CALL = '{"name": "click", "arguments": {"x": 500, "y": 300}}'
_RESET = {"seed": int, "episode_id": str, "task": str, "group": str}


def check_reset(given: Mapping[str, object]) -> None:
    """Raise a ConfigError where a reset is given what it does not take."""
    for name, value in given.items():
        if name not in _RESET:
            raise ConfigError(f"reset takes {', '.join(_RESET)}, not {name!r}")
        if value is not None and type(value) is not _RESET[name]:
            wanted = "a whole number" if _RESET[name] is int else "a text"
            raise ConfigError(f"{name} = {value!r} of reset must be {wanted}")


def check_action(given: Mapping[str, Any]) -> None:
    """Raise a ConfigError where an action is not one turn: calls, or the text of a response."""
    for name in given.keys() - {"calls", "text", "metadata"}:
        raise ConfigError(f"an action has calls or text, not {name!r}")
    calls, text = given.get("calls"), given.get("text")
    if (calls is None) == (text is None):
        wrong = "neither" if calls is None else "both"
        raise ConfigError(f'an action has calls or text, and this one has {wrong}: send {{"calls": [{CALL}]}}')
    if text is not None and not isinstance(text, str):
        raise ConfigError(f"text = {text!r:.80} of an action must be the text of a response")
    if calls is not None and not isinstance(calls, list):
        raise ConfigError(f"calls = {calls!r:.80} of an action must be a list: [{CALL}]")
    for number, call in enumerate(calls or [], 1):
        keys = set(call) if isinstance(call, Mapping) else set()
        arguments = call.get("arguments", {}) if isinstance(call, Mapping) else None
        if not {"name"} <= keys <= {"name", "arguments"} or not isinstance(arguments, Mapping):
            raise ConfigError(f"call {number} is {call!r:.80}, and must look like {CALL}")


def tell_refusals(app: Starlette) -> None:
    """Answer requests over HTTP that end with a WebdojoError by its line: 400 where the client has to change something,
    503 where another try may help."""

    async def tell(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, WebdojoError), "it is asked about no others"
        return JSONResponse({"detail": " ".join(error.lines)}, 503 if error.exit_code == PASSING else 400)

    app.add_exception_handler(WebdojoError, tell)
