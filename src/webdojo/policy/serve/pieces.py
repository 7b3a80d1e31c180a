"""A response in pieces, for clients that want to read along.

Engines answer in one go, so a stream is several requests, each of which goes on where the last one
ended; an engine that keeps the beginnings of prompts reads little twice. The pieces together are
distributed as one response; with a seed they are the same every time, but not those of the whole.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

from webdojo.types import Engine, FinishReason, Prompt, Response, Sampling, TextSegment

FIRST = 4
LONGEST = 32
"""Tokens a piece; each is twice as long as the one before."""


async def pieces(engine: Engine, prompt: Prompt, sampling: Sampling) -> AsyncIterator[tuple[Response, bool]]:
    """Each piece, and whether it is the last.

    Raises:
        EngineError: as `engine.generate`.
    """
    left, size = sampling.max_tokens, FIRST
    seeds = None if sampling.seed is None else random.Random(sampling.seed)
    while True:
        seed = None if seeds is None else seeds.getrandbits(31)
        piece = await engine.generate(prompt, sampling.model_copy(update={"max_tokens": min(size, left), "seed": seed}))
        left -= len(piece.ids)
        last = piece.finish_reason is FinishReason.STOP or left <= 0
        yield piece, last
        if last:
            return
        prompt = Prompt(segments=(*prompt.segments, TextSegment(ids=tuple(piece.ids))))
        size = min(2 * size, LONGEST)
