"""A recipe in variants and seeds: what is run, what is not run again, and what comes out."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from webdojo.cli import app
from webdojo.errors import ConfigError, StoreError
from webdojo.loops.run_folder import DEMO, RL
from webdojo.loops.sweeps.plan import read_sweep, runs_of, shard, sweep_file, sweep_names, variants_of
from webdojo.loops.sweeps.results import results
from webdojo.loops.sweeps.warm_start import begin
from webdojo.store.run import DATABASE, RunStore

SMALLEST = "[sft.demos=0, train.iterations=0, evaluate.tasks=2, rollout.concurrency=2, 'env.difficulties=[1]']"
FILE = f"""
recipe: quickstart
overrides: {SMALLEST}
seeds: [3, 4]
grid:
  evaluate.max_steps: [1, 2]
variants:
  no feedback: [harness.keep_feedback=false, evaluate.max_steps=1]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ablation.yaml"
    path.write_text(FILE)
    return path


def test_a_grid_has_all_combinations_and_variants_have_their_names(tmp_path: Path) -> None:
    path = tmp_path / "grid.yaml"
    path.write_text("{recipe: quickstart, grid: {train.lr: [1.0e-4, 0.001], harness.keep_feedback: [true, false]}}")
    assert [each.name for each in variants_of(read_sweep(path))] == [
        "lr=0.0001, keep_feedback=true",
        "lr=0.0001, keep_feedback=false",
        "lr=0.001, keep_feedback=true",
        "lr=0.001, keep_feedback=false",
    ]
    path.write_text("{recipe: quickstart}")
    assert [each.name for each in variants_of(read_sweep(path))] == ["default"]


def test_a_seed_is_written_into_overrides_and_runs_of_a_seed_stand_together(file: Path, tmp_path: Path) -> None:
    file.write_text(FILE.replace("[sft.demos=0,", "['notes=warm-{seed}', sft.demos=0,"))
    with pytest.raises(ConfigError, match="notes"):
        read_sweep(file)
    file.write_text(FILE.replace("sft.demos=0,", "'model.path=tiny', 'name=run-{seed}',"))
    runs = runs_of(read_sweep(file), tmp_path)
    assert [(run.variant, run.seed) for run in runs] == [
        (variant, seed) for seed in (3, 4) for variant in ("max_steps=1", "max_steps=2", "no feedback")
    ]
    assert all(f"name=run-{run.seed}" in run.overrides and f"seed={run.seed}" in run.overrides for run in runs)
    assert len({run.folder for run in runs}) == 6
    assert sorted(map(str, (r.folder for i in "123" for r in shard(runs, f"{i}/3")))) == sorted(
        str(run.folder) for run in runs
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recipe: quickstart\nseed: [1]", "seed"),
        ("recipe: quickstar", "quickstart"),
        ("recipe: quickstart\nseeds: []", "seeds"),
        ("recipe: quickstart\ngrid: {train.learning_rate: [1]}", "learning_rate"),
        ("recipe: quickstart\ngrid: {train.lr: [0.1]}\nvariants: {lr=0.1: [train.lr=0.2]}", "folder of"),
        ("recipe: quickstart\nvariants: {a b: [], a/b: []}", "folder of 'a b'"),
        ("recipe: quickstart\nseeds: [1, 1]", "twice"),
        ("recipe: quickstart\nvariants: {warm_start: []}", "folder of 'warm_start'"),
        ("recipe: quickstart\nshared_warm_start: true\nvariants: {more: [sft.demos=9]}", "'more' changes sft"),
        (
            "recipe: quickstart\nshared_warm_start: true\nvariants: {a: [harness.keep_feedback=false]}",
            "changes harness",
        ),
        ("[", "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(text: str, message: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=message) as raised:
        read_sweep(file)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("which", ["0/2", "3/2", "1", "a/b"])
def test_a_share_that_is_none_is_refused(which: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="1/4"):
        shard(runs_of(read_sweep(file), tmp_path), which)


@pytest.mark.slow
def test_a_sweep_trains_what_is_left_and_compares_all(file: Path, tmp_path: Path) -> None:
    file.write_text(FILE[: FILE.index("variants:")].replace("[3, 4]", "[3]"))
    command, invoke = ["sweep", str(file), "--out", str(tmp_path / "out")], CliRunner().invoke
    planned = invoke(app, [*command, "--dry-run"])
    assert planned.exit_code == 0 and len(planned.stdout.splitlines()) == 2
    assert planned.stdout.startswith("webdojo train quickstart seed=3 sft.demos=0")
    ended = invoke(app, [*command, "--shard", "1/2"])
    assert ended.exit_code == 0, ended.output
    assert "1 of 2 runs are not finished" in ended.stdout
    runs = runs_of(read_sweep(file), tmp_path / "out")
    assert [run.finished for run in runs] == [True, False]
    first = (runs[0].folder / DATABASE).stat().st_mtime_ns
    ended = invoke(app, [*command, "--json"])
    assert ended.exit_code == 0, ended.output
    assert (runs[0].folder / DATABASE).stat().st_mtime_ns == first, "what is finished is not done again"
    found = results(runs)
    assert json.loads(ended.stdout) == [each.model_dump(mode="json") for each in found]
    assert [(each.variant, each.seeds, each.episodes) for each in found] == [
        (variant, [3], 2) for variant in ("max_steps=1", "max_steps=2")
    ]
    assert found[0].gain is None and found[1].gain == found[1].success - found[0].success
    file.write_text(file.read_text().replace("tasks=2", "tasks=3"))
    ended = invoke(app, command)
    assert isinstance(ended.exception, ConfigError) and "other settings" in str(ended.exception)
    assert "max_steps=2" in (tmp_path / "out" / "sweep.html").read_text()


SHARED = f"""
recipe: quickstart
shared_warm_start: true
overrides: {SMALLEST.replace("train.iterations=0, ", "")}
seeds: [3, 4]
variants:
  none: [train.iterations=0]
  one: [train.iterations=1, train.groups_per_iteration=1, train.dynamic_sampling=false]
"""


def test_the_variants_of_a_seed_go_on_from_its_warm_start_and_stay_in_one_share(file: Path, tmp_path: Path) -> None:
    file.write_text(SHARED)
    runs = runs_of(read_sweep(file), tmp_path)
    assert [(run.variant, run.seed) for run in runs] == [
        (variant, seed) for seed in (3, 4) for variant in ("warm_start", "none", "one")
    ]
    assert [run.starts_from for run in runs[:3]] == [None, runs[0].folder, runs[0].folder]
    assert "train.iterations=0" in runs[0].overrides
    assert shard(runs, "2/2") == runs[3:]


def test_a_run_does_not_begin_before_its_warm_start_is_finished(file: Path, tmp_path: Path) -> None:
    file.write_text(SHARED)
    sweep = read_sweep(file)
    with pytest.raises(StoreError, match=r"none, seed 3: its warm start in .* is not finished"):
        begin(sweep, runs_of(sweep, tmp_path)[1])


@pytest.mark.slow
def test_a_warm_start_is_made_once_and_its_variants_go_on_from_it(file: Path, tmp_path: Path) -> None:
    file.write_text(SHARED.replace("[3, 4]", "[3]").replace("sft.demos=0", "sft.demos=4"))
    ended = CliRunner().invoke(app, ["sweep", str(file), "--out", str(tmp_path / "out"), "--json"])
    assert ended.exit_code == 0, ended.output
    start, _, one = runs_of(read_sweep(file), tmp_path / "out")
    saved = [(run.folder / "checkpoints" / "sft" / "model.safetensors").read_bytes() for run in (start, one)]
    assert saved[0] == saved[1]
    with RunStore.open(one.folder, readonly=True) as store:
        assert len(store.metrics(RL)) == 1
        assert len(store.rows(DEMO)) == 4
    found = {each["variant"]: each for each in json.loads(ended.stdout)}
    assert found["none"]["success"] == found["warm_start"]["success"]
    assert found["none"]["gain"] is None and found["one"]["gain"] is not None


@pytest.mark.parametrize("name", sweep_names())
def test_a_sweep_of_the_package_has_recipes_that_load(name: str) -> None:
    sweep = read_sweep(sweep_file(name))
    assert len(sweep.seeds) == 3
    assert "default" in sweep.variants or sweep.variants[next(iter(sweep.variants))] == [], (
        "what others are compared with"
    )


def test_a_sweep_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match="no sweep is called 'algos': give one of algorithms, openwebrl-figure5"):
        sweep_file("algos")
