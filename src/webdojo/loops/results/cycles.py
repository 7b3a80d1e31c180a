"""What cycles of exploration, feedback and optimization did: the figures of OpenWebVoyager's Tables 1 to 6."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from webdojo.evaluation.metrics import Rate, SuccessRate, run_order, share, success
from webdojo.loops.collection.imitated import succeeded
from webdojo.recipe import Recipe
from webdojo.types import Record, Task, Trajectory


class Exploration(Record):
    """What a policy found by itself (Table 3)."""

    tasks: int
    episodes: int
    successes: int
    """Episodes that succeeded."""
    turns: int
    """Of these together."""
    finish_rate: Rate
    """F@1: tasks whose first attempt ends with an answer."""
    success_at_k: dict[int, Rate]
    """S@K: tasks that succeed within K attempts."""

    def metrics(self) -> dict[str, float]:
        rates = {f"success_at_{k}": rate.rate for k, rate in self.success_at_k.items()}
        return {"episodes": self.episodes, "successes": self.successes, "finish_rate": self.finish_rate.rate} | rates


class Heldout(Record):
    """A policy on the held-out tasks."""

    success: SuccessRate
    """Table 1."""
    steps_finished: float | None
    """The mean number of turns of episodes with an answer (Table 4); None where there are none."""
    steps_successful: float | None
    """The same of those that succeeded."""
    restarts: int
    """R: episodes in which the agent began again at the first page (Table 5)."""
    restarts_successful: int
    """RS: those that succeeded."""

    def metrics(self) -> dict[str, float]:
        steps = {"steps_finished": self.steps_finished, "steps_successful": self.steps_successful}
        known = {name: value for name, value in steps.items() if value is not None}
        return {"success": self.success.rate, "restarts": self.restarts, **known}


class Cycle(Record):
    """One round; round 0 is the warm start alone."""

    round: int
    model: str
    heldout: Heldout
    exploration: Exploration | None = None
    demonstrations: int = 0
    """Trajectories of the teacher that it trained on."""
    trained_on: int = 0
    """All that it trained on."""


def explored(tasks: Sequence[Task], episodes: Sequence[Trajectory], attempts: int) -> Exploration:
    """Measure the attempts at tasks; a task whose attempts were all invalid counts as one that is not solved."""
    of_task: dict[str, list[Trajectory]] = {task.id: [] for task in tasks}
    for each in sorted(episodes, key=run_order):
        of_task[each.task.id].append(each)
    good, made = [each for each in episodes if succeeded(each)], list(of_task.values())
    return Exploration(
        tasks=len(of_task),
        episodes=len(episodes),
        successes=len(good),
        turns=sum(each.steps for each in good),
        finish_rate=share(sum(bool(tried) and tried[0].answer is not None for tried in made), len(made)),
        success_at_k={
            k: share(sum(any(map(succeeded, tried[:k])) for tried in made), len(made)) for k in range(1, attempts + 1)
        },
    )


def measured(episodes: Sequence[Trajectory], recipe: Recipe) -> Heldout:
    """Measure the episodes of a policy on the held-out tasks."""
    right = [each.reward is not None and each.reward.success for each in episodes]
    restart_url = getattr(recipe.harness, "restart_url", "")
    again = [restarts(each, restart_url) for each in episodes]
    return Heldout(
        success=success(episodes),
        steps_finished=_mean([each.steps for each in episodes if each.answer is not None]),
        steps_successful=_mean([each.steps for each, well in zip(episodes, right, strict=True) if well]),
        restarts=sum(again),
        restarts_successful=sum(a and b for a, b in zip(again, right, strict=True)),
    )


def restarts(trajectory: Trajectory, restart_url: str) -> bool:
    """Whether the agent opened the page to which `Restart` leads, or where that is empty the one on which it began."""
    first = restart_url or trajectory.task.start_url
    calls = (call for turn in trajectory.turns for call in turn.parsed.calls)
    return any(call.name == "goto_url" and call.arguments.get("url") == first for call in calls)


def _mean(values: Sequence[int]) -> float | None:
    return fmean(values) if values else None
