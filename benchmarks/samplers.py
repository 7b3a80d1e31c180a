"""Which sampler of training tasks wastes the fewest groups, and does the policy learn more by it?

    python benchmarks/samplers.py [--choose 20] [--seeds 0 1 2] [--episodes 2000]
                                  [--runs runs/samplers] [KEY=VALUE …]
    python benchmarks/samplers.py --replay RUN [RUN …]

Each arm is the quickstart from the warm start of its seed, trained until so many episodes have ended, and measured on
the same held-out tasks: a sampler that wastes less trains more updates on as many episodes. How many is not known
before, so the learning rate does not fall, and is lower than the quickstart's highest. A group is wasted if its members
all have the same reward. Uniform runs on the seeds of `--choose` and is replayed: each sampler is asked which of its
groups it would have drawn with which chance, given what had ended before, and the best is the one with the smallest
share of wasted ones among them. It and uniform are trained and reported on the seeds of `--seeds`. What is finished is
not done again, and a run that was stopped goes on.

`--replay` only replays runs of any recipe that were sampled uniformly, and also says what the wasted groups are made
of. It costs seconds, and it leaves out that another choice of tasks makes another policy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from async_loop import warm_start
from quickstart import train
from record import Part, record

from webdojo.loops.resume import outcomes_key
from webdojo.loops.run_folder import RL
from webdojo.loops.sweeps.warm_start import copy_warm_start
from webdojo.recipe import TRAIN_TASKS, Recipe, load_recipe
from webdojo.rollout.curriculum import Curriculum
from webdojo.rollout.groups import is_settled, number_of
from webdojo.store.run import DATABASE, RunStore
from webdojo.tasks.samplers.sampler import Sampler
from webdojo.types import Task

GOALS = "by: [kind, difficulty, metadata.goal]"
SAMPLERS = {
    "uniform": "uniform",
    "success_window": "success_window",
    "mixed_outcomes": "mixed_outcomes",
    "learning_progress": "learning_progress",
    "difficulty_guided, goals": f"{{name: difficulty_guided, {GOALS}}}",
    "success_window, goals": f"{{name: success_window, {GOALS}}}",
    "success_window, goals, hard ones too": f"{{name: success_window, low: 0, {GOALS}}}",
    "mixed_outcomes, goals": f"{{name: mixed_outcomes, {GOALS}}}",
}
"""The arms: what `tasks.sampler` of each is. `goals` pool tasks that ask for the same kind of thing."""
CONSTANT_RATE = ["train.schedule=constant", "train.lr=5e-4"]
"""The learning rate of an arm: how many iterations it takes is not known before, and a cosine needs to know."""
ENDLESS = 1_000
"""Iterations of an arm that is stopped by its number of episodes."""


# --- arms -------------------------------------------------------------------------------------


def episodes_by_iteration(folder: Path) -> list[int]:
    """How many episodes had ended after each iteration of a run."""
    with RunStore.open(folder, readonly=True) as store:
        counts = [int(row["episodes"]) for row in store.metrics(RL)]
    return [sum(counts[: number + 1]) for number in range(len(counts))]


def enough(folder: Path, episodes: int) -> int:
    """The first iteration after which so many episodes had ended; 0 where they have not."""
    ended = episodes_by_iteration(folder)
    return next((number for number, count in enumerate(ended, 1) if count >= episodes), 0)


def train_until(folder: Path, seed: int, episodes: int, overrides: list[str]) -> None:
    """Train until so many episodes have ended, however many iterations that takes."""
    command = [sys.executable, "-m", "webdojo.cli", "train", "quickstart", f"seed={seed}", *overrides]
    command += [f"train.iterations={ENDLESS}", "--run", str(folder), "--resume"]
    while not enough(folder, episodes):
        process = subprocess.Popen(command)
        while process.poll() is None:
            time.sleep(2)
            if enough(folder, episodes):
                process.terminate()
                process.wait()
        if not enough(folder, episodes):
            raise SystemExit(
                f"{folder} ended with exit code {process.returncode} after {episodes_by_iteration(folder)}"
            )


def arm_folder(runs: Path, seed: int, name: str) -> Path:
    return runs / f"{seed}-{name.replace(', ', '-').replace(' ', '-')}"


def arm(runs: Path, seed: int, name: str, episodes: int, overrides: list[str]) -> dict[str, Any]:
    """One sampler on one seed, from the warm start of that seed."""
    folder = arm_folder(runs, seed, name)
    own = [*overrides, *CONSTANT_RATE, f"tasks.sampler={SAMPLERS[name]}"]
    if not (folder / DATABASE).exists():
        start = warm_start(runs / f"{seed}-start", seed, overrides)
        copy_warm_start(start, folder, load_recipe("quickstart", [f"seed={seed}", *own]))
    if not (folder / "result.json").exists():
        train_until(folder, seed, episodes, own)
    iterations = enough(folder, episodes)
    train(folder, seed, [*own, f"train.iterations={iterations}"])
    result = json.loads((folder / "result.json").read_text())["success_rl"]
    with RunStore.open(folder, readonly=True) as store:
        ended = [rewards for step in range(1, iterations + 1) for _, rewards in store.get(outcomes_key(step))]
    return {
        "sampler": name,
        "seed": seed,
        "options": overrides,
        "iterations": iterations,
        "episodes": episodes_by_iteration(folder)[iterations - 1],
        "success": {key: result[key] for key in ("n", "rate", "ci95")},
        "groups": len(ended),
        "wasted": fmean(is_settled(rewards) for rewards in ended),
    }


def run_arms(
    names: Sequence[str], seeds: Sequence[int], part: Part, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """The rows of samplers on seeds; those that the part file has are not run again."""
    rows = []
    for seed in seeds:
        for name in names:
            done = [row for row in part.entries() if (row["seed"], row["sampler"]) == (seed, name)]
            if not done:
                done = [arm(arguments.runs, seed, name, arguments.episodes, arguments.overrides)]
                part.add(done[0])
            rows += done
    return rows


def mean_of(rows: Sequence[dict[str, Any]], key: str) -> float:
    return fmean(row[key]["rate"] if key == "success" else row[key] for row in rows)


def compare(arguments: argparse.Namespace) -> None:
    """Choose the best sampler by runs on some seeds, and train it and uniform on others."""
    part = Part("samplers")
    run_arms(["uniform"], arguments.choose, part, arguments)
    chosen_on = [
        {"chosen_on": seed, "sampler": name, **shares}
        for seed in arguments.choose
        for name, shares in all_replayed(*read(arm_folder(arguments.runs, seed, "uniform"))).items()
    ]
    others = [name for name in SAMPLERS if name != "uniform"]
    best = min(others, key=lambda name: fmean(row["wasted"] for row in chosen_on if row["sampler"] == name))
    rows = run_arms(["uniform", best], arguments.seeds, part, arguments)
    headline = {
        f"{headline_key}_{label}": round(mean_of([row for row in rows if row["sampler"] == name], key), 4)
        for headline_key, key in (("success", "success"), ("wasted_groups", "wasted"))
        for label, name in (("uniform", "uniform"), ("best", best))
    }
    record("samplers", headline, chosen_on + [{"best": best, **row} for row in rows])
    part.end()


# --- replay -----------------------------------------------------------------------------------


class Ended(NamedTuple):
    """A group of a finished run."""

    task: Task
    iteration: int
    rewards: list[float]
    third: int
    """Of the run: 1, 2 or 3."""

    @property
    def wasted(self) -> bool:
        return is_settled(self.rewards)


def ended_groups(store: RunStore, recipe: Recipe, tasks: Sequence[Task]) -> list[Ended]:
    """The groups of a run that had all their members, in the order of its tasks."""
    by_id = {task.id: task for task in tasks}
    members: defaultdict[str, list[Any]] = defaultdict(list)
    for row in store.rows(RL):
        members[row.group_id].append(row)
    last = max(row.iteration for row in store.rows(RL))
    found = []
    for _, rows in sorted(members.items(), key=lambda item: number_of(item[0])):
        rewards = [row.reward for row in rows if row.valid and row.reward is not None]
        if len(rows) == recipe.rollout.group_size and len(rewards) > 1:
            iteration = max(row.iteration for row in rows)
            found.append(Ended(by_id[rows[0].task_id], iteration, rewards, -(-3 * iteration // last)))
    return found


def replayed(groups: Sequence[Ended], tasks: Sequence[Task], sampler: Sampler, recipe: Recipe) -> dict[str, float]:
    """What a sampler would have drawn of the groups of a run, iteration by iteration.

    Returns:
        `wasted`, the share of wasted groups among those drawn; `drawn`, the share of the groups that is drawn; and
        `skipped_wasted` and `skipped_useful`, the shares of either kind that are passed over.
    """
    curriculum = Curriculum(tasks, [], recipe.rollout, sampler, lambda: 1)
    chances: list[tuple[float, bool]] = []
    for iteration in sorted({group.iteration for group in groups}):
        now = [group for group in groups if group.iteration == iteration]
        chances += [(curriculum.chance(group.task), group.wasted) for group in now]
        curriculum.note((group.task.id, group.rewards) for group in now)
    drawn = {wasted: [chance for chance, kind in chances if kind is wasted] for wasted in (True, False)}
    total = sum(map(sum, drawn.values()))
    return {
        "wasted": sum(drawn[True]) / total,
        "drawn": total / len(chances),
        "skipped_wasted": 1 - fmean(drawn[True]),
        "skipped_useful": 1 - fmean(drawn[False]),
    }


def read(folder: Path) -> tuple[list[Ended], Sequence[Task], Recipe]:
    """The ended groups of a run folder, the tasks that it draws from, and its recipe."""
    recipe = load_recipe(str(folder / "recipe.yaml"), migrate=True)
    tasks = recipe.draw("train", TRAIN_TASKS)
    with RunStore.open(folder, readonly=True) as store:
        return ended_groups(store, recipe, tasks), tasks, recipe


def all_replayed(groups: Sequence[Ended], tasks: Sequence[Task], recipe: Recipe) -> dict[str, dict[str, float]]:
    """`replayed` of every sampler, by name."""
    return {
        name: replayed(groups, tasks, load_recipe("quickstart", [f"tasks.sampler={given}"]).tasks.sampler, recipe)
        for name, given in SAMPLERS.items()
    }


def made_of(groups: Sequence[Ended], label: Callable[[Ended], str]) -> dict[str, dict[str, float]]:
    """By label: groups, the shares that are all solved and all failed, and the mean reward."""
    by_label: defaultdict[str, list[Ended]] = defaultdict(list)
    for group in groups:
        by_label[label(group)].append(group)
    return {
        name: {
            "groups": len(alike),
            "all_solved": fmean(group.wasted and group.rewards[0] > 0 for group in alike),
            "all_failed": fmean(group.wasted and group.rewards[0] <= 0 for group in alike),
            "reward": fmean(fmean(group.rewards) for group in alike),
        }
        for name, alike in sorted(by_label.items())
    }


LABELS: list[Callable[[Ended], str]] = [
    lambda group: f"third {group.third}",
    lambda group: f"{group.task.kind} {group.task.difficulty}",
    lambda group: f"{group.task.kind} {group.task.difficulty}, third {group.third}",
    lambda group: f"{group.task.kind} {group.task.difficulty} {group.task.metadata.get('goal', '')}",
]
"""By what the groups of a run are told apart."""


def replay(folders: Sequence[Path]) -> None:
    """Print what the wasted groups of runs are made of, and what each sampler would have drawn."""
    for folder in folders:
        groups, tasks, recipe = read(folder)
        met = Counter(group.task.id for group in groups)
        print(
            f"{folder}: {len(groups)} groups of {len(met)} tasks, {fmean(group.wasted for group in groups):.1%} wasted"
        )
        for label in LABELS:
            for name, found in made_of(groups, label).items():
                print(
                    f"  {name:40} {found['groups']:5} groups, {found['all_solved']:6.1%} all solved, "
                    f"{found['all_failed']:6.1%} all failed, reward {found['reward']:.2f}"
                )
        for name, shares in all_replayed(groups, tasks, recipe).items():
            print(f"  {name:40} " + ", ".join(f"{key} {value:.1%}" for key, value in shares.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replay", type=Path, nargs="+", metavar="RUN", help="replay these runs, and train nothing")
    parser.add_argument("--choose", type=int, nargs="+", default=[20], help="seeds on which the best is chosen")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds that are reported")
    parser.add_argument("--episodes", type=int, default=2000, help="of an arm, at least")
    parser.add_argument("--runs", type=Path, default=Path("runs/samplers"))
    arguments, arguments.overrides = parser.parse_known_args()
    if arguments.replay:
        replay(arguments.replay)
        return
    if shared := {*arguments.choose} & {*arguments.seeds}:
        parser.error(
            f"--choose and --seeds share {sorted(shared)}: the best is reported on seeds that it was not chosen on"
        )
    compare(arguments)


if __name__ == "__main__":
    main()
