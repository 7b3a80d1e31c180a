"""Questions about an application as rows of WebArena."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import islice
from pathlib import Path

import pytest

from tests.envs.apps.notes import COLOURS
from tests.rollout.records import trajectory
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.registry import APPLICATIONS
from webdojo.envs.apps.webarena import rows
from webdojo.envs.web import WebArena
from webdojo.sites import HELDOUT_SEED
from webdojo.store.images import MemoryImages
from webdojo.types import Task

NOTES = "tests.envs.apps.notes:Notes"


def read_back(folder: Path, drawn: list[Task], name: str) -> list[Task]:
    """The questions among tasks, written for WebArena and read by its environment."""
    file = folder / "tasks.json"
    file.write_text(json.dumps(list(rows(drawn, defaultdict(lambda: "login.json")))))
    env = WebArena(path=str(file), sites={f"__{name.upper()}__": "http://127.0.0.1:8100"})
    return list(env.tasks("train", len(drawn), 0))


def answers(tasks: list[Task], drawn: list[Task]) -> list[str]:
    """What the oracle answers to each."""
    plans = {task.instruction: task.metadata["plan"] for task in drawn}
    return [plans[task.instruction][-1]["answer"] for task in tasks]


async def success(tasks: list[Task], answers: list[str]) -> list[bool]:
    """What the evaluators of WebArena say of answers."""
    found = []
    for task, answer in zip(tasks, answers, strict=True):
        episode = trajectory(task, 0)
        episode.reward, episode.answer = None, answer
        found.append((await WebArena().reward.score(episode, MemoryImages())).success)
    return found


async def test_webarena_reads_and_judges_the_questions_and_gets_no_task_that_changes_something(tmp_path: Path) -> None:
    drawn = list(Apps(applications=[NOTES]).of_world(3))
    assert {task.metadata["template"] for task in drawn} == {"read", "write"}
    tasks = read_back(tmp_path, drawn, "notes")
    assert len(tasks) == sum(task.metadata["template"] == "read" for task in drawn) > len(COLOURS)
    assert {task.start_url for task in tasks} == {"http://127.0.0.1:8100/"}
    assert all(await success(tasks, [f"It is {answer}." for answer in answers(tasks, drawn)]))
    assert not any(await success(tasks, ["It is beige3."] * len(tasks)))


@pytest.mark.parametrize("name", APPLICATIONS)
async def test_what_the_oracle_answers_is_right_and_the_answer_to_another_question_is_not(
    tmp_path: Path, name: str
) -> None:
    drawn = list(islice(Apps(applications=[name]).of_world(HELDOUT_SEED), 150))
    tasks = read_back(tmp_path, drawn, name)
    right = answers(tasks, drawn)
    assert len(tasks) >= 20
    assert all(await success(tasks, right))
    asked = [task.evaluator["reference_answers"]["must_include"] for task in tasks]
    others = next(
        pick for pick in (right[at:] + right[:at] for at in range(1, len(right)))
        if not any(all(each in answer for each in wanted) for wanted, answer in zip(asked, pick, strict=True))
    )  # fmt: skip
    assert not any(await success(tasks, others))
