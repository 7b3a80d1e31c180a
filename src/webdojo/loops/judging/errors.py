"""Why the failed episodes of a run failed, as a model says (OpenWebRL E), beside what rules say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from webdojo.errors import StoreError
from webdojo.loops.judging.audit import Choice, run_recipe
from webdojo.loops.judging.verdicts import ERRORS, VerdictLog, described, judge_all, log_path, named_judge
from webdojo.reward.judges.error_category import CATEGORIES, NAME, ErrorCategory
from webdojo.reward.judges.verdict import before_last_line
from webdojo.store.run import RunStore
from webdojo.types import Reward, Termination

ITSELF = "that the system failed or whose responses cannot be read"
SUCCEEDED = "that succeeded"


async def sort_errors(
    run: Path, overrides: list[str], choice: Choice, begin: Callable[[int], Callable[[], None]]
) -> dict[str, Any]:
    """Ask a model about the failed episodes of a run, as a JSON object.

    `begin` is called with the number of episodes and returns what is called after each answer.

    Raises:
        StoreError: no episode that the run holds has failed.
    """
    with RunStore.open(run, readonly=True) as store:
        path = f"{ErrorCategory.__module__}:{ErrorCategory.__name__}"
        function = named_judge(path, overrides, run_recipe(store)).model_copy(update={"name": NAME})
        rows = {row.id: row for row in store.rows()}
        left_out: Counter[str] = Counter()
        ids = []
        for id in choice.ids(store):
            row = rows[id]
            if row.success:
                left_out[SUCCEEDED] += 1
            elif row.termination == Termination.FORMAT_ERROR or Termination(row.termination).is_infra:
                left_out[ITSELF] += 1
            else:
                ids.append(id)
        if not ids:
            raise StoreError(f"no episode of {run} is left to ask about: " + ", ".join(_told(left_out)))
        log = VerdictLog(log_path(run, function, ERRORS))
        found = await judge_all(function, store.images, map(store.trajectory, ids), log, begin(len(ids)))
    counted = Counter(category_of(reward) for reward in found.values())
    return {
        "run": str(run),
        "judge": described(function),
        "phases": list(choice.phases),
        "left_out": dict(left_out),
        "episodes": len(ids),
        "invalid": counted[None],
        "categories": {category: counted[category] for category in CATEGORIES},
        "examples": {
            category: {"episode": id, "reason": before_last_line(reward.judgements[-1].answer)}
            for id in ids
            if (category := category_of(reward := found[id])) is not None
        },
    }


def category_of(reward: Reward) -> str | None:
    """The category that a model has named; None where its answer could not be read."""
    return next((category for category in CATEGORIES if category in reward.parts), None)


def _told(left_out: Counter[str]) -> list[str]:
    return [f"{number} {why}" for why, number in left_out.items()]
