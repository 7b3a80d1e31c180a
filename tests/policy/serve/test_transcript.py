"""What clients read while ids come in, with a real tokenizer and text that is hard to cut."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdojo.policy.loading import model_folder
from webdojo.policy.processor import Processor
from webdojo.policy.serve.pieces import pieces
from webdojo.policy.serve.transcript import Transcript
from webdojo.types import FinishReason, Prompt, Response, Sampling, TextSegment

PROCESSOR = Processor.load(model_folder("tiny"))
TEXT = "Grüße! 你好, 🙂 said the café. STOP here"


def response(ids: list[int], reason: FinishReason = FinishReason.LENGTH) -> Response:
    return Response(ids=ids, logprobs=[-float(id) for id in ids], versions=[0] * len(ids), finish_reason=reason)


def read(
    ids: list[int], cuts: list[int], stop: tuple[str, ...] = ()
) -> tuple[list[str], list[dict[str, Any]], Transcript]:
    """News after each piece of the ids, the tokens, and the transcript."""
    transcript = Transcript(PROCESSOR, stop)
    bounds = [0, *sorted(cuts), len(ids)]
    news: list[str] = []
    tokens: list[dict[str, Any]] = []
    for begin, end in itertools.pairwise(bounds):
        transcript.add(response(ids[begin:end]), last=end == len(ids))
        news.append(transcript.news())
        tokens += transcript.token_news()
        if transcript.finish_reason:
            break
    return news, tokens, transcript


@given(st.text(max_size=40), st.lists(st.integers(0, 60), max_size=6))
def test_pieces_make_the_same_text_and_tokens_as_the_whole(text, cuts):
    ids = PROCESSOR.encode(text.encode(errors="replace").decode())
    cuts = [cut for cut in cuts if cut <= len(ids)]
    news, tokens, _ = read(ids, cuts)
    assert "".join(news) == PROCESSOR.decode(ids)
    assert [token["logprob"] for token in tokens] == [-float(id) for id in ids]


def test_no_half_character_is_told():
    ids = PROCESSOR.encode("a🙂b")
    assert len(ids) > 3, "the tokenizer knows this picture as one token"
    news, _, _ = read(ids, list(range(1, len(ids))))
    assert not any("\N{REPLACEMENT CHARACTER}" in piece for piece in news)
    assert "".join(news) == "a🙂b"


def test_a_text_that_ends_in_half_a_character_says_so():
    ids = PROCESSOR.encode("a🙂")[:2]
    news, tokens, _ = read(ids, [1])
    assert "".join(news).startswith("a")
    assert "".join(news).endswith("\N{REPLACEMENT CHARACTER}")
    assert len(tokens) == 2
    assert tokens[1]["bytes"] is None


@pytest.mark.parametrize("cuts", [[], list(range(1, 40))])
def test_nothing_of_a_stop_text_is_told_and_nothing_before_it_is_lost(cuts):
    ids = PROCESSOR.encode(TEXT)
    cuts = [cut for cut in cuts if cut < len(ids)]
    news, tokens, transcript = read(ids, cuts, stop=("nowhere", "STOP", "TOP h"))
    assert "".join(news) == TEXT[: TEXT.index("STOP")]
    assert transcript.finish_reason == "stop"
    assert PROCESSOR.decode(ids[: len(tokens)]).startswith("Grüße! 你好, 🙂 said the café.")
    assert "".join(news).startswith(PROCESSOR.decode(ids[: len(tokens)]))


def test_what_only_began_like_a_stop_text_is_told_in_the_end():
    ids = PROCESSOR.encode("wait, STO")
    news, _, transcript = read(ids, list(range(1, len(ids))), stop=("STOP",))
    assert "STO" not in "".join(news[:-1])
    assert "".join(news) == "wait, STO"
    assert transcript.finish_reason == "length"


def test_the_token_that_ends_the_turn_is_counted_and_not_told():
    transcript = Transcript(PROCESSOR, ())
    transcript.add(response([*PROCESSOR.encode("ok"), PROCESSOR.stop_id], FinishReason.STOP), last=True)
    assert transcript.news() == "ok"
    assert transcript.tokens == len(PROCESSOR.encode("ok")) + 1
    assert transcript.finish_reason == "stop"


class Counting:
    """Says 100, 101, … until 120 ends its turn; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, Sampling]] = []

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        self.asked.append((len(prompt), sampling))
        said = prompt.ids(0)[1:]
        ids = list(range(100 + len(said), min(100 + len(said) + sampling.max_tokens, 121)))
        return response(ids, FinishReason.STOP if ids[-1] == 120 else FinishReason.LENGTH)


async def collect(engine: Counting, sampling: Sampling) -> tuple[list[int], list[bool]]:
    got = [piece async for piece in pieces(engine, Prompt(segments=(TextSegment(ids=(1,)),)), sampling)]
    return [id for piece, _ in got for id in piece.ids], [last for _, last in got]


async def test_pieces_go_on_where_the_last_one_ended():
    engine = Counting()
    ids, lasts = await collect(engine, Sampling(max_tokens=500, temperature=0.3))
    assert ids == list(range(100, 121))
    assert lasts == [False] * (len(lasts) - 1) + [True]
    assert [size for size, _ in engine.asked] == [1, 5, 13]
    assert {sampling.temperature for _, sampling in engine.asked} == {0.3}


async def test_pieces_keep_the_limit():
    engine = Counting()
    ids, lasts = await collect(engine, Sampling(max_tokens=6))
    assert (len(ids), lasts) == (6, [False, True])


async def test_pieces_of_a_seed_have_seeds_of_their_own_every_time_the_same():
    seeds = []
    for _ in range(2):
        engine = Counting()
        await collect(engine, Sampling(max_tokens=50, seed=7))
        seeds.append([sampling.seed for _, sampling in engine.asked])
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == len(seeds[0])
