"""What a conversation leaves out when the context is full.

One order for all harnesses: old images go first, then old pages (text views, which a placeholder
stands for), then the oldest turns, each of which becomes one line. The task, the tools and the last
observation always stay; where those alone are too long, the prompt is, and the episode ends with
`context_length`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from webdojo.types import Prompt


@dataclass(frozen=True)
class Kept:
    """How much of the past a prompt shows, counted from the newest."""

    images: int
    """The last observation's included."""
    pages: int
    """The last observation's included."""
    turns: int
    """Past exchanges in full; those before them are a line each."""


def fit(assemble: Callable[[Kept], Prompt], wanted: Kept, max_tokens: int) -> Prompt:
    """The prompt with as much of `wanted` as `max_tokens` hold, and with what was dropped from it."""
    kept = wanted
    prompt = assemble(kept)
    for name, least in (("images", 1), ("pages", 1), ("turns", 0)):
        while len(prompt) > max_tokens and getattr(kept, name) > least:
            kept = replace(kept, **{name: getattr(kept, name) - 1})
            prompt = assemble(kept)
    dropped = {
        "image": wanted.images - kept.images,
        "page": wanted.pages - kept.pages,
        "turn": wanted.turns - kept.turns,
    }
    return prompt.model_copy(update={"dropped": {kind: count for kind, count in dropped.items() if count}})
