"""What a student learns from: verdicts of a judge on the episodes of runs, and the reasons for them in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webdojo.loops.judging.audit import UNSCORABLE, Choice, can_score
from webdojo.loops.judging.verdicts import VerdictLog, judge_all, log_path
from webdojo.reward.function import RewardFunction
from webdojo.reward.judges.verdict import before_last_line
from webdojo.store.run import RunStore
from webdojo.types import Reward, Task

INVALID = "without a valid verdict"


@dataclass(frozen=True)
class Label:
    """An episode with the verdict that is taken for the truth."""

    store: RunStore
    id: str
    name: str
    """Its id, with a number where several runs have that id."""
    task: Task
    verdict: Reward


async def labels(
    stores: Sequence[RunStore],
    judges: Sequence[RewardFunction],
    choice: Choice,
    left_out: Counter[str],
    begin: Callable[[int], Callable[[], None]],
) -> list[Label]:
    """The valid verdicts of each run's judge on its chosen episodes, in the order in which these are stored.

    What was judged before is not asked again (`judging/verdicts.py`). `left_out` counts the other episodes by the
    reason; `begin` is called with the number of episodes, and returns what is called after each verdict.
    """
    chosen = [choice.ids(store) for store in stores]
    advance = begin(sum(map(len, chosen)))
    times: Counter[str] = Counter()
    found: list[Label] = []
    for store, judge, ids in zip(stores, judges, chosen, strict=True):
        tasks = {id: store.trajectory(id).task for id in ids}
        scored = [id for id in ids if can_score(judge, tasks[id])]
        log = VerdictLog(log_path(store.path, judge))
        verdicts = await judge_all(judge, store.images, map(store.trajectory, scored), log, advance)
        for id in scored:
            times[id] += 1
            if verdicts[id].valid:
                name = id if times[id] == 1 else f"{id}.{times[id]}"
                found.append(Label(store, id, name, tasks[id], verdicts[id]))
        left_out[UNSCORABLE] += len(ids) - len(scored)
        left_out[INVALID] += sum(not verdict.valid for verdict in verdicts.values())
    return found


def rationale(reward: Reward) -> str:
    """Why a verdict is as it is: what a model said before its last line; else which facts hold and which do not, and
    what speaks against an episode all of whose facts hold; else the reason as it is."""
    if reward.judgements and (said := before_last_line(reward.judgements[-1].answer)):
        return said
    if not reward.facts or len(reward.facts) != len(reward.fact_names):
        return reward.reason
    sentences = [
        f"{name}." if holds else f"Not so: {name}." for name, holds in zip(reward.fact_names, reward.facts, strict=True)
    ]
    if all(reward.facts) and not reward.success:
        sentences.append(f"But {reward.reason}.")
    return " ".join(sentences)
