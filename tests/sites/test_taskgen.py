import json
import time
from collections import Counter
from itertools import product
from typing import Any

import pytest

from webdojo.errors import TaskError
from webdojo.sites import LAYOUTS, SMALL_KINDS
from webdojo.sites.catalog import found_fact
from webdojo.sites.instructions.phrasing import PHRASINGS
from webdojo.sites.kinds import KINDS
from webdojo.sites.site import check_layout
from webdojo.sites.taskgen import make_tasks
from webdojo.sites.verdict import evaluate


def test_tasks_are_balanced_distinct_and_fast_to_draw() -> None:
    begin = time.process_time()
    tasks = make_tasks(["shop", "wiki"], range(100), 4000, 0, layout="compact")
    assert time.process_time() - begin < 8
    assert set(Counter((task.kind, task.difficulty) for task in tasks).values()) == {500}
    assert len({task.id for task in tasks}) == 4000
    tasks += make_tasks(SMALL_KINDS, range(100), 1000, 0, layout="grid")
    assert {task.metadata["goal"] for task in tasks} == set(PHRASINGS)
    said = Counter((task.metadata["goal"], task.metadata["phrasing"]) for task in tasks)
    assert len(said) >= 5 * len(PHRASINGS)


def test_an_id_always_means_the_same_task() -> None:
    known: dict[str, Any] = {}
    for seed, layout in product(range(5), LAYOUTS):
        for task in make_tasks(list(KINDS), range(3), 1500, seed, layout=layout):
            assert known.setdefault(task.id, task) == task


def test_a_task_has_as_many_facts_as_its_difficulty_each_in_words_of_its_own() -> None:
    for task in make_tasks(["shop", "wiki"], range(50), 800, 1):
        facts = task.evaluator["facts"]
        assert len(facts) == task.difficulty
        assert task.metadata["rubric"] == [fact["says"] for fact in facts]
        assert len(set(task.metadata["rubric"])) == len(facts)
        assert json.loads(json.dumps(task.evaluator)) == task.evaluator


def test_a_task_is_run_in_the_layout_that_it_was_drawn_for() -> None:
    for drawn, shown in (("auto", "compact"), ("compact", "auto")):
        for task in make_tasks(["shop", "wiki", "mail"], range(3), 3, 0, layout=drawn):
            check_layout(task, drawn)
            if task.kind == "mail":
                check_layout(task, shown)
                continue
            with pytest.raises(TaskError, match=f"is about the '{drawn}' layout.*would show '{shown}'"):
                check_layout(task, shown)


def test_the_answer_must_be_seen_and_said() -> None:
    for task in make_tasks(["shop", "wiki"], range(50), 400, 1, [2, 3, 4], "compact"):
        facts = task.evaluator["facts"]
        if "answer" not in facts[-1]:
            continue
        seen = [each for fact in facts for each in fact.get("seen", ())]
        state = {task.website: {"state": {}, "seen": seen, "visited": []}}
        right = task.metadata["plan"][-1]["answer"]
        assert evaluate(task, right, task.start_url, state).success
        assert not evaluate(task, f"{right} or 17", task.start_url, state).success
        assert not evaluate(task, right, task.start_url, {}).success


def test_opening_a_page_does_not_pass_for_searching_for_it() -> None:
    tasks = make_tasks(["shop", "wiki"], range(50), 400, 1, [2], "compact")
    asked = [task for task in tasks if task.metadata["goal"] == "open_result"]
    assert {task.kind for task in asked} == {"shop", "wiki"}
    for task in asked:
        path = task.evaluator["facts"][-1]["url"]["path"]
        for seen, right in (([], False), ([found_fact(path.rpartition("/")[2])], True)):
            state: dict[str, Any] = {task.website: {"state": {}, "seen": seen, "visited": ["/", path]}}
            assert evaluate(task, "done", f"http://{task.website}{path}", state).success is right


@pytest.mark.parametrize(
    ("kinds", "seeds", "difficulties"),
    [(["mall"], [0], [1]), (["shop"], [], [1]), (["shop"], [0], [10]), ([], [0], [1]), (["shop"], [0], [])],
)
def test_asking_for_what_does_not_exist_is_an_error(
    kinds: list[str], seeds: list[int], difficulties: list[int]
) -> None:
    with pytest.raises(TaskError):
        make_tasks(kinds, seeds, 1, 0, difficulties)
