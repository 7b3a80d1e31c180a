"""Records of trajectories: each part of a prompt stands once, and what is read is what was stored."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trainer.records import BLANK, response, trajectory, turn
from webdojo.store.record import record_of, trajectory_of
from webdojo.types import ImageSegment, Prompt, TextSegment

segments = st.one_of(
    st.builds(TextSegment, ids=st.lists(st.integers(0, 3), max_size=3).map(tuple)),
    st.builds(ImageSegment, image=st.just(BLANK), tokens=st.integers(1, 2)),
)


@given(st.lists(st.lists(segments, max_size=6), max_size=5))
def test_what_is_read_is_what_was_stored(prompts: list[list[TextSegment | ImageSegment]]) -> None:
    turns = [turn(Prompt(segments=tuple(each), dropped={"image": 1}), response([5, 6])) for each in prompts]
    made = trajectory(turns, 1.0)
    record = record_of(made)
    assert trajectory_of(record) == made
    assert record_of(trajectory_of(record)) == record
    assert trajectory_of(made.model_dump_json().encode()) == made, "with its segments in its turns"


def episode(turns: int, screens: int = 1) -> bytes:
    """Of turns that show the last screens, each between two marks, and all texts."""
    mark, header = TextSegment(ids=(1,)), TextSegment(ids=(2,) * 8)
    said = [TextSegment(ids=tuple(range(number, number + 100))) for number in range(turns)]
    made = []
    for number in range(turns):
        parts: list[TextSegment | ImageSegment] = [TextSegment(ids=tuple(range(1000)))]
        for k in range(number + 1):
            screen = ImageSegment(image=BLANK, tokens=k + 1)
            shown: list[TextSegment | ImageSegment] = [mark, screen, mark] if k > number - screens else []
            parts += [*shown, header, said[k]]
        made.append(turn(Prompt(segments=tuple(parts[:-1])), response([number])))
    return record_of(trajectory(made, 1.0))


@pytest.mark.parametrize("screens", [1, 3])
def test_a_record_grows_as_its_turns_do(screens: int) -> None:
    small, large = len(episode(20, screens)), len(episode(80, screens))
    assert large < 4 * small
    prompts = json.loads(episode(40, screens))["prompts"]
    assert max(map(len, prompts)) <= 8


def test_segments_that_are_read_are_shared() -> None:
    read = trajectory_of(episode(10))
    first, last = (read.turns[number].prompt.segments[0] for number in (0, 9))
    assert first is last
