"""What is kept of prompts, found for prompts that begin alike, and forgotten when there is no room."""

from __future__ import annotations

import torch

from webdojo.policy.prefixes import PrefixCache, digests
from webdojo.types import ImageRef, ImageSegment, Prompt, TextSegment


def prompt(*parts: str) -> list[tuple[str, int]]:
    """Lower-case parts are text of one token a letter, upper-case ones images of four tokens."""
    segments = (
        ImageSegment(image=ImageRef(sha=part, width=64, height=64), tokens=4)
        if part.isupper()
        else TextSegment(ids=tuple(map(ord, part)))
        for part in parts
    )
    return digests(Prompt(segments=tuple(segments)))


def computed(tokens: int, mark: float) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    return [torch.full((1, tokens, 2), mark)], [torch.full((1, tokens, 2), -mark)]


def test_the_longest_shared_beginning_is_found_and_the_last_segment_is_left_to_read() -> None:
    cache = PrefixCache()
    first = prompt("system", "task", "A", "go")
    assert cache.longest(first) is None
    cache.keep(first, *computed(16, 1.0))
    for other, length in (
        (first, 14),
        (prompt("system", "task", "A", "stop"), 14),
        (prompt("system", "task", "B", "go"), 10),
        (prompt("system", "other", "A", "go"), 6),
    ):
        found = cache.longest(other)
        assert found is not None and found.length == length
        assert found.keys[0][0, length - 1, 0] == 1.0 and found.values[0][0, length - 1, 0] == -1.0
    assert cache.longest(prompt("systemtask", "A", "go")) is None  # compared by segments
    assert cache.longest(prompt("system")) is None
    cache.clear()
    assert cache.longest(first) is None


def test_what_is_kept_is_a_copy() -> None:
    cache = PrefixCache()
    keys, values = computed(3, 1.0)
    cache.keep(prompt("ab", "c"), keys, values)
    keys[0].zero_()
    found = cache.longest(prompt("ab", "d"))
    assert found is not None and found.keys[0].eq(1.0).all()


def test_the_prompt_that_was_used_longest_ago_goes_first_and_takes_no_shared_beginning_along() -> None:
    a, b, c = prompt("s", "a", "x"), prompt("s", "b", "x"), prompt("s", "c", "x")
    cache = PrefixCache(max_bytes=2 * 2 * 3 * 2 * 4)  # two prompts of three tokens
    cache.keep(a, *computed(3, 1.0))
    cache.keep(b, *computed(3, 2.0))
    assert (found := cache.longest(a)) is not None and found.length == 2  # a is now the newer one
    cache.keep(c, *computed(3, 3.0))
    lengths = {
        name: found.length if (found := cache.longest(p)) else 0 for name, p in zip("abc", (a, b, c), strict=True)
    }
    assert lengths == {"a": 2, "b": 1, "c": 2}
