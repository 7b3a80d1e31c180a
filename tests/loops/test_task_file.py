"""`webdojo train` on a file of tasks: five sites of this machine, a judge behind an endpoint, and more of the
site on which the agent never succeeds than where tasks are drawn alike.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import console_script
from tests.loops.one_site import OneSite
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.loops.resume import outcomes_key
from webdojo.loops.run_folder import RL
from webdojo.sites.taskgen import make_tasks
from webdojo.store.run import RunStore

pytestmark = pytest.mark.slow

SITES: dict[str, Sequence[int]] = {"shop": [1_000_065, 1_000_066], "wiki": [1_000_071, 1_000_072, 1_000_073]}
ROWS = 200
SHARE = 1 / 5
"""Of the rows, those of each site."""
ITERATIONS = 6
GROUPS = 12
"""Of an iteration, whatever their rewards, so that both samplers are asked for as many."""
SMALL = [
    *("sft.demos=0", f"train.iterations={ITERATIONS}", f"train.groups_per_iteration={GROUPS}", "evaluate.tasks=10"),
    *("train.dynamic_sampling=false", "train.kl_coef=0", "train.ppo_epochs=1"),
    *("rollout.group_size=4", "rollout.concurrency=8", "rollout.max_steps=3", "evaluate.max_steps=2"),
    *("env={name: web, episodes_per_minute: 6000}", "browser.guard.private_hosts=['127.0.0.1']"),
]
GUIDED = "{name: difficulty_guided, below: 0.3, prior: 0.5, times: 12}"
"""One group that fails makes a site hard, and one in three that succeeds easy; of 16 groups 12 are of the hard site."""
LUCK = 1e-4
"""What chance may bring about is not more likely than this."""


def of_a_hard_site(hard: str, messages: list[dict[str, Any]]) -> str:
    """A verdict that depends on what the agent did, and on the hard site is always the same."""
    said = json.dumps(messages)
    done = f"[{hard}]" not in said and hashlib.sha256(said.encode()).digest()[0] % 8
    return "SUCCESS" if done else "NOT SUCCESS"


def test_a_file_of_200_tasks_trains_with_a_judge_and_more_on_what_fails(tmp_path: Path) -> None:
    drawn = make_tasks([*SITES], SITES, 3 * ROWS, seed=0, layout="compact")
    names = sorted({str(task.website) for task in drawn})
    assert len(names) * SHARE == 1
    kept = [task for name in names for task in [task for task in drawn if task.website == name][: int(SHARE * ROWS)]]
    assert len(kept) == ROWS
    hard = names[0]
    sites = {f"{n}": str(task.website) for n, task in enumerate(kept)}
    with ExitStack() as servers:
        at = {name: f"http://{servers.enter_context(OneSite(name)).address}" for name in names}
        rows: list[dict[str, Any]] = [
            {"id": f"{n}", "instruction": f"{task.instruction} [{task.website}]", "start_url": at[str(task.website)]}
            | {"website": task.website, "difficulty": task.difficulty}
            for n, task in enumerate(kept)
        ]
        (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        judge = servers.enter_context(Endpoint(default=replying(lambda messages: of_a_hard_site(hard, messages))))
        reward = f"reward={{name: openwebrl, engine: {{name: chat, base_url: '{judge.url}', model: judge}}}}"
        guided, uniform = (
            trained(tmp_path / name, sampler, reward, sites, hard)
            for name, sampler in (("guided", GUIDED), ("uniform", "uniform"))
        )
    assert abs(uniform[hard] / uniform.total() - SHARE) < 0.1
    more = guided[hard] / guided.total() - uniform[hard] / uniform.total()
    assert chance(more, guided.total(), uniform.total()) < LUCK, (guided, uniform)


def trained(folder: Path, sampler: str, reward: str, sites: Mapping[str, str], hard: str) -> Counter[str]:
    """How many groups each site had in a run, from the second iteration on, of which the sampler knows some."""
    tasks = ["tasks.path=tasks.jsonl", "tasks.eval_path=tasks.jsonl", f"tasks.sampler={sampler}"]
    done = console_script(
        "train", "quickstart", "--run", folder.name, *SMALL, *tasks, reward, cwd=folder.parent, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    with RunStore.open(folder, readonly=True) as store:
        judged = [each for each in store.trajectories(RL) if each.reward is not None and each.reward.judgements]
        ended = [store.get(outcomes_key(iteration)) for iteration in range(1, ITERATIONS + 1)]
    assert {sites[each.task.id] for each in judged} == set(sites.values())
    succeeded = {sites[task] for groups in ended for task, rewards in groups if max(rewards, default=0) > 0}
    assert succeeded and hard not in succeeded
    return Counter(sites[task] for groups in ended[1:] for task, _ in groups)


def chance(more: float, n: int, others: int) -> float:
    """How likely the share of a site among `n` groups is larger by `more`, or by more than that, than among `others`,
    where each group is of that site with the chance `SHARE`, in both alike."""
    return sum(
        binomial(k, n) * binomial(j, others)
        for k in range(n + 1)
        for j in range(others + 1)
        if k / n - j / others >= more
    )


def binomial(k: int, n: int) -> float:
    return math.comb(n, k) * SHARE**k * (1 - SHARE) ** (n - k)
