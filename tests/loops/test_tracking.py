"""What trackers get of a run, and that a run does not notice what they do."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.loops.conftest import SmallRecipe
from webdojo.errors import Missing
from webdojo.loops.log import RunLog
from webdojo.loops.start import train
from webdojo.loops.tracking import trackers
from webdojo.loops.tracking.trackers import Trackers
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.trackers.tracker import Sample, TrackedRun, Tracker
from webdojo.view.report import write_report


class Notebook(Tracker):
    """Writes down every call, as lines of JSON beside the run folder, which it takes from `start`."""

    file: Path

    def note(self, *what: Any) -> None:
        with self.file.open("a") as file:
            file.write(f"{json.dumps(what)}\n")

    def start(self, run: TrackedRun) -> str:
        self.file = run.folder.with_suffix(".jsonl")
        self.note("start", run.project, run.name, run.id, run.recipe["name"], run.recipe["storage_path"])
        return run.id or "first"

    def log_metrics(self, phase: str, step: int, metrics: Mapping[str, float], time_s: float) -> None:
        self.note("metrics", phase, step, dict(metrics))

    def log_samples(self, phase: str, step: int, samples: Sequence[Sample]) -> None:
        self.note("samples", phase, step, [[*each.image.size, each.caption] for each in samples])

    def attach(self, file: Path) -> None:
        self.note("attach", file.name, file.is_file())

    def finish(self, failed: bool) -> None:
        self.note("finish", failed)


class Offline(Notebook):
    """Cannot be reached while there is a file `offline` beside the run."""

    def log_metrics(self, phase: str, step: int, metrics: Mapping[str, float], time_s: float) -> None:
        if self.file.with_name("offline").exists():
            raise ConnectionError("no network")
        super().log_metrics(phase, step, metrics, time_s)


class Refuses(Notebook):
    def start(self, run: TrackedRun) -> str:
        raise ValueError("no key")


class Hangs(Notebook):
    def log_metrics(self, phase: str, step: int, metrics: Mapping[str, float], time_s: float) -> None:
        time.sleep(600)


class Needs(Notebook):
    package = "no_such_tracker"


def calls(run: Path, kind: str = "") -> list[Any]:
    noted = [json.loads(line) for line in run.with_suffix(".jsonl").read_text().splitlines()]
    return [call for call in noted if kind in ("", call[0])]


def tracked(tracker: type[Tracker], *overrides: str) -> Recipe:
    return load_recipe("quickstart", [f"tracking.report_to={__name__}:{tracker.__name__}", *overrides])


def begin(run: Path, recipe: Recipe) -> None:
    RunStore.create(run, dump_recipe(recipe), {}).close()


def test_a_training_is_reported_from_its_start_to_its_report(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    recipe = small_recipe(f"tracking.report_to=[{__name__}:Notebook]", "tracking.project=mine", "evaluate.every=1")
    run = tmp_path / "run"
    result = train(recipe, run, resume=False, report=write_report)
    assert calls(run)[0] == ["start", "mine", "run", "", "quickstart", ""]
    with RunStore.open(run, readonly=True) as store:
        stored = {(phase, row.pop("step")): row for phase in ("sft", "rl", "eval_rl") for row in store.metrics(phase)}
    assert {(phase, step): each for _, phase, step, each in calls(run, "metrics") if phase != "result"} == stored
    (final,) = [each for _, phase, _, each in calls(run, "metrics") if phase == "result"]
    low, high = result["success_base"]["ci95"]
    assert (final["success_base_ci95_low"], final["success_base_ci95_high"]) == (low, high)
    shown = {(phase, step): samples for _, phase, step, samples in calls(run, "samples")}
    assert list(shown) == [("eval_base", 0), ("eval_sft", 0), ("eval_rl", 1)]
    for width, height, caption in shown[("eval_base", 0)]:
        assert (width % 320, height) == (0, 320)
        assert " | failure, reward -1 | " in caption or " | failure, reward 0 | " in caption
    assert calls(run)[-3:] == [["attach", "result.json", True], ["attach", "report.html", True], ["finish", False]]

    # It goes on as the same run, and gets only what is new.
    run.with_suffix(".jsonl").unlink()
    train(small_recipe(f"tracking.report_to=[{__name__}:Notebook]", "train.iterations=2"), run, resume=True)
    assert calls(run)[0] == ["start", "webdojo", "run", "first", "quickstart", ""]
    assert [(phase, step) for _, phase, step, _ in calls(run, "metrics")] == [("rl", 2), ("result", 0)]


def test_a_tracker_gets_later_what_an_outage_kept_from_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recipe, run = tracked(Offline), tmp_path / "run"
    begin(run, recipe)
    (tmp_path / "offline").touch()
    with RunStore.open(run) as store, Trackers(recipe, store) as feeds, RunLog(store, feeds) as log:
        log.write("rl", 1, {"reward": 0.5, "entropy": float("nan")})
        log.write("rl", 2, {"reward": 0.6})
    assert calls(run, "metrics") == []
    (warning,) = caplog.messages
    assert warning == (
        f"tracker {__name__}:Offline: ConnectionError: no network; the run goes on, "
        "and the tracker gets the rest later if it can"
    )
    (tmp_path / "offline").unlink()
    with RunStore.open(run) as store, Trackers(recipe, store) as feeds, RunLog(store, feeds) as log:
        log.write("sft", 1, {"loss": 3.0})
    assert calls(run, "metrics") == [
        ["metrics", "rl", 1, {"reward": 0.5}],
        ["metrics", "rl", 2, {"reward": 0.6}],
        ["metrics", "sft", 1, {"loss": 3.0}],
    ]


def test_a_tracker_that_cannot_start_is_told_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recipe, run = tracked(Refuses), tmp_path / "run"
    begin(run, recipe)
    with RunStore.open(run) as store, Trackers(recipe, store) as feeds, RunLog(store, feeds) as log:
        for step in range(3):
            log.write("rl", step, {"reward": 0.5})
    (warning,) = caplog.messages
    assert warning.startswith(f"tracker {__name__}:Refuses: it could not start (ValueError: no key); the run goes on")


def test_a_tracker_that_hangs_does_not_hold_a_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "FINISH_S", 0.5)
    recipe, run = tracked(Hangs), tmp_path / "run"
    begin(run, recipe)
    begun = time.monotonic()
    with RunStore.open(run) as store, Trackers(recipe, store) as feeds, RunLog(store, feeds) as log:
        for step in range(100):
            log.write("rl", step, {"reward": 0.5})
    assert time.monotonic() - begun < 30
    assert caplog.messages[-1].startswith(f"tracker {__name__}:Hangs: it does not come to an end")


def test_a_run_that_fails_says_so(tmp_path: Path) -> None:
    recipe, run = tracked(Notebook, "storage_path=memory://me:secret@host/runs"), tmp_path / "run"
    begin(run, recipe)
    with RunStore.open(run) as store, pytest.raises(KeyboardInterrupt), Trackers(recipe, store):
        raise KeyboardInterrupt
    assert calls(run) == [
        ["start", "webdojo", "run", "", "quickstart", "memory://***@host/runs"],
        ["finish", True],
    ]


def test_a_package_that_is_not_installed_is_told_before_a_run(tmp_path: Path) -> None:
    recipe = tracked(Needs)
    with pytest.raises(Missing, match=r"the package 'no_such_tracker', which is not installed: pip install 'webdojo\["):
        train(recipe, tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()
