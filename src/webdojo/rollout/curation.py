"""Which trajectories of a teacher are worth imitating, and which of their steps (OpenWebRL §4.2).

In this order: outcome, one trajectory a task, tasks a website, mix of difficulties, steps. All are pure functions: the
same trajectories, options and seed give the same choice.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from webdojo.config import Section
from webdojo.errors import ConfigError
from webdojo.store.run import TrajectoryRow
from webdojo.types import Termination, Trajectory

StepFilter = Literal["format_error", "no_op", "repeated_screen"]


class CurateConfig(Section):
    """How `webdojo curate` chooses what is imitated."""

    outcomes: Literal["success", "finished", "all"] = "success"
    """Trajectories that succeeded; that ended by themselves, successful or not (OpenWebVoyager §3.4); or all."""
    keep: Literal["shortest", "all"] = "shortest"
    """Of each task the trajectory of the fewest steps, among equals that of the fewest response tokens; or all."""
    per_website: int = Field(default=0, ge=0)
    """Tasks of one website at most, drawn by the seed; 0 is no limit."""
    mix: dict[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=0)]] = Field(default={})
    """Ratio of the tasks by difficulty, such as `{1: 1, 2: 3}`; one that is not named has none. As many tasks stay as
    the ratio allows. Empty takes them as they come."""
    max_tasks: int = Field(default=0, ge=0)
    """Tasks in all, drawn by the seed; 0 is no limit."""
    drop_steps: list[StepFilter] = Field(default=["format_error"])
    """Steps that stay in the history of later ones and are not imitated themselves: `format_error`, those that could
    not be parsed; `no_op`, those after which the screen was the same; `repeated_screen`, those on a screen that comes
    again later, because what they did was a detour."""


class Dropped(NamedTuple):
    """Why a trajectory or a step is not taken."""

    reason: str
    """By which it is counted."""
    why: str
    """What is special about this one."""


_Task = tuple[str, str]
"""A website and the id of a task there: other task sets may have the id, too."""


def choose(
    rows: Sequence[TrajectoryRow], config: CurateConfig, seed: int
) -> tuple[list[TrajectoryRow], dict[str, Dropped]]:
    """The trajectories that stay, in their order, and by the id of each of the others why it does not.

    Raises:
        ConfigError: `mix` names a difficulty of which no task is left.
    """
    dropped: dict[str, Dropped] = {}
    for row in rows:
        if (wrong := _outcome(row, config)) is not None:
            dropped[row.id] = wrong
    if config.keep == "shortest":
        shortest: dict[_Task, TrajectoryRow] = {}
        for row in _left(rows, dropped):
            best = shortest.get(_task(row))
            if best is None or (row.steps, row.response_tokens) < (best.steps, best.response_tokens):
                shortest[_task(row)] = row
        for row in _left(rows, dropped):
            if (best := shortest[_task(row)]).id != row.id:
                told = f"{row.steps} steps and {row.response_tokens} tokens, {best.id} has {best.steps} and "
                dropped[row.id] = Dropped("not the shortest of its task", f"{told}{best.response_tokens}")
    tasks = {_task(row): row for row in _left(rows, dropped)}
    gone: dict[_Task, Dropped] = {}
    if config.per_website:
        gone |= _over_the_cap(tasks, config.per_website, seed)
    if config.mix or config.max_tasks:
        gone |= _out_of_the_mix({id: row for id, row in tasks.items() if id not in gone}, config, seed)
    dropped |= {row.id: gone[_task(row)] for row in _left(rows, dropped) if _task(row) in gone}
    return _left(rows, dropped), dropped


def dropped_steps(trajectory: Trajectory, filters: Iterable[StepFilter]) -> dict[int, Dropped]:
    """By the place of each step that is not imitated, why it is not."""
    found: dict[int, Dropped] = {}
    screens = [turn.observation.screenshot.sha for turn in trajectory.turns]
    last = {sha: place for place, sha in enumerate(screens)}
    wanted = set(filters)
    for place, turn in enumerate(trajectory.turns):
        if "format_error" in wanted and turn.parsed.error is not None:
            found[place] = Dropped("format error", turn.parsed.error)
        elif "no_op" in wanted and turn.same_screen:
            found[place] = Dropped("no-op", "the screen was the same after it")
        elif "repeated_screen" in wanted and (again := last[screens[place]]) > place:
            found[place] = Dropped("repeated screen", f"step {again + 1} is on the same screen")
    return found


def _task(row: TrajectoryRow) -> _Task:
    return row.website, row.task_id


def _left(rows: Sequence[TrajectoryRow], dropped: Mapping[str, Dropped]) -> list[TrajectoryRow]:
    return [row for row in rows if row.id not in dropped]


def _outcome(row: TrajectoryRow, config: CurateConfig) -> Dropped | None:
    if not row.steps:
        return Dropped("without a step", row.termination)
    if config.outcomes == "success" and not row.success:
        return Dropped("not successful", f"{row.termination}, reward {row.reward:g}")
    if config.outcomes == "finished" and row.termination != Termination.COMPLETED:
        return Dropped("not finished", row.termination)
    return None


def _over_the_cap(tasks: Mapping[_Task, TrajectoryRow], most: int, seed: int) -> dict[_Task, Dropped]:
    """The tasks that their website has too many of."""
    by_website: defaultdict[str, list[_Task]] = defaultdict(list)
    for id, row in tasks.items():
        by_website[row.website].append(id)
    return {
        id: Dropped("over the cap of its website", f"{website} has {len(ids)} tasks, and {most} may stay")
        for website, ids in by_website.items()
        for id in _surplus(ids, most, f"{seed}/{website}")
    }


def _out_of_the_mix(tasks: Mapping[_Task, TrajectoryRow], config: CurateConfig, seed: int) -> dict[_Task, Dropped]:
    """The tasks that are too many for the ratio of the difficulties, or for `max_tasks`."""
    most = config.max_tasks or len(tasks)
    if not config.mix:
        return {
            id: Dropped("over the number of tasks", f"there are {len(tasks)}, and {most} may stay")
            for id in _surplus(list(tasks), most, f"{seed}/tasks")
        }
    there = Counter(row.difficulty for row in tasks.values())
    weights = {level: weight for level, weight in config.mix.items() if weight}
    if absent := [str(level) for level in sorted(weights) if not there[level]]:
        found = ", ".join(map(str, sorted(there))) or "none"
        raise ConfigError(
            f"curate.mix names difficulty {', '.join(absent)}, of which no task is left, so none could stay: "
            f"take it out of the mix; the difficulties that are left: {found}"
        )
    scale = min([most / max(sum(weights.values()), 1), *(there[level] / weight for level, weight in weights.items())])
    gone: dict[_Task, Dropped] = {}
    for level in sorted(there):
        ids = [id for id, row in tasks.items() if row.difficulty == level]
        may = int(scale * weights.get(level, 0) + 1e-9)
        for id in _surplus(ids, may, f"{seed}/difficulty {level}"):
            gone[id] = Dropped(
                "out of the mix of difficulties", f"{len(ids)} of difficulty {level}, and {may} may stay"
            )
    return gone


def _surplus(ids: Sequence[_Task], most: int, seed: str) -> list[_Task]:
    """What is left of these where `most` are drawn."""
    kept = set(random.Random(seed).sample(range(len(ids)), min(most, len(ids))))
    return [id for place, id in enumerate(ids) if place not in kept]
