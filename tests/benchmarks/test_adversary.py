"""No wrong ending of a thousand sampled tasks is accepted, and every right one is."""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Script
from webdojo.sites.kinds import KINDS
from webdojo.sites.taskgen import make_tasks
from webdojo.sites.verdict import evaluate
from webdojo.types import Task


@pytest.fixture(scope="module")
def adversary(script: Script) -> ModuleType:
    return script("adversary")


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return make_tasks(list(KINDS), range(60), 1000, seed=9, difficulties=range(1, 10))


def test_the_right_ending_of_every_task_is_accepted_and_all_its_facts_hold(
    adversary: ModuleType, tasks: list[Task]
) -> None:
    for task in tasks:
        ending = adversary.right_ending(task)
        verdict = evaluate(task, adversary.right_answer(task), ending.url, ending.state)
        assert verdict.success, (task.id, verdict.reason)
        assert verdict.facts == (True,) * task.difficulty


def test_no_adversarial_answer_is_accepted_even_where_all_else_is_right(
    adversary: ModuleType, tasks: list[Task]
) -> None:
    tried = 0
    for number, task in enumerate(tasks):
        right = adversary.right_ending(task)
        if adversary.asks_for_answer(task):
            for answer in adversary.adversarial_answers(task, random.Random(number)):
                verdict = evaluate(task, answer, right.url, right.state)
                assert not verdict.success, (task.id, task.instruction, answer)
                assert not all(verdict.facts)
                tried += 1
    assert tried > 20_000


def test_no_wrong_ending_is_accepted_whatever_the_answer(adversary: ModuleType, tasks: list[Task]) -> None:
    for number, task in enumerate(tasks):
        rng = random.Random(number)
        tried = rng.sample(adversary.adversarial_answers(task, rng), 3)
        for ending in adversary.wrong_endings(task, rng):
            for answer in (adversary.right_answer(task), "done", *tried):
                assert not evaluate(task, answer, ending.url, ending.state).success, (task.id, answer, ending)
