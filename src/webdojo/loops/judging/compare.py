"""Judging a run's episodes again: how far judges agree with one another and with the rewards that were stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from webdojo.evaluation.agreement import Agreement, Confusion, agreement
from webdojo.loops.judging.audit import UNSCORABLE, Choice, can_score, outcome, run_recipe
from webdojo.loops.judging.verdicts import VerdictLog, described, judge_all, log_path, named_judge
from webdojo.store.run import RunStore
from webdojo.types import Reward

STORED = "stored"
"""What stands for the rewards of the run itself."""


async def rejudge(
    run: Path, names: list[str], overrides: list[str], choice: Choice, begin: Callable[[int], Callable[[], None]]
) -> dict[str, Any]:
    """Judge the episodes of a run again and compare all verdicts, as a JSON object.

    Of each pair the first takes the place of the truth, so its precision is the share of what the second accepts that
    the first accepts, too. An episode on which one of both is invalid counts as invalid. `begin` is as in `audit`.
    """
    with RunStore.open(run, readonly=True) as store:
        chosen = choice.ids(store)
        recipe = run_recipe(store)
        functions = {name: named_judge(name, overrides, recipe) for name in names}
        tasks = {id: store.trajectory(id).task for id in chosen}
        ids = [id for id in chosen if all(can_score(each, tasks[id]) for each in functions.values())]
        advance = begin(len(ids) * len(names))
        stored = {row.id: row for row in store.rows()}
        verdicts: dict[str, dict[str, bool | None]] = {
            STORED: {id: bool(stored[id].success) if stored[id].valid else None for id in ids}
        }
        said: dict[str, dict[str, Reward]] = {}
        for name, function in functions.items():
            log = VerdictLog(log_path(run, function))
            said[name] = await judge_all(function, store.images, map(store.trajectory, ids), log, advance)
            verdicts[name] = {id: outcome(reward) for id, reward in said[name].items()}
    return {
        "run": str(run),
        "phases": list(choice.phases),
        "left_out": {UNSCORABLE: len(chosen) - len(ids)} if len(ids) < len(chosen) else {},
        "judges": {name: described(function) for name, function in functions.items()},
        "rates": {
            name: {
                "episodes": len(each),
                "valid": sum(verdict is not None for verdict in each.values()),
                "accepted": sum(verdict is True for verdict in each.values()),
            }
            for name, each in verdicts.items()
        },
        "pairs": [
            {"first": first, "second": second, **agreed(verdicts[first], verdicts[second]).model_dump(mode="json")}
            for first, second in combinations(verdicts, 2)
        ],
        "verdicts": {
            name: {
                id: each.model_dump(mode="json", include={"value", "success", "valid", "reason"})
                for id, each in by.items()
            }
            for name, by in said.items()
        },
    }


def agreed(first: Mapping[str, bool | None], second: Mapping[str, bool | None]) -> Agreement:
    """How far two judges agree on the episodes of the first, by id; None is an invalid verdict."""
    pairs = [(first[id], second[id]) for id in first]
    both = [(bool(one), None if one is None else other) for one, other in pairs]
    return agreement(Confusion.of(both))
