"""Splits by web site: nothing is shared, a seed says everything, and a file is held against its set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdojo.errors import TaskError
from webdojo.tasks.site import site_of
from webdojo.tasks.split import Split, census, check, in_part, read_split, split, write_split
from webdojo.types import Task


def tasks(**per_site: int) -> list[Task]:
    return [
        Task(
            id=f"{name}-{n}",
            instruction=f"Find {n}",
            start_url=f"https://www{n}.{name}.com/",
            website=f"www{n}.{name}.com",
        )
        for name, count in per_site.items()
        for n in range(count)
    ]


HUNDRED = tasks(**{f"s{n}": n for n in range(1, 14)}, big=9)


@given(st.integers(0, 10**6), st.floats(0.05, 0.5), st.integers(1, 20), st.sampled_from(["task", "site"]))
def test_no_two_parts_share_a_site_and_nothing_is_lost(seed: int, share: float, number: int, by: Any) -> None:
    asked = {"test": share, "valid": number if by == "task" else 3}
    of = census(HUNDRED)
    made = split(of, asked, seed, by)
    sites = [site for part in made.parts.values() for site in part.sites]
    assert sorted(sites) == sorted({site_of(task.website) for task in HUNDRED})
    assert len(sites) == len(set(sites)) == 14
    in_parts = {name: list(in_part(HUNDRED, made, name)) for name in made.parts}
    assert sorted(task.id for each in in_parts.values() for task in each) == sorted(task.id for task in HUNDRED)
    assert {name: len(each) for name, each in in_parts.items()} == {n: p.tasks for n, p in made.parts.items()}
    for name, size in asked.items():
        most = round(size * (100 if by == "task" else 14)) if size < 1 else size
        assert (made.parts[name].tasks if by == "task" else len(made.parts[name].sites)) <= most


def test_what_is_held_out_is_as_much_as_was_asked_where_sites_allow_it() -> None:
    found = Counter(split(census(HUNDRED), {"test": 10}, seed).parts["test"].tasks for seed in range(50))
    assert found[10] >= 40, found


def test_a_seed_is_a_split_whatever_the_order_of_the_tasks() -> None:
    first = split(census(HUNDRED), {"test": 0.2}, 7)
    assert split(census(HUNDRED[::-1]), {"test": 0.2}, 7) == first
    assert split(census(HUNDRED), {"test": 0.2}, 8).parts != first.parts


def test_what_is_in_metadata_does_not_make_it_another_set() -> None:
    seen = [task.model_copy(update={"metadata": {"past_dated": ["2024-01-01"]}}) for task in HUNDRED]
    assert census(seen).sha256 == census(HUNDRED).sha256
    other = [HUNDRED[0].model_copy(update={"instruction": "Find"}), *HUNDRED[1:]]
    assert census(other).sha256 != census(HUNDRED).sha256


@pytest.mark.parametrize(
    ("held_out", "by", "says"),
    [
        ({"test": 3}, "task", r"no site fits into the part 'test' of 3 \(tasks\): the smallest of 2 has 4 tasks"),
        ({"test": 8}, "task", "nothing is left to train on: test take all 8 tasks"),
        ({"test": 0.1}, "site", r"no site fits into the part 'test' of 0.1 \(sites\): the smallest of 2 has 1 sites"),
        ({"a": 1, "b": 1, "c": 1}, "site", r"no site fits into the part 'c' of 1 \(sites\): none is left"),
    ],
)
def test_what_cannot_be_held_out_is_one_line(held_out: dict[str, float], by: Any, says: str) -> None:
    with pytest.raises(TaskError, match=says):
        split(census(tasks(a=4, b=4)), held_out, 0, by)


def test_a_file_is_read_back_and_fits_its_set(tmp_path: Path) -> None:
    made = split(census(HUNDRED), {"test": 0.2}, 3)
    write_split(made, tmp_path / "split.json")
    read = read_split(tmp_path / "split.json")
    assert (read.parts, read.seed, read.of.sha256) == (made.parts, 3, made.of.sha256)
    check(read, census(HUNDRED[::-1]), tmp_path / "split.json")
    said = json.loads((tmp_path / "split.json").read_text())
    assert said["schema_version"] == 1
    assert said["of"] == {"tasks": 100, "sha256": made.of.sha256}
    assert said["suffixes"].startswith("publicsuffixlist ")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ([*HUNDRED, *tasks(new=1)], "does not fit: new.com of the set in no part"),
        ([task for task in HUNDRED if ".s3." not in task.website], "does not fit: the set has no task on s3.com"),
        (HUNDRED[:-1], r"it is of 100 tasks with sha256 \w{12}…, and these 99 have"),
    ],
)
def test_another_set_does_not_fit(tmp_path: Path, changed: list[Task], says: str) -> None:
    with pytest.raises(TaskError, match=says) as caught:
        check(split(census(HUNDRED), {"test": 0.2}, 3), census(changed), tmp_path / "split.json")
    assert "\n" not in str(caught.value)


def moved(data: dict[str, Any]) -> None:
    data["parts"]["test"]["sites"].append(data["parts"]["train"]["sites"].pop())


def shared(data: dict[str, Any]) -> None:
    data["parts"]["test"]["sites"].append(data["parts"]["train"]["sites"][0])


def later(data: dict[str, Any]) -> None:
    data["schema_version"] = 2


def without_seed(data: dict[str, Any]) -> None:
    del data["seed"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (moved, r"train says \d+ tasks, and its sites have \d+"),
        (shared, "more than once: no two parts may share a site"),
        (later, "has schema_version 2, and webdojo .* reads 1: update webdojo"),
        (without_seed, "is no split: seed: field required"),
    ],
)
def test_a_file_that_was_changed_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    file = tmp_path / "split.json"
    write_split(split(census(HUNDRED), {"test": 0.2}, 3), file)
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    with pytest.raises(TaskError, match=says):
        check(read_split(file), census(HUNDRED), file)


@pytest.mark.parametrize(("text", "says"), [("{", "is no split"), ("[]", "is no split"), (None, "cannot be read")])
def test_what_is_no_split_is_one_line(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "split.json").write_text(text)
    with pytest.raises(TaskError, match=says):
        read_split(tmp_path / "split.json")


def test_a_part_that_there_is_not_and_a_site_in_none(tmp_path: Path) -> None:
    made: Split = split(census(HUNDRED), {"test": 0.2}, 3)
    with pytest.raises(TaskError, match="the split has no part 'tset'; it has train, test"):
        list(in_part(HUNDRED, made, "tset"))
    with pytest.raises(
        TaskError, match=r"the split is of another set: new\.com of task 'new-0' is in none of its parts"
    ):
        list(in_part(tasks(new=1), made, "test"))
