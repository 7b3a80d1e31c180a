"""How much of a prompt an engine has read before: the start that it shares with the exchange before it.

Prefix caching in engines and packing in training live on this share; what a harness drops or rewrites early in its
prompts costs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from webdojo.agent.chatml import Segment
from webdojo.types import ImageSegment, TextSegment, Turn


def shared_fraction(turns: Sequence[Turn]) -> float:
    """Of the tokens of all prompts but the first, the share that begins as the prompt and response before did.

    1 for an episode of fewer than two turns: there is nothing that would have to be read again.
    """
    read = sum(len(turn.prompt) for turn in turns[1:])
    shared = sum(
        shared_tokens((*before.prompt.segments, TextSegment(ids=tuple(before.response.ids))), after.prompt.segments)
        for before, after in pairwise(turns)
    )
    return shared / read if read else 1.0


def shared_tokens(first: Sequence[Segment], second: Sequence[Segment]) -> int:
    """Length of the longest common start of two sequences of segments, in tokens; equal images count as equal."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    whole = sum(segment.tokens if isinstance(segment, ImageSegment) else len(segment.ids) for segment in first[:same])
    rest = zip(_tokens(first[same:]), _tokens(second[same:]), strict=False)
    return whole + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))


def _tokens(segments: Iterable[Segment]) -> Iterator[int | tuple[str, int]]:
    for segment in segments:
        if isinstance(segment, ImageSegment):
            yield from ((segment.image.sha, index) for index in range(segment.tokens))
        else:
            yield from segment.ids
