"""Rubrics in the forms of WebGym's task sets, and what is wrong with another one."""

from __future__ import annotations

import pytest

from tests.reward.judges.protocols import task_with
from webdojo.errors import TaskError
from webdojo.reward.judges import webgym
from webdojo.reward.judges.rubric import Fact, facts_of


@pytest.mark.parametrize(
    ("rubric", "facts"),
    [
        ("a mug", [Fact("", "a mug")]),
        (["a mug", "blue"], [Fact("", "a mug"), Fact("", "blue")]),
        (
            [{"id": 1, "description": "mug", "facts": ["a", "b"]}, {"id": 2, "description": "price", "facts": ["c"]}],
            [Fact("mug", "a"), Fact("mug", "b"), Fact("price", "c")],
        ),
        ([{"facts": ["a"]}, "b"], [Fact("", "a"), Fact("", "b")]),
        (None, [Fact("", "Do it")]),
        ("", [Fact("", "Do it")]),
        ([], [Fact("", "Do it")]),
    ],
)
def test_a_rubric_has_the_forms_of_webgyms_task_sets(rubric: object, facts: list[Fact]) -> None:
    assert facts_of(task_with({"evaluator_reference": rubric})) == facts
    assert facts_of(task_with({})) == [Fact("", "Do it")]


@pytest.mark.parametrize(
    "rubric", [7, {"facts": ["a"]}, [7], [{"facts": []}], [{"facts": "a"}], [{"facts": [1]}], [{"id": 1}], [" "], [{}]]
)
def test_a_rubric_of_another_form_is_one_line_before_the_task_runs(rubric: object) -> None:
    with pytest.raises(TaskError, match="task 't' has"):
        webgym.WebGymJudge().check(task_with({"evaluator_reference": rubric}))
