"""Packing: the mask against a tree built by hand, and scores and gradients against separate samples."""

from __future__ import annotations

import random
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedModel

from benchmarks.padded import collate
from tests.policy.conftest import Images
from webdojo.policy.model.collate import Sequence_
from webdojo.policy.model.fast_layers import is_narrow
from webdojo.policy.model.forward import attend_in_rows, narrow_last_layer, text_layers, token_logprobs
from webdojo.policy.model.processor import Processor
from webdojo.trainer.packing import collate_micro_batch, cut, place, rounds
from webdojo.types import ImageRef, ImageSegment, Prompt, TextSegment

Loaded = tuple[PreTrainedModel, Processor]

paths_of_ids = st.lists(
    st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.lists(st.integers(0, 2), min_size=1, max_size=5)),
    min_size=1,
    max_size=9,
)


def sequence(prompt: list[int], response: list[int]) -> Sequence_:
    return Prompt(segments=(TextSegment(ids=tuple(prompt)),)), response


@given(paths_of_ids, st.integers(1, 40))
@settings(max_examples=200)
def test_micro_batches_hold_each_sample_once_and_each_token_sees_exactly_its_ancestors(
    given_paths: list[tuple[list[int], list[int]]], budget: int
) -> None:
    sequences = [sequence(*path) for path in given_paths]
    rows = cut(sequences, budget)
    assert sorted(member for row in rows for member in row.members) == list(range(len(sequences)))
    for row in rows:
        members = [given_paths[i] for i in row.members]
        placement = place(row, [len(p) for p, _ in members], [len(r) for _, r in members])
        tree = {tuple((p + r[:-1])[: depth + 1]) for p, r in members for depth in range(len(p) + len(r) - 1)}
        assert row.tokens == len(tree) == len(placement.ends)
        assert row.tokens <= budget or len(row.members) == 1 or len({tuple(p + r[:-1]) for p, r in members}) == 1
        placed: list[tuple[int, ...]] = []
        for (p, r), new in zip(members, placement.new, strict=True):
            placed += [tuple((p + r[:-1])[: depth + 1]) for depth in range(new.start, new.stop)]
        assert len(set(placed)) == len(placed)
        for q, j in product(range(row.tokens), repeat=2):
            sees = j <= q < placement.ends[j]
            assert sees == (placed[q][: len(placed[j])] == placed[j])
        for (p, r), predictors in zip(members, placement.predictors, strict=True):
            assert [placed[i] for i in predictors] == [tuple((p + r)[: len(p) + k]) for k in range(len(r))]


def test_a_micro_batch_computes_what_is_shared_once() -> None:
    spine = list(range(50))
    sequences = [sequence([*spine, 60 + i], [1, 2, 3]) for i in range(4)]
    (row,) = cut(sequences, 10_000)
    assert row.tokens == 50 + 4 * 3


def test_a_tree_is_cut_where_the_least_is_computed_twice() -> None:
    left, right = [1] * 30, [2] * 30
    sequences = [sequence([*side, 5 + i], [7]) for side in (left, right) for i in range(3)]
    random.Random(0).shuffle(sequences)
    rows = cut(sequences, 40)
    assert [row.tokens for row in rows] == [33, 33], "not in the middle of a side"


def test_samples_that_share_nothing_fill_micro_batches() -> None:
    sequences = [sequence([10 + i] * 9, [7]) for i in range(10)]
    assert [row.tokens for row in cut(sequences, 40)] == [36, 36, 18]


def test_rows_of_a_round_are_about_as_large() -> None:
    sequences = [sequence([100 + i] * (10 * (i + 1)), [7]) for i in range(6)]
    rows = cut(sequences, 60)
    dealt = [row for each in rounds(rows, 2) for row in each]
    assert sorted(id(row) for row in dealt if row.counts) == sorted(map(id, rows))
    sizes = [row.tokens for row in dealt]
    assert sizes == sorted(sizes, reverse=True)


def agent_turns(
    processor: Processor, images: Images, groups: int, turns: int, kept: int, same_first: bool, seed: int = 0
) -> list[Sequence_]:
    """Prompts as a harness makes them: a text spine with the last screenshots in it, and random responses."""
    rng = random.Random(seed)

    def text(words: str) -> TextSegment:
        return TextSegment(ids=tuple(processor.encode(words)))

    def shown(image: ImageRef) -> ImageSegment:
        return ImageSegment(image=image, tokens=processor.image_tokens(image.width, image.height))

    out: list[Sequence_] = []
    for member in range(groups):
        spine: list[TextSegment] = [text("<|im_start|>system\nYou are a web agent.<|im_end|>\nTask: find the red mug")]
        screens: list[ImageRef] = []
        for turn in range(turns):
            first = turn == 0 and same_first
            screens.append(images.random(0 if first else 100 * member + turn, 64, 96 if turn % 2 else 64))
            segments: list[TextSegment | ImageSegment] = []
            for index, piece in enumerate(spine):
                segments.append(piece)
                if index > turn - kept:
                    segments.append(shown(screens[index]))
            prompt = Prompt(segments=(*segments, text("<|im_end|>\n<|im_start|>assistant\n")))
            response = [*processor.encode(f"click {rng.randrange(3)}"), processor.stop_id]
            out.append((prompt, response))
            answer = text("<|im_end|>\n<|im_start|>assistant\n").ids + tuple(response) + text(f"\nok {turn}").ids
            spine.append(TextSegment(ids=answer))
    return out


CASES = [
    # groups, turns, screenshots kept, equal first screens, budget
    pytest.param(1, 1, 1, True, 10_000, id="one turn"),
    pytest.param(1, 5, 1, True, 10_000, id="one trajectory"),
    pytest.param(4, 4, 1, True, 10_000, id="a group"),
    pytest.param(8, 2, 1, True, 10_000, id="a group of eight"),
    pytest.param(3, 4, 1, False, 10_000, id="different first screens"),
    pytest.param(3, 5, 3, True, 10_000, id="three screenshots"),
    pytest.param(4, 4, 1, True, 150, id="cut rows"),
    pytest.param(3, 5, 2, True, 90, id="cut rows, two screenshots"),
]


@pytest.mark.parametrize("narrow", [False, True], ids=["whole last layer", "narrow last layer"])
@pytest.mark.parametrize("attention", ["dense", "tree"])
@pytest.mark.parametrize(("groups", "turns", "kept", "same_first", "budget"), CASES)
def test_packed_rows_give_the_scores_and_gradients_of_separate_samples(
    loaded: Loaded,
    images: Images,
    groups: int,
    turns: int,
    kept: int,
    same_first: bool,
    budget: int,
    attention: str,
    narrow: bool,
) -> None:
    model, processor = loaded
    sequences = agent_turns(processor, images, groups, turns, kept, same_first)
    weights = torch.linspace(-1.0, 1.0, sum(len(response) for _, response in sequences))
    by_sample = list(weights.split([len(response) for _, response in sequences]))

    separate: list[torch.Tensor] = []
    for one, weight in zip(sequences, by_sample, strict=True):
        scores = token_logprobs(model, collate([one], processor, images), 0.8)
        (weight * scores.logprobs).sum().backward()
        separate.append(scores.logprobs.detach())
    expected = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad(set_to_none=True)

    if attention == "tree":
        attend_in_rows(model)
    if narrow:
        narrow_last_layer(model)
    assert is_narrow(text_layers(model)[-1]) == narrow
    rows = cut(sequences, budget)
    assert budget < 10_000 or len(rows) == 1
    assert budget == 10_000 or len(rows) > 1
    for row in rows:
        members = [sequences[i] for i in row.members]
        batch = collate_micro_batch(row, members, processor, images)
        scores = token_logprobs(model, batch, 0.8)
        parts = batch.split(scores.logprobs)
        for i, part in zip(row.members, parts, strict=True):
            torch.testing.assert_close(part.detach(), separate[i], rtol=0, atol=1e-5)
        torch.stack([(by_sample[i] * part).sum() for i, part in zip(row.members, parts, strict=True)]).sum().backward()
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        scale = float(gradient.norm()) + 1e-8
        assert float((found[name] - gradient).norm()) / scale < 1e-4, name


def test_equal_screens_merge_and_others_do_not(loaded: Loaded, images: Images) -> None:
    _, processor = loaded
    one, other = images.random(1), images.random(2)
    head, tail = tuple(processor.encode("look at ")), tuple(processor.encode(" now"))

    def ask(image: ImageRef) -> Sequence_:
        segments = (TextSegment(ids=head), ImageSegment(image=image, tokens=4), TextSegment(ids=tail))
        return Prompt(segments=segments), [5]

    whole = len(head) + 4 + len(tail)
    (row,) = cut([ask(one), ask(one)], 1000)
    assert row.tokens == whole
    (row,) = cut([ask(one), ask(other)], 1000)
    assert row.tokens == whole + 4 + len(tail)
