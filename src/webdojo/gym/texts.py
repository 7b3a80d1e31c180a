"""Strings of any script as a Gymnasium space: pages, titles and what agents type are not ASCII."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

_PRINTABLE_ASCII = "".join(chr(code) for code in range(32, 127))


class AnyText(spaces.Text):
    """Strings of up to `max_length` characters, whatever they are; samples are printable ASCII."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=_PRINTABLE_ASCII)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"

    def clip(self, text: str) -> str:
        """The text, cut to the longest that the space holds; `…` ends what was cut."""
        return text if len(text) <= self.max_length else text[: self.max_length - 1] + "…"
