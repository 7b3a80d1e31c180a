"""What is kept of prompts, found for prompts that begin alike, and forgotten when there is no room."""

from __future__ import annotations

import torch

from webdojo.policy.hf.kv_cache import Boundary, PrefixCache, after, boundaries
from webdojo.types import ImageRef, ImageSegment, Prompt, TextSegment

ROOM = 10**9
TOKEN = 2 * 1 * 2 * 4
"""Bytes of a token: keys and values of one layer, one head of two numbers."""


def prompt(*parts: str) -> list[Boundary]:
    """Lower-case parts are text of one token a letter, upper-case ones images of four tokens."""
    segments = (
        ImageSegment(image=ImageRef(sha=part, width=64, height=64, mime="image/jpeg"), tokens=4)
        if part.isupper()
        else TextSegment(ids=tuple(map(ord, part)))
        for part in parts
    )
    return boundaries(Prompt(segments=tuple(segments)))


def computed(tokens: int, mark: float) -> torch.Tensor:
    """What a model might make of so many tokens: token k has `mark + k`."""
    return (torch.arange(tokens) + mark)[:, None].expand(1, 2, 1, tokens, 2)


def found(cache: PrefixCache, asked: list[Boundary]) -> list[float]:
    """The known beginning of a prompt, a number a token; empty where nothing is known."""
    beginning = cache.longest(asked)
    row = torch.full((1, 2, 1, beginning.length + 3, 2), -1.0)
    beginning.write(row)
    assert row[..., beginning.length :, :].eq(-1).all(), "more was written than is known"
    return row[0, 1, 0, : beginning.length, 1].tolist()


def test_the_longest_shared_beginning_is_found() -> None:
    cache = PrefixCache(ROOM)
    first = prompt("system", "task", "A", "go")
    assert found(cache, first) == []
    cache.keep(first, computed(16, 100.0))
    for other, length in (
        (first, 15),  # the last token is left to read
        (prompt("system", "task", "A", "go", "on"), 16),
        (prompt("system", "task", "A", "stop"), 14),
        (prompt("system", "task", "B", "go"), 10),
        (prompt("system", "task", "A"), 13),
        (prompt("system", "other", "A", "go"), 6),
    ):
        assert found(cache, other) == [100.0 + k for k in range(length)]
    assert found(cache, prompt("systemtask", "A", "go")) == []  # compared by segments
    cache.clear()
    assert found(cache, first) == []


def test_what_is_kept_is_a_copy_and_what_is_shared_is_kept_once() -> None:
    cache = PrefixCache(ROOM)
    row = computed(9, 0.0).clone()
    cache.keep(prompt("system", "one"), row)
    row.zero_()
    cache.keep(prompt("system", "two"), computed(9, 50.0))
    assert found(cache, prompt("system", "one", "x")) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert found(cache, prompt("system", "two", "x")) == [0, 1, 2, 3, 4, 5, 56, 57, 58]
    assert cache._bytes == 12 * TOKEN


def test_a_response_is_known_but_for_the_token_that_was_sampled_last() -> None:
    cache = PrefixCache(ROOM)
    asked = prompt("ask")
    cache.keep(asked, computed(3, 0.0))
    answered = [*asked, after(asked[-1], tuple(map(ord, "hello")))]
    assert answered == prompt("ask", "hello")
    cache.keep(answered, computed(7, 0.0))
    assert found(cache, prompt("ask", "hello", "more")) == [0, 1, 2, 3, 4, 5, 6]
    cache.keep(prompt("ask", "hello", "more"), computed(12, 0.0))
    assert found(cache, prompt("ask", "hello", "more", "yet")) == [float(k) for k in range(12)]
    assert cache._bytes == 12 * TOKEN


def test_the_least_recently_used_goes_first_and_what_others_stand_on_goes_last() -> None:
    a, b, c = prompt("s", "aa", "x"), prompt("s", "bb", "x"), prompt("s", "cc", "x")
    cache = PrefixCache(max_bytes=7 * TOKEN)
    cache.keep(a, computed(4, 0.0))
    cache.keep(b, computed(4, 0.0))  # seven tokens in all: `s` is shared
    assert len(found(cache, a)) == 3  # a is now the newer one
    cache.keep(c, computed(4, 0.0))
    assert {name: len(found(cache, p)) for name, p in zip("abc", (a, b, c), strict=True)} == {"a": 3, "b": 1, "c": 3}
    assert cache._bytes <= 7 * TOKEN
    small = PrefixCache(max_bytes=TOKEN)
    small.keep(a, computed(4, 0.0))
    assert found(small, a) == [0.0]
