"""The splits of the embedded web share no host, repeat for the same seed, and hold what they promise."""

import json
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from webdojo.cli import app
from webdojo.envs.registry import load_tasks
from webdojo.errors import TaskError
from webdojo.sites.instructions.phrasing import ASK, HELDOUT_TEMPLATES
from webdojo.sites.kinds import KINDS, parse_host
from webdojo.sites.taskgen import HELDOUT_KINDS, SPLITS, hardest
from webdojo.types import Task


def drawn(split: str, n: int = 300, **options: object) -> list[Task]:
    return list(islice(load_tasks(f"dojo:{split}", **options), n))


def test_no_host_is_in_two_splits() -> None:
    for one, split in SPLITS.items():
        for other, rest in SPLITS.items():
            if one != other:
                shared = set(split.seeds[:: len(split.seeds) - 1]) & set(rest.seeds)
                assert not shared, f"{one} and {other} share seeds"
    hosts = {name: {task.website for task in drawn(name)} for name in SPLITS if SPLITS[name].kinds}
    for one in hosts:
        for other in hosts:
            assert one == other or not hosts[one] & hosts[other]


def test_a_split_has_its_kinds_and_difficulties_only() -> None:
    for name, split in SPLITS.items():
        assert set(split.kinds).isdisjoint(HELDOUT_KINDS) or name == "test_kinds"
    tasks = drawn("train")
    assert {task.kind for task in tasks} == set(KINDS) - set(HELDOUT_KINDS)
    for kind in {task.kind for task in tasks}:
        assert {task.difficulty for task in tasks if task.kind == kind} <= set(range(1, hardest(kind, "auto") + 1))
    assert {task.difficulty for task in drawn("train", difficulties=[2, 3])} == {2, 3}
    assert {task.kind for task in drawn("test", kinds=["wiki"])} == {"wiki"}


def test_a_stream_repeats_for_its_seed_and_holds_no_task_twice() -> None:
    tasks = drawn("valid")
    assert tasks == drawn("valid")
    assert tasks != drawn("valid", seed=1)
    assert len({task.id for task in tasks}) == len(tasks)
    assert all(parse_host(task.website)[1] in SPLITS["valid"].seeds for task in tasks)


def test_held_out_phrasings_are_not_in_training() -> None:
    trained = {(task.kind, task.metadata["goal"], task.metadata["phrasing"]) for task in drawn("train", 600)}
    tested = {(task.kind, task.metadata["goal"], task.metadata["phrasing"]) for task in drawn("test_phrasings", 600)}
    assert tested and not trained & tested
    drawn_templates = {task.metadata["phrasing"] // 10 for task in drawn("test_phrasings", kinds=["travel"])}
    assert drawn_templates <= set(range(len(ASK) - HELDOUT_TEMPLATES, len(ASK)))


def test_the_layout_decides_which_shops_a_split_is_about() -> None:
    assert {task.metadata["layout"] for task in drawn("train", kinds=["shop"])} == {"auto"}
    assert not any("layout" in task.metadata for task in drawn("train", kinds=["shop"], layout="compact"))
    assert drawn("train", kinds=["mail"]) == drawn("train", kinds=["mail"], layout="compact")
    with pytest.raises(TaskError, match="unknown layout 'wide'; layouts are auto, compact"):
        load_tasks("dojo:train", layout="wide")


def test_wrong_splits_are_one_clear_line() -> None:
    for name, said in (
        ("dojo:tran", "did you mean 'train'"),
        ("dojo", "needs a split"),
        ("miniwob:train", "has no splits"),
    ):
        with pytest.raises(TaskError, match=said):
            load_tasks(name)
    with pytest.raises(TaskError, match="has no sites of kind 'mugs'"):
        load_tasks("dojo:train", kinds=["mugs"])
    with pytest.raises(TaskError, match=r"difficulties \[77\]"):
        load_tasks("dojo:train", difficulties=[77])


def test_the_command_writes_what_load_reads(tmp_path: Path) -> None:
    out = tmp_path / "new" / "tasks.jsonl"
    command = ["tasks", "make", str(out), "--split", "valid", "--n", "40", "--seed", "3", "--kind", "wiki"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert list(load_tasks("records", path=out)) == drawn("valid", 40, seed=3, kinds=["wiki"])
    assert [path.name for path in out.parent.iterdir()] == ["tasks.jsonl"]
    assert all(json.loads(line)["metadata"]["rubric"] for line in out.read_text().splitlines())
