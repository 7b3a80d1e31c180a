"""Reading a judge's answer strictly: a verdict counts where the protocol asks for it, and nowhere else.

Every reader returns None for an answer that it cannot read. A verdict word inside of the reasoning, a quoted label or
"unsuccessful" is never taken for a verdict, nor is anything in thoughts that were cut off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")

SUCCESS = {"SUCCESS": True, "NOT SUCCESS": False}
STATUS = {"SUCCESS": True, "FAILURE": False}
YES_NO = {"YES": True, "NO": False}

_THOUGHTS = "<think>"
_THOUGHTS_END = "</think>"
_FENCE = "```"
_DECORATION = " \t\r*_`#>\"'.!"
"""What models put around a verdict that stands alone on its line."""


def said(text: str) -> str:
    """An answer without the thoughts before it; empty where it consists of thoughts that were cut off."""
    rest = text.rpartition(_THOUGHTS_END)[2]
    return "" if rest.lstrip().startswith(_THOUGHTS) else rest.strip()


def last_line(text: str) -> str:
    """The last line that says anything, without what decorates it; thoughts do not count."""
    lines = [line.strip(_DECORATION) for line in said(text).split("\n")]
    return next((line for line in reversed(lines) if line), "")


def before_last_line(text: str) -> str:
    """What an answer says before its last line, without thoughts."""
    body = said(text).rstrip(_DECORATION + "\n")
    return body.rpartition("\n")[0].strip()


def choice(text: str, choices: Mapping[str, T], label: str = "") -> T | None:
    """What the last line chooses: it must be one of the `choices` and nothing else, in capitals or not, after the
    `label` with a colon if there is one."""
    line = last_line(text)
    if label:
        head, _, line = line.partition(":")
        if head.strip(_DECORATION).lower() != label.lower():
            return None
    chosen = " ".join(line.strip(_DECORATION).split()).upper()
    return choices.get(chosen)


def record(text: str, form: type[R]) -> R | None:
    """The record that an answer consists of, as JSON."""
    found = json_object(text)
    try:
        return None if found is None else form.model_validate(found)
    except ValidationError:
        return None


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that an answer consists of, alone or in a code fence at its end; no key may stand twice."""
    for body in (text, said(text)):  # what looks like thoughts may be quoted in the object
        if body.rstrip().endswith(_FENCE):
            body = body.rstrip().removesuffix(_FENCE).rpartition(_FENCE)[2].removeprefix("json")
        try:
            value = json.loads(body, object_pairs_hook=_object, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
