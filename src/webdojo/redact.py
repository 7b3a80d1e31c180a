"""Masking of secrets where people or other programs read what an agent did (`browser.redact`).

Secrets are what was typed into password fields, and the cookies and local storage that a session began with. Each is
masked as it is and in the forms in which pages, addresses and answers of models write it.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

MASK = "***"
SHORTEST_TYPED = 4
"""A shorter text that was typed is not looked for elsewhere, because it would be found in ordinary words."""
SHORTEST_STORED = 8
"""The same of cookies and local storage, where most short values are settings."""

_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")

T = TypeVar("T")


def stored_secrets(state: dict[str, Any] | None) -> set[str]:
    """The values of a storage state that may be secret; of a value that is itself JSON, also the texts in it."""
    state = state or {}
    values = [cookie["value"] for cookie in state.get("cookies", [])]
    values += [entry["value"] for origin in state.get("origins", []) for entry in origin.get("localStorage", [])]
    return {text for value in values for text in (value, *_texts(value)) if len(text) >= SHORTEST_STORED}


def redact(value: T, secrets: Iterable[str]) -> T:
    """A copy of a record, or of plain JSON, whose texts have `MASK` in place of each secret."""
    known = frozenset(secrets)
    return _redacted(value, _pattern(known)) if known else value


def without_logins(value: T) -> T:
    """The same, where addresses have `MASK` in place of a user and password: `https://***@host/`."""
    return _redacted(value, _LOGIN)


def _redacted(value: Any, pattern: re.Pattern[str]) -> Any:
    names: Iterable[str]
    if isinstance(value, str):
        return pattern.sub(MASK, value) if pattern.search(value) else value
    if isinstance(value, dict):
        return {_redacted(key, pattern): _redacted(item, pattern) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item, pattern) for item in value]
    if isinstance(value, BaseModel):
        names = type(value).model_fields
        return value.model_copy(update={name: _redacted(getattr(value, name), pattern) for name in names})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **{name: _redacted(getattr(value, name), pattern) for name in names})
    return value


@lru_cache(64)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str]:
    forms = {form for secret in secrets for form in _forms(secret)}
    return re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))


def _forms(secret: str) -> Iterator[str]:
    """A text as it is, in JSON, in addresses and in base64."""
    yield from (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret))
    data = secret.encode(errors="replace")
    yield from (base64.b64encode(data).decode().rstrip("="), base64.urlsafe_b64encode(data).decode().rstrip("="))


def _texts(value: str) -> Iterator[str]:
    """All texts in a value that is JSON."""
    try:
        left = [json.loads(value)]
    except ValueError:
        return
    while left:
        each = left.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict | list):
            left += each.values() if isinstance(each, dict) else each
