"""The task files of the benchmarks on the open web: each as it is published, and whatever may be wrong with one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webdojo.errors import TaskError
from webdojo.reward.judges.deepshop import DeepShopJudge
from webdojo.reward.judges.rubric import Fact, facts_of, reference_of
from webdojo.tasks.sources import deepshop, online_mind2web, openwebvoyager, webgym, webvoyager
from webdojo.types import Task

DATA = Path(__file__).parents[4] / "shared" / "data"
has_data = pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside this checkout")

WEBVOYAGER = {"web_name": "Booking", "id": "Booking--5", "ques": "A hotel for Jan 4, 2024", "web": "https://b.example/"}
OPENWEBVOYAGER = {
    "domain": "Travel",
    "subdomain": "Airlines",
    "website": "ryanair",
    "id": "Mind2Web-test-ryanair--001",
    "ques": "Find a flight under $100",
    "web": "https://www.ryanair.example",
}
MIND2WEB = {
    "task_id": "ade4",
    "confirmed_task": "Compare plans.",
    "website": "https://www.flight.example/",
    "reference_length": 4,
    "level": "hard",
}
DEEPSHOP = {
    "web_name": "Amazon",
    "id": "Amazon--31",
    "ques": "Find a camera.",
    "web": "https://shop.example/?language=en",
    "attribute": "A compact one",
    "filter": "None",
    "sort": "Cheapest first",
    "category": "Electronics",
    "difficulty": "medium",
}
WEBGYM = {
    "task_id": 17,
    "task_name": "Find two recipes.",
    "domain": "Lifestyle",
    "subdomain": "Food",
    "website": "cook.example",
    "difficulty": 3,
    "evaluator_reference": [
        {"id": 1, "description": "Recipes", "facts": ["the first", "the second"]},
        {"id": 2, "description": "Time", "facts": ["under an hour"]},
    ],
    "definite_answer": "",
}
LOADERS: dict[str, tuple[Callable[[Path], Iterator[Task]], dict[str, Any]]] = {
    "webvoyager": (webvoyager.load, WEBVOYAGER),
    "openwebvoyager": (openwebvoyager.load, OPENWEBVOYAGER),
    "online_mind2web": (online_mind2web.load, MIND2WEB),
    "deepshop": (deepshop.load, DEEPSHOP),
    "webgym": (webgym.load, WEBGYM),
}


def loaded(name: str, tmp_path: Path, *rows: dict[str, Any]) -> list[Task]:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(LOADERS[name][0](file))


def test_a_webvoyager_row(tmp_path: Path) -> None:
    (task,) = loaded("webvoyager", tmp_path, WEBVOYAGER)
    assert task == Task(
        id="webvoyager:Booking--5",
        instruction="A hotel for Jan 4, 2024",
        start_url="https://b.example/",
        website="b.example",
        metadata={"web_name": "Booking", "past_dated": ["2024-01-04"], "plans_ahead": True},
    )


def test_an_openwebvoyager_row_of_mind2webs_sites(tmp_path: Path) -> None:
    (task,) = loaded("openwebvoyager", tmp_path, OPENWEBVOYAGER)
    assert task == Task(
        id="openwebvoyager:Mind2Web-test-ryanair--001",
        instruction="Find a flight under $100",
        start_url="https://www.ryanair.example",
        website="www.ryanair.example",
        metadata={"domain": "Travel", "subdomain": "Airlines", "website": "ryanair"},
    )


def test_an_openwebvoyager_row_of_webvoyagers_sites(tmp_path: Path) -> None:
    (task,) = loaded("openwebvoyager", tmp_path, WEBVOYAGER)
    assert (task.id, task.metadata["web_name"]) == ("openwebvoyager:Booking--5", "Booking")


def test_an_online_mind2web_row(tmp_path: Path) -> None:
    (task,) = loaded("online_mind2web", tmp_path, MIND2WEB)
    assert task == Task(
        id="online_mind2web:ade4",
        instruction="Compare plans.",
        start_url="https://www.flight.example/",
        website="www.flight.example",
        difficulty=3,
        metadata={"level": "hard", "reference_length": 4},
    )


def test_a_deepshop_row(tmp_path: Path) -> None:
    (task,) = loaded("deepshop", tmp_path, DEEPSHOP)
    assert task == Task(
        id="deepshop:Amazon--31",
        instruction="Find a camera.",
        start_url="https://shop.example/?language=en",
        website="shop.example",
        difficulty=2,
        evaluator={"attribute": "A compact one", "filter": "None", "sort": "Cheapest first"},
        metadata={"web_name": "Amazon", "category": "Electronics", "level": "medium"},
    )


def test_a_webgym_row(tmp_path: Path) -> None:
    (task,) = loaded("webgym", tmp_path, WEBGYM)
    assert (task.id, task.difficulty, task.start_url) == ("webgym:17", 3, "https://cook.example")
    assert task.metadata == {"domain": "Lifestyle", "subdomain": "Food"}
    assert facts_of(task) == [
        Fact("Recipes", "the first"),
        Fact("Recipes", "the second"),
        Fact("Time", "under an hour"),
    ]
    assert reference_of(task) == ""


@pytest.mark.parametrize(
    ("reference", "facts"),
    [
        ("Both are there.", ["Both are there."]),
        (["One.", "Two."], ["One.", "Two."]),
        (None, ["Find two recipes."]),
        ("", ["Find two recipes."]),
    ],
)
def test_other_forms_of_a_webgym_rubric(tmp_path: Path, reference: object, facts: list[str]) -> None:
    row = WEBGYM | {"evaluator_reference": reference, "definite_answer": "42"}
    (task,) = loaded("webgym", tmp_path, row)
    assert [fact.text for fact in facts_of(task)] == facts
    assert reference_of(task) == "42"


@pytest.mark.parametrize("name", LOADERS)
def test_columns_that_are_not_read_are_kept(tmp_path: Path, name: str) -> None:
    (task,) = loaded(name, tmp_path, LOADERS[name][1] | {"note": {"seen": [1]}})
    assert task.metadata["note"] == {"seen": [1]}


@pytest.mark.parametrize("name", LOADERS)
def test_ids_are_unique(tmp_path: Path, name: str) -> None:
    row = LOADERS[name][1]
    with pytest.raises(TaskError, match=r"task 2 of '.*rows\.jsonl': id '.*' stands there already"):
        loaded(name, tmp_path, row, row)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("webvoyager", {"ques": None}, "is no WebVoyager task: ques: input should be a valid string"),
        ("webvoyager", {"ques": ""}, "ques: string should have at least 1 character"),
        ("webvoyager", {"web": "ftp://b.example"}, "web: value error, 'ftp://b.example' is no address of a web site"),
        ("online_mind2web", {"website": "https://"}, "website: value error, 'https://' is no address of a web site"),
        ("online_mind2web", {"level": "Hard"}, "is no Online-Mind2Web task: level: input should be 'easy', 'medium'"),
        ("deepshop", {"sort": None}, "is no DeepShop task: sort: input should be a valid string"),
        ("webgym", {"difficulty": 0}, "is no WebGym task: difficulty: input should be greater than or equal to 1"),
        ("webgym", {"evaluator_reference": [{"facts": []}]}, "is no WebGym task: evaluator_reference"),
    ],
)
def test_what_is_wrong_with_a_row_is_one_line(tmp_path: Path, name: str, change: dict[str, Any], says: str) -> None:
    row = LOADERS[name][1]
    with pytest.raises(TaskError) as caught:
        loaded(name, tmp_path, row, row | change)
    assert "task 2 of " in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_of_another_benchmark_is_refused(tmp_path: Path, name: str) -> None:
    other = MIND2WEB if name != "online_mind2web" else WEBVOYAGER
    with pytest.raises(TaskError, match=r"task 1 of '.*' is no .* task: \w+: field required"):
        loaded(name, tmp_path, other)


# --- the real files ---------------------------------------------------------------------------


@has_data
@pytest.mark.parametrize(("file", "n"), [("WebVoyager_data.jsonl", 643), ("webvoyager_595.jsonl", 595)])
def test_webvoyagers_files(file: str, n: int) -> None:
    tasks = list(webvoyager.load(DATA / "webvoyager" / file))
    assert len(tasks) == n
    assert len({task.metadata["web_name"] for task in tasks}) == 15
    google = {task.metadata["web_name"] for task in tasks if task.website == "www.google.com"}
    assert google == {"Google Search", "Google Map", "Google Flights"}
    assert all(
        task.metadata["past_dated"] and "20" in task.instruction for task in tasks if "past_dated" in task.metadata
    )


@has_data
def test_so_many_texts_of_the_two_versions_differ_as_the_documentation_says() -> None:
    old, new = (
        {task.id: task.instruction for task in webvoyager.load(DATA / "webvoyager" / file)}
        for file in ("WebVoyager_data.jsonl", "webvoyager_595.jsonl")
    )
    assert new.keys() < old.keys()
    differ = sum(old[id] != new[id] for id in new)
    page = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text()
    assert f"{differ} of these tasks differ in their text" in page


@has_data
def test_online_mind2webs_file() -> None:
    tasks = list(online_mind2web.load(DATA / "online-mind2web" / "online_mind2web.json"))
    assert Counter(task.difficulty for task in tasks) == {1: 80, 2: 143, 3: 77}
    assert {task.metadata["level"] for task in tasks} == {"easy", "medium", "hard"}
    assert all(2 <= task.metadata["reference_length"] <= 24 for task in tasks)
    assert len({task.start_url for task in tasks}) == 147


@has_data
def test_deepshops_file() -> None:
    tasks = list(deepshop.load(DATA / "deepshop" / "deepshop.jsonl"))
    assert Counter(task.difficulty for task in tasks) == {1: 50, 2: 50, 3: 50}
    assert {task.website for task in tasks} == {"www.amazon.com"}
    original = DeepShopJudge(variant="original")
    for task in tasks:
        original.check(task)
    assert sum(part == "None" for task in tasks for part in task.evaluator.values()) == 78
