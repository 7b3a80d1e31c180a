"""The loop with and without overlap: how old what trains is, and what runs while the learner steps."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from tests.loops.conftest import SmallRecipe
from tests.loops.test_evaluations import World
from webdojo.loops.start import train
from webdojo.policy.hf.engine import HFEngine
from webdojo.store.learner_logprobs import read_learner_logprobs
from webdojo.store.run import RunStore

ROOT = Path(__file__).parents[2]


def documented_metrics() -> set[str]:
    """The names on the pages about metrics; `_b` after `a_x` is short for `a_b`."""
    names: set[str] = set()
    for page in ("metrics", "time"):
        family = ""
        for name in re.findall(r"`(\w+)`", (ROOT / "docs" / f"{page}.md").read_text()):
            names.add(family + name if name.startswith("_") else name)
            family = family if name.startswith("_") else name.partition("_")[0]
    return names


@pytest.mark.parametrize("staleness", [0, 2])
def test_staleness_decides_whether_rollouts_and_updates_overlap(
    tmp_path: Path, small_recipe: SmallRecipe, staleness: int
) -> None:
    recipe = small_recipe(f"rollout.max_staleness={staleness}", "train.iterations=4", "sft.demos=0")
    train(recipe, tmp_path / "run", resume=False)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        rows = store.metrics("rl")
        trained = [group for step in range(1, 5) for group in store.get(f"trained groups {step}")]
        episodes = {each.id: each for each in store.trajectories("rl")}
        versions = {id: {v for t in episodes.values() if t.group == id for v in t.versions} for id in trained}
        gaps: dict[int, float] = {}
        for step in range(1, 5):
            for id, episode in episodes.items():
                for number, turn in enumerate(episode.turns):
                    learner = read_learner_logprobs(store.path, step, id, number)
                    if learner is not None:
                        gap = learner - np.array(turn.response.logprobs)
                        own = np.array(turn.response.versions) == step - 1
                        assert np.array_equal(np.isfinite(gap), own), "those of other weights cannot be compared"
                        gaps[step] = max(gaps.get(step, 0.0), float(np.abs(gap[own]).max()))
    assert len(set(trained)) == 4
    for step, group in enumerate(trained):
        assert step - staleness <= min(versions[group]) <= max(versions[group]) <= step
    overlap = [row["staleness_max"] for row in rows]
    assert overlap == [0, 0, 0, 0] if staleness == 0 else max(overlap) > 0
    assert gaps == {row["step"]: pytest.approx(row["engine_gap_max"]) for row in rows if "engine_gap_max" in row}
    for row in rows:
        phases = row["seconds_wait"] + row["seconds_update"]
        assert phases <= row["seconds_total"]
        assert 0 <= row["slots_busy"] <= 1
        assert row.get("engine_gap_max", 0.0) < 1e-3, "tokens of older weights count as the engine's error"
        assert row["bubble_fraction"] == pytest.approx(1 - max(row["slots_busy"], row["learner_busy"]))
        assert not {re.sub(r"staleness_\d", "staleness_0", name) for name in row} - documented_metrics() - {"step"}


@pytest.mark.parametrize(
    ("every", "last"),
    [(0, ["sleep", "update_weights", "wake_up"]), (1, ["sleep", "wake_up", "update_weights"])],
    ids=["nothing is measured", "an evaluation must end first"],
)
def test_an_embedded_engine_on_the_cpu_sleeps_until_it_has_the_new_weights(
    tmp_path: Path, small_recipe: SmallRecipe, monkeypatch: pytest.MonkeyPatch, every: int, last: list[str]
) -> None:
    calls: list[str] = []

    def noting(name: str) -> Callable[..., Awaitable[None]]:
        plain = getattr(HFEngine, name)

        async def noted(*args: Any, **kwargs: Any) -> None:
            calls.append(name)
            await plain(*args, **kwargs)

        return noted

    for name in ("sleep", "wake_up", "update_weights"):
        monkeypatch.setattr(HFEngine, name, noting(name))
    recipe = small_recipe("model.device=cpu", "train.iterations=2", "sft.demos=0", f"evaluate.every={every}")
    train(recipe, tmp_path / "run", resume=False)
    assert calls == ["update_weights", "sleep", "update_weights", "wake_up", *last]


def test_staleness_is_that_of_the_turns_that_train(tmp_path: Path) -> None:
    world = World(tmp_path / "run")
    ended = itertools.count(1)
    world.dead = lambda task: next(ended) % 5 == 0
    trained = world.go("rollout.max_staleness=0", "train.replay_buffer_capacity=3")
    with RunStore.open(world.folder, readonly=True) as store:
        rows = store.metrics("rl")
    for version, (row, samples) in enumerate(zip(rows, trained, strict=True)):
        lags = [version - sampled_by for sample in samples for sampled_by in sample.versions]
        assert row["staleness_mean"] == pytest.approx(fmean(lags))
        assert row["staleness_max"] == max(lags)
        assert {lag: row.get(f"staleness_{lag}", 0) for lag in range(3)} == pytest.approx(
            {lag: lags.count(lag) / len(lags) for lag in range(3)}
        )
    assert max(row["staleness_max"] for row in rows) == 2, "nothing was replayed"


@pytest.mark.parametrize("size", [2, 1])
def test_fixed_batches_train_on_the_next_groups_whatever_their_rewards(tmp_path: Path, size: int) -> None:
    world = World(tmp_path / "run")
    fixed = [f"rollout.group_size={size}", "train.dynamic_sampling=false", "train.advantage=reinforce"]
    trained = world.go("rollout.max_staleness=0", "train.kl_coef=0", *fixed)
    with RunStore.open(world.folder, readonly=True) as store:
        groups = [store.get(f"trained groups {step}") for step in range(1, len(trained) + 1)]
        rewards = defaultdict[str, list[float]](list)
        for episode in store.trajectories("rl"):
            assert episode.reward is not None
            rewards[episode.group].append(episode.reward.value)
    numbers = [int(id.rpartition("-")[2]) for ids in groups for id in sorted(ids, key=lambda id: id.rpartition("-")[2])]
    assert sorted(numbers) == list(range(len(numbers))), "a group was left out"
    assert {tuple(set(rewards[id])) for ids in groups for id in ids} >= {(0,), (1,)}, "no group agrees"
    for samples, ids in zip(trained, groups, strict=True):
        assert len(samples) == 2 * sum(sum(rewards[id]) for id in ids), (
            "each turn of each success trains, and nothing else"
        )


def test_an_iteration_without_a_success_takes_no_step_where_only_those_teach(
    tmp_path: Path, small_recipe: SmallRecipe, caplog: pytest.LogCaptureFixture
) -> None:
    options = ["train.dynamic_sampling=false", "rollout.group_size=1", "train.policy_loss=bc", "train.kl_coef=0"]
    train(small_recipe(*options, "train.iterations=2", "sft.demos=0"), tmp_path / "run", resume=False)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert [row["optimizer_steps"] for row in store.metrics("rl")] == [0, 0]
        assert [row["version"] for row in store.metrics("rl")] == [1, 2]
    assert "iteration 1 takes no step: none of its turns teaches anything" in caplog.text


def test_slots_follow_the_browser_sessions_and_metrics_say_why_they_idle(
    tmp_path: Path, small_recipe: SmallRecipe
) -> None:
    few = ("browser.browsers=1", "browser.sessions_per_browser=2", "rollout.adaptive_concurrency=true")
    recipe = small_recipe(*few, "rollout.concurrency=24", "train.iterations=2", "sft.demos=0")
    train(recipe, tmp_path / "run", resume=False)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        rows, episodes = store.metrics("rl"), store.rows("rl")
    assert all(episode.valid for episode in episodes), "episodes waited for a session instead of a slot"
    assert sum(row["idle_browsers"] for row in rows) > 0
    for row in rows:
        idle = [row[f"idle_{reason}"] for reason in ("staleness", "sleep", "engine", "browsers", "memory")]
        assert row["slots_busy"] + sum(idle) == pytest.approx(1)
        assert 1 <= row["slots"] <= 24
        assert 1 <= row["slots_mean"] <= 24
        assert sum(row[f"slowest_{name}"] for name in ("engine", "browsers", "learner")) == 1
