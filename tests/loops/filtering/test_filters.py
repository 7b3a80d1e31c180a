"""Each filter of a task set: what it drops, and what it leaves."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.store.fabricate import trajectory
from webdojo.browser.network.blocklist import Blocklist
from webdojo.errors import TaskError
from webdojo.loops.filtering.filters import Benchmark, BenchmarkOverlap, Decomposed, Hosts, Lint, NearDuplicates
from webdojo.store.run import RunStore
from webdojo.types import Task, Termination


def task(id: str, instruction: str = "Look", website: str = "a.example", **fields: Any) -> Task:
    return Task(id=id, instruction=instruction, start_url=f"https://{website}", website=website, **fields)


def rubric(*groups: list[str]) -> dict[str, Any]:
    return {"evaluator_reference": [{"description": "", "facts": facts} for facts in groups]}


def test_what_lint_finds_goes(tmp_path: Path) -> None:
    tasks = [
        task("1", "Find a red mug"),
        task("2", "Buy a red mug now"),
        task("3", "Find a flight to Rome on May 3, 2024"),
        task("4", "Find a red mug"),
    ]
    found = Lint(today=date(2026, 1, 1)).dropped(tasks, tmp_path)
    assert {id: reason.partition(":")[0] for id, reason in found.items()} == {"2": "unsafe", "3": "past_dated"}
    assert set(Lint(rules=["duplicate"]).dropped(tasks, tmp_path)) == {"4"}
    with pytest.raises(ValueError, match="'dead' asks the site or a model"):
        Lint(rules=["dead"])


def test_parts_of_other_tasks_go(tmp_path: Path) -> None:
    tasks = [
        task("whole", evaluator=rubric(["a", "b"], ["c"])),
        task("part", evaluator=rubric(["B ", "a"])),
        task("same facts", evaluator=rubric(["a", "b", "c"])),
        task("one more", evaluator=rubric(["a", "d"])),
        task("elsewhere", website="b.example", evaluator=rubric(["a", "b"])),
        task("child", metadata={"parent": "whole"}),
        task("orphan", metadata={"parent": "gone"}),
        task("no rubric"),
        task("a reference answer", evaluator={"evaluator_reference": "12"}),
    ]
    assert Decomposed().dropped(tasks, tmp_path) == {
        "part": "a part of another: same facts",
        "child": "a part of another: whole",
    }


def test_sites_with_few_tasks_go(tmp_path: Path) -> None:
    tasks = [task("1"), task("2"), task("3", website="b.example")]
    assert Hosts(min_tasks=2).dropped(tasks, tmp_path) == {"3": "long tail: its site has 1 tasks"}
    assert Hosts().dropped(tasks, tmp_path) == {}


def test_sites_that_are_blocked_go(tmp_path: Path) -> None:
    file = tmp_path / "blocklist.sqlite"
    with closing(Blocklist(file, failures=1)) as blocklist:
        blocklist.failed("b.example", "HTTP 403 (access denied)")
    tasks = [task("1"), task("2", website="b.example")]
    assert Hosts(blocklist=str(file)).dropped(tasks, tmp_path) == {"2": "blocked: HTTP 403 (access denied)"}
    with pytest.raises(TaskError, match=r"blocklist 'none.sqlite' is not there"):
        Hosts(blocklist="none.sqlite").dropped(tasks, tmp_path)
    assert not Path("none.sqlite").exists()


def test_sites_that_failed_in_runs_go(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", "", {}) as store:
        for number in range(12):
            site = ("bad.example", "good.example", "new.example")[min(number // 5, 2)]
            failed = site == "bad.example" and number < 3
            told = {"id": str(number), "task": task("t", website=site)}
            told |= {"termination": Termination.START_ERROR} if failed else {}
            store.add_trajectory(trajectory(str(number), store.images).model_copy(update=told), "rl", 1)
    tasks = [task(site, website=site) for site in ("bad.example", "good.example", "new.example", "unknown.example")]
    hosts = Hosts(runs=[str(tmp_path / "run")])
    assert hosts.dropped(tasks, tmp_path) == {"bad.example": "unstable: 3 of 5 episodes failed at its site"}
    assert not hosts.model_copy(update={"max_failure_rate": 0.6}).dropped(tasks, tmp_path)


def test_tasks_of_a_benchmark_go(tmp_path: Path) -> None:
    row = {"task_id": "1", "confirmed_task": "Find a red mug under 10 dollars.", "website": "https://shop.example"}
    (tmp_path / "bench.json").write_text(json.dumps([row | {"reference_length": 3, "level": "easy"}]))
    tasks = [
        task("same", "find a red mug under 10 dollars"),
        task("other", "Find the news", website="shop.example"),
        task("free", "Find the news"),
    ]
    benchmarks = [Benchmark(source="online_mind2web", path=str(tmp_path / "bench.json"))]
    by_text = {"same": "text of a benchmark: online_mind2web:1 (1.00)"}
    assert BenchmarkOverlap(benchmarks=benchmarks).dropped(tasks, tmp_path) == by_text
    on_site = {"other": "site of a benchmark: shop.example (online_mind2web)"}
    assert BenchmarkOverlap(benchmarks=benchmarks, sites=True).dropped(tasks, tmp_path) == by_text | on_site


def test_tasks_that_mean_the_same_go(tmp_path: Path) -> None:
    tasks = [
        task("1", "Find a red mug"),
        task("2", "Read the news"),
        task("3", "find a red mug!"),
        task("4", "Find a mug"),
    ]
    found = NearDuplicates(embedding={"name": "ngrams"}, threshold=0.99).dropped(tasks, tmp_path)  # type: ignore[arg-type]
    assert found == {"3": "near-duplicate: 1 (1.000)"}
