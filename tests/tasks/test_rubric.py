"""Rubrics: what is one, what a model's answer must have, and how one stands in a task."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webdojo.errors import TaskError
from webdojo.reward.judges.rubric import Fact, facts_of
from webdojo.reward.judges.verdict import record
from webdojo.tasks.rubric import MOST_GROUPS, RUBRIC, ProposedRubric, Rubric, rubric_of, with_rubric
from webdojo.types import Task

TASK = Task(id="t", instruction="Find a concert.", start_url="https://a.example/", website="a.example")
GROUPS = [
    {"id": 1, "description": "the list", "facts": ["all of them", "current ones", "coming ones"]},
    {"id": 2, "description": "each", "facts": ["its title", "its dates"]},
]


def answer(groups: Any = GROUPS, difficulty: Any = 5, **more: Any) -> str:
    return json.dumps({"fact_groups": groups, "difficulty": difficulty, **more})


def test_difficulty_is_the_number_of_all_facts() -> None:
    found = record(answer(), ProposedRubric)
    assert found is not None
    assert found.rubric.difficulty == 5
    assert found.rubric.facts == ["all of them", "current ones", "coming ones", "its title", "its dates"]


def changed(index: int, **fields: Any) -> list[dict[str, Any]]:
    return [group | fields if number == index else group for number, group in enumerate(GROUPS)]


WRONG = {
    "a fact lost": answer(difficulty=6),
    "a fact too many": answer(difficulty=4),
    "no difficulty": json.dumps({"fact_groups": GROUPS}),
    "difficulty as text": answer(difficulty="5"),
    "no group": answer([], 0),
    "a group without facts": answer(changed(1, facts=[]), 3),
    "an empty fact": answer(changed(1, facts=["its title", "  "])),
    "a fact that is no text": answer(changed(1, facts=["its title", 3])),
    "facts as one text": answer(changed(1, facts="its title"), 4),
    "a fact twice": answer(changed(1, facts=["its title", "ALL  of them"])),
    "an id twice": answer(changed(1, id=1)),
    "no id": answer([{"facts": ["one"]}], 1),
    "an id from 0": answer(changed(0, id=0)),
    "an id as text": answer(changed(0, id="1")),
    "too many groups": answer([{"id": n, "facts": [f"{n}"]} for n in range(1, MOST_GROUPS + 2)], MOST_GROUPS + 1),
    "a list": json.dumps(GROUPS),
    "no JSON": "The task has five facts.",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_with_another_schema_is_none(wrong: str) -> None:
    assert record(WRONG[wrong], ProposedRubric) is None


def test_as_many_groups_as_are_allowed_are_read() -> None:
    groups = [{"id": n, "facts": [f"{n}"]} for n in range(1, MOST_GROUPS + 1)]
    assert record(answer(groups, MOST_GROUPS), ProposedRubric) is not None


def test_a_rubric_in_a_task_is_what_its_judge_reads() -> None:
    task = with_rubric(TASK, Rubric.model_validate({"groups": GROUPS}))
    assert task.difficulty == 5
    assert task.evaluator == {RUBRIC: GROUPS}
    assert facts_of(task)[0] == Fact("the list", "all of them")
    assert len(facts_of(task)) == 5
    assert rubric_of(Task.model_validate_json(task.model_dump_json())) == Rubric.model_validate({"groups": GROUPS})


def test_what_else_an_evaluator_has_stays() -> None:
    task = TASK.model_copy(update={"evaluator": {"definite_answer": "12"}})
    assert with_rubric(task, Rubric.model_validate({"groups": GROUPS})).evaluator["definite_answer"] == "12"


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        ("one fact", [1]),
        (["one", "two"], [2]),
        ([{"facts": ["one"]}, {"facts": ["two", "three"]}], [1, 2]),
        ([{"id": "G7", "facts": ["one"]}], [1]),
    ],
)
def test_rubrics_of_files_are_read_in_every_form(given: Any, sizes: list[int]) -> None:
    rubric = rubric_of(TASK.model_copy(update={"evaluator": {RUBRIC: given}}))
    assert rubric is not None
    assert [len(group.facts) for group in rubric.groups] == sizes
    assert [group.id for group in rubric.groups] == list(range(1, len(sizes) + 1))


@pytest.mark.parametrize("given", [None, "", []])
def test_a_task_may_have_none(given: Any) -> None:
    assert rubric_of(TASK.model_copy(update={"evaluator": {RUBRIC: given}})) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (7, "task 't' has no rubric in evaluator_reference"),
        (["one", {"facts": ["two"]}], "0"),
        ([{"facts": []}], "0.facts: list should have at least 1 item"),
        (["one", "One"], "fact 'one' stands there twice"),
    ],
)
def test_what_is_no_rubric_is_said(given: Any, says: str) -> None:
    with pytest.raises(TaskError, match=says):
        rubric_of(TASK.model_copy(update={"evaluator": {RUBRIC: given}}))
