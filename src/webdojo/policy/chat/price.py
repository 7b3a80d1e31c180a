"""What a request may cost, before anybody has counted its tokens.

A byte-level tokenizer makes at most one token of a byte, whichever it is, so the bytes of a request
bound its tokens; images are bounded by what the config says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webdojo.errors import EngineError
from webdojo.policy.chat.config import ChatConfig

_BYTES_A_TOKEN = 4
"""Of English text."""


class Price:
    """Prices and bounds of one endpoint; a request is its JSON body."""

    def __init__(self, config: ChatConfig) -> None:
        self._config = config

    def usd(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars for so many tokens."""
        return (input_tokens * self._config.price_input + output_tokens * self._config.price_output) / 1e6

    def most_usd(self, body: Mapping[str, Any]) -> float:
        """The most that one try can cost.

        Raises:
            EngineError: there is a budget, and nothing bounds the answer.
        """
        output_tokens = body.get("max_completion_tokens") or body.get("max_tokens")
        if output_tokens is None:
            if self._config.budget_usd and self._config.price_output:
                raise EngineError(
                    "engine.extra_body takes max_tokens out of the request, so its cost has no bound and "
                    "engine.budget_usd cannot be kept: set max_completion_tokens in its place"
                )
            output_tokens = 0
        text_bytes, images = _size(body)
        return self.usd(text_bytes + images * self._config.image_tokens, int(output_tokens))

    def expected_tokens(self, body: Mapping[str, Any]) -> int:
        """About how many tokens go in, for limits a minute."""
        text_bytes, images = _size(body)
        return text_bytes // _BYTES_A_TOKEN + images * self._config.image_tokens


def _size(body: Mapping[str, Any]) -> tuple[int, int]:
    """UTF-8 bytes without the images, and how many images there are."""
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return len(json.dumps(body, ensure_ascii=False).encode(errors="replace")) - sum(map(len, images)), len(images)
