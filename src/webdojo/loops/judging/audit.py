"""What a judge is worth where the truth is known: on the embedded web by the rules, computed again from the final state
that every episode was stored with, elsewhere by labels that people gave.

Invariant: an episode whose truth is not known (a task of another web, an episode that the web or the system failed, one
without a label) is left out and counted, and never counts for or against the judge.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from webdojo.errors import StoreError, TaskError
from webdojo.evaluation.agreement import Confusion, agreement, paired_difference
from webdojo.loops.judging.verdicts import VerdictLog, described, judge_all, log_path, named_judge
from webdojo.loops.run_folder import RL
from webdojo.loops.runs import runs_in
from webdojo.recipe import Recipe, load_recipe
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.types import Reward, Task

ELSEWHERE = "of a task that rules cannot check"
INFRA = "that the web or the system failed"
UNSCORABLE = "of a task that the judge cannot score"
UNLABELLED = "without a label"


@dataclass
class Choice:
    """Which episodes of a run are judged."""

    phases: Sequence[str] = ()
    """All where empty."""
    limit: int = 0
    """At most so many, drawn by `seed`; 0 takes all."""
    seed: int = 0

    def ids(self, store: RunStore) -> list[str]:
        """The ids, in the order in which the episodes were stored.

        Raises:
            StoreError: the run has no such phase, or no episode.
        """
        there = store.count()
        if unknown := [phase for phase in self.phases if phase not in there]:
            raise StoreError(f"no phase {unknown[0]!r} in {store.path} (there: {', '.join(there) or 'none yet'})")
        ids = [row.id for row in store.rows() if not self.phases or row.phase in self.phases]
        if not ids:
            raise StoreError(f"there is no episode in {store.path} yet")
        if self.limit and self.limit < len(ids):
            drawn = set(random.Random(self.seed).sample(ids, self.limit))
            ids = [id for id in ids if id in drawn]
        return ids


@dataclass(frozen=True)
class Judged:
    """An episode with its truth and a verdict."""

    run: str
    harness: str
    row: TrajectoryRow
    truth: bool
    verdict: bool | None
    """None: invalid."""


BY: dict[str, Callable[[Judged], Any]] = {
    "kind": lambda each: each.row.kind,
    "difficulty": lambda each: each.row.difficulty,
    "harness": lambda each: each.harness,
    "termination": lambda each: each.row.termination,
}
"""What the figures are split by."""


async def audit(
    folder: Path,
    name: str,
    overrides: list[str],
    choice: Choice,
    begin: Callable[[int], Callable[[], None]],
    labels: Mapping[str, bool] | None = None,
) -> dict[str, Any]:
    """Audit a judge on a run, or on all runs of a folder, as a JSON object.

    `begin` is called with the number of episodes and returns what is called after each verdict. `labels` are the truth
    by episode; without them the rules tell it.
    """
    judged: list[Judged] = []
    invalid: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    with ExitStack() as stack:
        stores = [stack.enter_context(RunStore.open(path, readonly=True)) for path in runs_in(folder)]
        chosen = {store.path: choice.ids(store) for store in stores}
        functions = {store.path: named_judge(name, overrides, run_recipe(store)) for store in stores}
        advance = begin(sum(map(len, chosen.values())))
        for store in stores:
            function, ids = functions[store.path], chosen[store.path]
            if labels is None:
                found = await known_truths(store, ids, function, left_out)
                truths = {id: reward.success for id, reward in found.items()}
            else:
                truths = _labelled(store, ids, labels, function, left_out)
            for _ in range(len(ids) - len(truths)):
                advance()
            log = VerdictLog(log_path(store.path, function))
            verdicts = await judge_all(function, store.images, map(store.trajectory, truths), log, advance)
            invalid.update(each.reason for each in verdicts.values() if not each.valid)
            harness = harness_of(store)
            rows = {row.id: row for row in store.rows()}
            judged += [
                Judged(str(store.path), harness, rows[id], truth, outcome(verdicts[id])) for id, truth in truths.items()
            ]
    return {
        "judge": described(function),
        "runs": [str(store.path) for store in stores],
        "phases": list(choice.phases),
        "left_out": dict(left_out),
        "invalid": dict(invalid.most_common()),
        "overall": _figures(judged),
        "by": {
            title: {str(key): _figures(judged, key, of) for key in sorted({of(each) for each in judged})}
            for title, of in BY.items()
        },
        "gap": _gap(judged),
    }


def run_recipe(store: RunStore) -> Recipe:
    return load_recipe(str(store.path / "recipe.yaml"), migrate=True)


def harness_of(store: RunStore) -> str:
    """The name of the harness of the run, also where its recipe is of another version."""
    return (yaml.safe_load(store.recipe_yaml) or {}).get("harness", {}).get("name", "openwebrl")  # type: ignore[no-any-return]


async def known_truths(
    store: RunStore, ids: Iterable[str], judge: RewardFunction, left_out: Counter[str]
) -> dict[str, Reward]:
    """What the rules say about these episodes, by id; `left_out` counts those about which they, or the judge, say
    nothing."""
    scorer = Scorer(Rules(format_reward=False), store.images)
    truths: dict[str, Reward] = {}
    for trajectory in map(store.trajectory, ids):
        if "facts" not in trajectory.task.evaluator:
            left_out[ELSEWHERE] += 1
            continue
        if not can_score(judge, trajectory.task):
            left_out[UNSCORABLE] += 1
            continue
        trajectory.reward = None
        await scorer.score(trajectory)
        assert trajectory.reward is not None
        if trajectory.reward.valid:
            truths[trajectory.id] = trajectory.reward
        else:
            left_out[INFRA] += 1
    return truths


def _labelled(
    store: RunStore, ids: Iterable[str], labels: Mapping[str, bool], judge: RewardFunction, left_out: Counter[str]
) -> dict[str, bool]:
    """The labels of these episodes, by id."""
    truths: dict[str, bool] = {}
    for id in ids:
        if id not in labels:
            left_out[UNLABELLED] += 1
        elif not can_score(judge, store.trajectory(id).task):
            left_out[UNSCORABLE] += 1
        else:
            truths[id] = labels[id]
    return truths


def can_score(judge: RewardFunction, task: Task) -> bool:
    try:
        judge.check(task)
    except TaskError:
        return False
    return True


def outcome(reward: Reward) -> bool | None:
    """A verdict as figures take it: None where it is invalid."""
    return reward.success if reward.valid else None


def _figures(judged: Sequence[Judged], key: Any = None, of: Callable[[Judged], Any] = lambda each: None) -> Any:
    pairs = ((each.truth, each.verdict) for each in judged if of(each) == key)
    return agreement(Confusion.of(pairs)).model_dump(mode="json")


def _gap(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """The reward-hacking gap of each iteration of online training: the success by the judge less the true one."""
    iterations: defaultdict[tuple[str, int], list[Judged]] = defaultdict(list)
    for each in judged:
        if each.row.phase == RL:
            iterations[each.run, each.row.iteration].append(each)
    return [_gap_of(run, iteration, members) for (run, iteration), members in sorted(iterations.items())]


def _gap_of(run: str, iteration: int, members: Sequence[Judged]) -> dict[str, Any]:
    counts = Confusion.of((each.truth, each.verdict) for each in members)
    n = max(1, counts.n)
    return {
        "run": run,
        "iteration": iteration,
        "n": counts.n,
        "invalid": counts.invalid,
        "judged": (counts.tp + counts.fp) / n,
        "true": (counts.tp + counts.fn) / n,
        "gap": paired_difference(counts).model_dump(mode="json"),
    }
