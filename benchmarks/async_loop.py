"""What does it bring to roll out, learn and refresh weights at once, and what does it cost?

    python benchmarks/async_loop.py [--paced | --real | --speed] [--seeds 0 1 2] [--runs runs/async] [KEY=VALUE …]

Paced: the real loop and pool on a clock that jumps, with the latencies of the papers (`paced.py`): the
asynchronous loop (η = 2), the same loop with a barrier an iteration (η = 0), and WebGym's way, where all
episodes of an iteration roll out, then all train; and, with engines whose memory holds the prompts of 96
episodes, the asynchronous loop with fixed numbers of slots and with `rollout.adaptive_concurrency`, which does
not know of the 96 (the first seed only).

Real: the quickstart, for each seed from one warm start: as it is (η = 0), with η = 2 and the decoupled loss, and
with η = 2 and its own loss, one after the other. The embedded engine sleeps while the learner steps, since both want
the same two cores; pages load meanwhile.

Speed: from the same warm starts the first two of these again, for a few iterations each, in an order in which a machine
that becomes slower or faster meanwhile favours neither (A B B A, of the next seed B A A B).

What is finished is not done again, and a run that was stopped goes on. Seeds that are in the record and not asked for
stay in it.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean, median
from typing import Any

from paced import SIGMAS, run, run_phased
from quickstart import train
from record import record, recorded

from webdojo.evaluation.metrics import wilson95
from webdojo.loops.resume import trained_key
from webdojo.loops.run_folder import RL
from webdojo.loops.sweeps.warm_start import copy_warm_start
from webdojo.recipe import load_recipe
from webdojo.rollout.groups import is_settled
from webdojo.store.info import git_hash
from webdojo.store.run import RunStore

GROUPS = 128
"""Of a paced update, 4 trajectories each: WebGym's rollout size of 512."""
PHASED = 1024
"""WebGym's other rollout size, with which its way is fastest."""
ETA = 2
FITS = 96
FIXED = (32, 64, 96, 128, 192, 256)
WARM_UP = 3
"""First iterations that do not count for speed, in which the pool fills; nor do the last, in which it runs empty."""
OVERLAP = f"rollout.max_staleness={ETA}"
REAL = {
    "sync": ["rollout.max_staleness=0"],
    "async": [OVERLAP, "train.policy_loss=decoupled", "train.old_logprobs=loglinear"],
    "async, coupled": [OVERLAP],
}
ORDERS = (("sync", "async", "async", "sync"), ("async", "sync", "sync", "async"))
SPEEDS = {
    "x_sync_real": "turns_an_hour",
    "x_sync_real_trajectories": "trajectories_an_hour",
    "x_sync_real_trained": "turns_trained_an_hour",
}
"""By key of the headline. How long episodes are, and which groups teach nothing, is luck: it moves the trajectories and
the trained turns of an arm by some 5 %, where the work was the same."""
SHORT = 7
"""Iterations of an arm of the speed."""
SHARES = ("slots_busy", "slots_mean", "learner_busy", "bubble_fraction", "clip_fraction", "staleness_mean")
BY_ITERATION = ("reward", "clip_fraction", "engine_gap_max", "seconds_total")


def figures(rows: list[dict[str, float]]) -> dict[str, float]:
    """What the loop did in some iterations, by the hour and as means over the time."""
    seconds = sum(row["seconds_total"] for row in rows)
    found = {
        "hours": seconds / 3600,
        "trajectories_an_hour": sum(row["episodes"] for row in rows) * 3600 / seconds,
        "turns_trained_an_hour": sum(row["samples"] for row in rows) * 3600 / seconds,
        "staleness_max": max(row["staleness_max"] for row in rows),
        "groups_too_stale": sum(row["groups_too_stale"] for row in rows) / sum(row["groups"] for row in rows),
    }
    return found | {
        name: sum(row[name] * row["seconds_total"] for row in rows) / seconds for name in SHARES if name in rows[0]
    }


def paced(seed: int, iterations: int) -> list[dict[str, Any]]:
    """The paced systems."""
    rows: list[dict[str, Any]] = []
    steady = slice(WARM_UP, iterations - ETA)
    for model, sigma in SIGMAS.items():
        phased = run_phased(PHASED, iterations // 2, sigma, seed)
        found = {
            "async": figures(run(GROUPS, ETA, iterations, sigma, seed).rows[steady]),
            "sync": figures(run(GROUPS, 0, iterations, sigma, seed).rows[steady]),
            "phased": {"hours": phased.hours, "trajectories_an_hour": phased.trajectories / phased.hours},
        }
        rows += [{"paced": name, "model": model, "seed": seed, **row} for name, row in found.items()]
    return rows


def crowded(seed: int, iterations: int) -> list[dict[str, Any]]:
    """Numbers of slots, for engines that can have too many."""
    sigma, steady = SIGMAS["instruct"], slice(WARM_UP, iterations - ETA)
    ways: dict[str, dict[str, Any]] = {f"{slots} slots": {"concurrency": slots} for slots in FIXED}
    return [
        {
            "crowded": name,
            "seed": seed,
            **figures(run(GROUPS, ETA, iterations, sigma, seed, fits=FITS, **way).rows[steady]),
        }
        for name, way in (ways | {"adaptive": {"adaptive": True}}).items()
    ]


def paced_headline(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Medians over the seeds; those without the name of a model are of an instruct model."""
    found: dict[tuple[str, str], dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        found[row.get("paced", row.get("crowded")), row.get("model", "instruct")][row["seed"]] = row

    def ratio(one: str, other: str, model: str = "instruct") -> float:
        key = "trajectories_an_hour"
        return median(row[key] / found[other, model][seed][key] for seed, row in found[one, model].items())

    headline: dict[str, float] = {}
    for model in SIGMAS:
        after = "" if model == "instruct" else f"_{model}"
        headline |= {f"x_{other}_paced{after}": ratio("async", other, model) for other in ("sync", "phased")}
        bubbles = [row["bubble_fraction"] for row in found["async", model].values()]
        headline[f"bubble_fraction{after}"] = max(bubbles)
    to_fixed = {slots: ratio("adaptive", f"{slots} slots") for slots in FIXED}
    return headline | {"adaptive_to_best_fixed": min(to_fixed.values()), "adaptive_to_most_fixed": to_fixed[max(FIXED)]}


def warm_start(folder: Path, seed: int, overrides: list[str]) -> Path:
    """A quickstart up to its warm start, made now unless it was before."""
    train(folder, seed, [*overrides, "train.iterations=0"])
    return folder


def real(folder: Path, start: Path, seed: int, overrides: list[str], counted: slice) -> dict[str, Any]:
    """A quickstart that goes on from a warm start, now unless it was before: figures of some iterations, success, and
    whether it lost groups."""
    if not folder.exists():
        copy_warm_start(start, folder, load_recipe("quickstart", [f"seed={seed}", *overrides]))
    train(folder, seed, overrides)
    recipe = load_recipe(str(folder / "recipe.yaml"), migrate=True)
    with RunStore.open(folder, readonly=True) as store:
        metrics, result, commit = store.metrics(RL), store.get("result"), store.info["resumed"][-1]["git"]
        used = Counter(id for row in metrics for id in store.get(trained_key(int(row["step"]))))
        rewards: defaultdict[str, list[float]] = defaultdict(list)
        members = Counter(row.group_id for row in store.rows(RL))
        for row in store.rows(RL):
            if row.valid and row.reward is not None and members[row.group_id] == recipe.rollout.group_size:
                rewards[row.group_id].append(row.reward)
    effective = {id for id, values in rewards.items() if len(values) > 1 and not is_settled(values)}
    stale = sum(row["groups_too_stale"] for row in metrics)
    gaps = [row["engine_gap_max"] for row in metrics if "engine_gap_max" in row]
    found = figures(metrics[counted])
    turns = sum(row["episodes"] * row.get("steps", 0.0) for row in metrics[counted])
    return found | {
        "commit": commit,
        "turns_an_hour": turns / found["hours"],
        **{name: {key: result[name][key] for key in ("n", "rate", "ci95")} for name in ("success_sft", "success_rl")},
        "engine_gap_max": max(gaps, default=None),
        "lost": max(0.0, len(effective - set(used)) - stale),
        "used_twice": sum(count > 1 for count in used.values()),
        "by_iteration": {key: [row.get(key) for row in metrics] for key in BY_ITERATION},
    }


def learning(runs: Path, start: Path, seed: int, overrides: list[str], iterations: int) -> list[dict[str, Any]]:
    """All ways, each for a whole quickstart."""
    rows = []
    for name, own in REAL.items():
        folder = runs / f"{seed}-{name.replace(', ', '-')}"
        arm = [*own, *overrides, f"train.iterations={iterations}"]
        rows.append({"real": name, "seed": seed, **real(folder, start, seed, arm, slice(WARM_UP, -ETA))})
    return rows


def speed(runs: Path, start: Path, seed: int, overrides: list[str]) -> list[dict[str, Any]]:
    """Two ways, twice each; all iterations count, the first, in which the pool fills, and the last, too."""
    rows = []
    for place, name in enumerate(ORDERS[seed % 2]):
        folder = runs / f"{seed}-speed-{place}-{name}"
        arm = [*REAL[name], *overrides, f"train.iterations={SHORT}", "evaluate.tasks=10"]
        rows.append({"speed": name, "seed": seed, "place": place, **real(folder, start, seed, arm, slice(None))})
    return rows


def real_headline(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of all seeds: success of all evaluations together with its 95 % interval, clip fractions, what was lost."""
    by_name: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_name[row["real"]].append(row)
    headline: dict[str, float] = {"seeds": len(by_name["sync"])}
    for name, of_seeds in by_name.items():
        found = [row["success_rl"] for row in of_seeds]
        n, successes = sum(one["n"] for one in found), round(sum(one["n"] * one["rate"] for one in found))
        own = f"success_{name.replace(', ', '_')}"
        low, high = wilson95(successes, n)
        headline |= {own: successes / n, f"{own}_low": low, f"{own}_high": high}
        headline[f"clip_fraction_{name.replace(', ', '_')}"] = fmean(row["clip_fraction"] for row in of_seeds)
    for key in ("lost", "used_twice"):
        headline[key] = sum(row[key] for row in rows)
    return headline


def speed_headline(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Medians over the seeds of a seed's ratio, with the least and the largest."""
    headline: dict[str, float] = {}
    for own, key in SPEEDS.items():
        found: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for row in rows:
            found[row["seed"]][row["speed"]] += row[key]
        ratios = [means["async"] / means["sync"] for means in found.values()]
        headline |= {own: median(ratios), f"{own}_low": min(ratios), f"{own}_high": max(ratios)}
    return headline


HEADLINES = {"paced": paced_headline, "real": real_headline, "speed": speed_headline}


def kind_of(row: dict[str, Any]) -> str:
    """Which part of the benchmark a row is of; numbers of slots (`crowded`) are of the paced one."""
    return next((kind for kind in HEADLINES if kind in row), "paced")


def keep(rows: list[dict[str, Any]]) -> None:
    """Record rows beside those of other seeds and kinds."""
    rows = [{"commit": git_hash(), **row} for row in rows]
    measured = {(kind_of(row), row["seed"]) for row in rows}
    rows = [row for row in recorded("async_loop") if (kind_of(row), row["seed"]) not in measured] + rows
    headline: dict[str, float] = {}
    for kind, summarise in HEADLINES.items():
        if of_kind := [row for row in rows if kind_of(row) == kind]:
            headline |= summarise(of_kind)
    record("async_loop", {key: round(value, 4) for key, value in headline.items()}, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    only = parser.add_mutually_exclusive_group()
    for kind in HEADLINES:
        only.add_argument(f"--{kind}", action="store_const", dest="only", const=kind, help="nothing else")
    parser.add_argument("--iterations", type=int, default=40, help="of the paced loops")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/async"))
    arguments, overrides = parser.parse_known_args()
    logging.getLogger("webdojo").setLevel(logging.WARNING)
    kinds = [arguments.only] if arguments.only else [*HEADLINES]
    iterations = load_recipe("quickstart", overrides).train.iterations
    if "real" in kinds and iterations <= WARM_UP + ETA:
        parser.error(
            f"train.iterations is {iterations}: figures are of those between the first {WARM_UP} and the "
            f"last {ETA}; set it above {WARM_UP + ETA}"
        )
    if "paced" in kinds:
        rows = [row for seed in arguments.seeds for row in paced(seed, arguments.iterations)]
        keep(rows + crowded(arguments.seeds[0], arguments.iterations))
    for seed in arguments.seeds if {"real", "speed"} & {*kinds} else ():
        start = warm_start(arguments.runs / f"{seed}-start", seed, overrides)
        if "real" in kinds:
            keep(learning(arguments.runs, start, seed, overrides, iterations))
        if "speed" in kinds:
            keep(speed(arguments.runs, start, seed, overrides))


if __name__ == "__main__":
    main()
