"""Where requests go and with which key, checked before the first one is sent.

Invariant: the key leaves this module only inside the Authorization header; `clean` takes it out of
whatever an endpoint sends back, so it reaches no message, log or file. Words such as `EMPTY`, which
servers without keys are given, are none and stay.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from webdojo.agent.toolcall import plain
from webdojo.browser_service.access import is_loopback
from webdojo.errors import ConfigError
from webdojo.policy.chat.config import ChatConfig

RESERVED_FIELDS = frozenset({"model", "messages", "tools", "stream", "n"})
"""Fields of a request that `engine.extra_body` may not set."""

SHORTEST_KEY = 12
"""Characters; what is shorter protects nothing, and may be a word of the answer."""


class Address:
    """The endpoint that a config names.

    Attributes:
        loopback: whether it is on this machine, where no proxy is needed.
        headers: those that authorise a request.

    Raises:
        ConfigError: `base_url` is no address, the key is not in the environment, or options contradict each other.
    """

    def __init__(self, config: ChatConfig) -> None:
        self.url = config.base_url.rstrip("/")
        self.loopback = is_loopback(_host(config.base_url))
        if not config.model:
            raise ConfigError(f"engine.model is empty: name a model of {config.base_url}")
        self._name = f"{self.url} ({config.model})"
        if config.budget_usd and not (config.price_input or config.price_output):
            raise ConfigError(
                f"engine.budget_usd is {config.budget_usd:g}, but without prices nothing costs anything: set "
                "engine.price_input and engine.price_output, in US dollars a million tokens"
            )
        if taken := sorted(RESERVED_FIELDS & set(config.extra_body)):
            raise ConfigError(f"engine.extra_body sets {taken[0]!r}, which is not its to set: leave it out")
        self._key = os.environ.get(config.api_key_env, "").strip() if config.api_key_env else ""
        if config.api_key_env and not self._key:
            raise ConfigError(
                f"engine.api_key_env names {config.api_key_env}, which is not in the environment: set it, or leave "
                "the option out for an endpoint that needs no key"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigError(f"the value of {config.api_key_env} is no key: it has characters that no header may have")
        self.headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def __str__(self) -> str:
        return self._name

    def say(self, what: object) -> str:
        """Return foreign text as a part of one line, without the key."""
        return plain(self.clean(str(what)), limit=300)

    def clean(self, value: Any) -> Any:
        """Return the same JSON value without the key in any of its strings."""
        if isinstance(value, str):
            return value.replace(self._key, "[key]") if len(self._key) >= SHORTEST_KEY else value
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, dict):
            return {self.clean(name): self.clean(item) for name, item in value.items()}
        return value


def _host(base_url: str) -> str:
    """Return the host of an endpoint's address; raise ConfigError if it is none, or has more than an address has."""
    try:
        parts = urlsplit(base_url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"engine.base_url is {base_url!r}: give the address of an API, such as http://127.0.0.1:8500/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "engine.base_url must be an address alone, without user, password, ? or #: keys belong into the "
            "environment, under the name that engine.api_key_env gives"
        )
    return parts.hostname or ""
