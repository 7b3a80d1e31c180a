"""Cycles of exploration, feedback and optimization: what a round does, what it counts, and that it can be stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.loops.conftest import SmallRecipe
from tests.trainer.records import prompt, response, trajectory, turn
from webdojo.cli import app
from webdojo.errors import ConfigError
from webdojo.loops.results.cycles import explored, measured
from webdojo.loops.start import train
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.types import Parsed, Task, Termination, ToolCall, Trajectory

CYCLES = [
    *("train.iterations=0", "cycles.rounds=2", "cycles.tasks=3", "cycles.max_attempts=2", "cycles.demos_below=1"),
    *("rollout.max_steps=4", "rollout.sampling.max_tokens=400"),  # the oracle needs so many
]


@pytest.fixture
def recipe(small_recipe: SmallRecipe) -> Recipe:
    """Two rounds of a random model, which solves nothing itself, so the oracle shows how."""
    return small_recipe(*CYCLES)


def contents(run: Path) -> dict[str, list[tuple[str, str, float | None]]]:
    """By phase, the tasks, ids and rewards of its episodes; those of evaluations have random ids."""
    with RunStore.open(run, readonly=True) as store:
        found: dict[str, list[tuple[str, str, float | None]]] = {}
        for row in store.rows():
            id = "" if row.phase.startswith("eval") else row.id
            found.setdefault(row.phase, []).append((row.task_id, id, row.reward))
        return {phase: sorted(rows) for phase, rows in found.items()}


def test_a_run_that_is_stopped_in_its_cycles_ends_as_one_that_is_not(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(recipe, tmp_path / "whole", resume=False)
    assert [each["round"] for each in whole["cycles"]] == [0, 1, 2]
    first = whole["cycles"][1]
    assert (first["exploration"]["tasks"], first["exploration"]["episodes"]) == (3, 6), "nobody succeeded at once"
    assert (first["demonstrations"], first["trained_on"]) == (5, 5), "2 of the warm start, 3 of unsolved tasks"
    assert first["model"].endswith("cycle-01") and whole["cycles"][2]["model"].endswith("cycle-02")
    assert whole["success_rl"]["rate"] == whole["cycles"][2]["heldout"]["success"]["rate"], "the last policy counts"

    from webdojo.loops import cycles as module

    fine_tune, calls = module._optimize, []

    async def stopped(*given: Any) -> str:
        calls.append(given[-1])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return await fine_tune(*given)

    monkeypatch.setattr(module, "_optimize", stopped)
    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path / "stopped", resume=False)
    monkeypatch.undo()
    again = train(recipe, tmp_path / "stopped", resume=True)
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    weights = [tmp_path / run / "checkpoints" / "cycle-02" / "model.safetensors" for run in ("whole", "stopped")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    figures = [[{**each, "model": ""} for each in result["cycles"]] for result in (whole, again)]
    assert figures[0] == figures[1]

    shown = CliRunner().invoke(app, ["runs", "show", str(tmp_path / "whole")]).output
    assert "S@2" in shown and "held-out tasks by round" in shown


@pytest.mark.slow
def test_all_rounds_train_on_what_all_before_have_found(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    result = train(small_recipe(*CYCLES, "cycles.mix=all"), tmp_path / "run", resume=False)
    assert [each["trained_on"] for each in result["cycles"]] == [0, 5, 8]


def test_a_teacher_that_an_environment_does_not_have_is_refused(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"id": "a", "instruction": "Look", "start_url": "http://127.0.0.1:9/"}\n')
    given = [
        "env=web",
        "reward={name: openwebrl, engine: hf}",
        f"tasks.path={tasks}",
        f"tasks.eval_path={tasks}",
        "sft.demos=0",
    ]
    recipe = load_recipe("quickstart", [*given, "cycles.rounds=1", "cycles.demos_below=0.4"])
    with pytest.raises(ConfigError, match=r"cycles.demos_below = 0.4: the environment 'web' has no oracle"):
        recipe.check(trains=True, demonstrates=True)


def episode(task: str, number: int, success: bool, steps: int, answer: str | None, calls: list[ToolCall]) -> Trajectory:
    made = trajectory([turn(prompt([1]), response([5], [-1.0])) for _ in range(steps)], float(success))
    made.turns[-1].parsed = Parsed(calls=calls)
    made.id, made.seed, made.answer = f"{task}-{number}", f"s/{task}/{number}", answer
    made.task = Task(id=task, instruction="Find it", start_url="http://site.example/", website=task)
    made.termination = Termination.COMPLETED if answer is not None else Termination.MAX_STEPS
    return made


def test_what_is_counted_of_attempts_and_of_held_out_episodes() -> None:
    home = [ToolCall(name="goto_url", arguments={"url": "http://site.example/"})]
    away = [ToolCall(name="goto_url", arguments={"url": "http://other.example/"})]
    made = [
        episode("a", 1, False, 4, "no", []),
        episode("a", 2, True, 2, "yes", home),
        episode("b", 1, False, 6, None, home),
        episode("b", 2, False, 3, "no", away),
        episode("c", 1, True, 5, "yes", away),
    ]
    tasks = [each.task for each in made if each.id[0] != "d"] + [episode("d", 1, False, 1, None, []).task]
    found = explored(tasks, made, attempts=3)
    assert (found.tasks, found.episodes, found.successes, found.turns) == (4, 5, 2, 7)
    assert found.finish_rate.successes == 2, "of the first attempts; d has no valid one"
    assert {k: rate.successes for k, rate in found.success_at_k.items()} == {1: 1, 2: 2, 3: 2}

    heldout = measured(made, load_recipe("quickstart"))
    assert heldout.steps_finished == pytest.approx((4 + 2 + 3 + 5) / 4)
    assert heldout.steps_successful == pytest.approx((2 + 5) / 2)
    assert (heldout.restarts, heldout.restarts_successful) == (2, 1)
