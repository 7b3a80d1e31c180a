"""What does it bring to roll out, learn and refresh weights at once, and what does it cost?

    python benchmarks/async_loop.py --paced
    python benchmarks/async_loop.py [--runs runs/async] [KEY=VALUE …]

Paced: the real loop and pool on a clock that jumps, with the latencies of the papers (`paced.py`): the
asynchronous loop (η = 2), the same loop with a barrier an iteration (η = 0), and WebGym's way, where all
episodes of an iteration roll out, then all train; and, with engines whose memory holds the prompts of 96
episodes, the asynchronous loop with fixed numbers of slots and with `rollout.adaptive_concurrency`, which does
not know of the 96. Without `--paced` also for real: the quickstart with
η = 0, with η = 2 and the decoupled loss, and with η = 2 and the quickstart's own loss; what is finished is
not done again, and a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from paced import SIGMAS, run, run_phased
from quickstart import train
from record import record

from webdojo.config import load_recipe
from webdojo.loops.online import PHASE
from webdojo.loops.replay import trained_key
from webdojo.rollout.groups import is_settled
from webdojo.store.run import RunStore

GROUPS = 128
"""Of a paced update, 4 trajectories each: WebGym's rollout size of 512."""
PHASED = 1024
"""WebGym's other rollout size, with which its way is fastest."""
ETA = 2
FITS = 96
FIXED = (32, 64, 96, 128, 192, 256)
WARM_UP = 3
"""First paced iterations that do not count, in which the pool fills; nor do the last, in which it runs empty."""
REAL = {
    "sync": ["rollout.max_staleness=0"],
    "async": [f"rollout.max_staleness={ETA}", "train.policy_loss=decoupled", "train.old_logprobs=learner"],
    "async, coupled": [f"rollout.max_staleness={ETA}"],
}
SHARES = ("slots_busy", "slots_mean", "learner_busy", "bubble_fraction", "clip_fraction", "staleness_mean")


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


def paced(iterations: int) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Headline and rows of the paced systems; the headline's are those of an instruct model but where it says."""
    headline: dict[str, float] = {}
    rows: list[dict[str, Any]] = []
    steady = slice(WARM_UP, iterations - ETA)
    for model, sigma in SIGMAS.items():
        phased = run_phased(PHASED, iterations // 2, sigma)
        found = {
            "async": figures(run(GROUPS, ETA, iterations, sigma).rows[steady]),
            "sync": figures(run(GROUPS, 0, iterations, sigma).rows[steady]),
            "phased": {"hours": phased.hours, "trajectories_an_hour": phased.trajectories / phased.hours},
        }
        rate = {name: row["trajectories_an_hour"] for name, row in found.items()}
        after = "" if model == "instruct" else f"_{model}"
        headline |= {
            f"x_sync_paced{after}": rate["async"] / rate["sync"],
            f"x_phased_paced{after}": rate["async"] / rate["phased"],
            f"bubble_fraction{after}": found["async"]["bubble_fraction"],
        }
        rows += [{"paced": name, "model": model, **row} for name, row in found.items()]
    return headline, rows


def crowded(iterations: int) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Headline and rows of numbers of slots, for engines that can have too many."""
    sigma, steady = SIGMAS["instruct"], slice(WARM_UP, iterations - ETA)
    fixed = {
        slots: figures(run(GROUPS, ETA, iterations, sigma, concurrency=slots, fits=FITS).rows[steady])
        for slots in FIXED
    }
    adaptive = figures(run(GROUPS, ETA, iterations, sigma, adaptive=True, fits=FITS).rows[steady])
    rate = {slots: row["trajectories_an_hour"] for slots, row in fixed.items()}
    headline = {
        "adaptive_to_best_fixed": adaptive["trajectories_an_hour"] / max(rate.values()),
        "adaptive_to_most_fixed": adaptive["trajectories_an_hour"] / rate[max(FIXED)],
    }
    rows = [{"crowded": f"{slots} slots", **row} for slots, row in fixed.items()]
    return headline, [*rows, {"crowded": "adaptive", **adaptive}]


def real(folder: Path, overrides: list[str]) -> dict[str, Any]:
    """A quickstart that is trained now unless it was before: its figures, and whether all that it stored was used."""
    train(folder, 0, overrides)
    recipe = load_recipe(str(folder / "recipe.yaml"))
    with RunStore.open(folder, readonly=True) as store:
        metrics, result = store.metrics(PHASE), store.get("result")
        used = Counter(id for row in metrics for id in store.get(trained_key(int(row["step"]))))
        rewards: defaultdict[str, list[float]] = defaultdict(list)
        members = Counter(row.group_id for row in store.rows(PHASE))
        for row in store.rows(PHASE):
            if row.valid and row.reward is not None and members[row.group_id] == recipe.rollout.group_size:
                rewards[row.group_id].append(row.reward)
    effective = {id for id, values in rewards.items() if len(values) > 1 and not is_settled(values)}
    stale = sum(row["groups_too_stale"] for row in metrics)
    return figures(metrics) | {
        "success": result["success_rl"]["rate"],
        "ci95": result["success_rl"]["ci95"],
        "engine_gap_max": fmean(row["engine_gap_max"] for row in metrics if "engine_gap_max" in row),
        "lost": max(0.0, len(effective - set(used)) - stale),
        "used_twice": sum(count > 1 for count in used.values()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paced", action="store_true")
    parser.add_argument("--iterations", type=int, default=40, help="of the paced loops")
    parser.add_argument("--runs", type=Path, default=Path("runs/async"))
    arguments, overrides = parser.parse_known_args()
    logging.getLogger("webdojo").setLevel(logging.WARNING)
    headline, rows = paced(arguments.iterations)
    more_headline, more_rows = crowded(arguments.iterations)
    headline |= more_headline
    rows += more_rows
    if not arguments.paced:
        ran = {name: real(arguments.runs / name.replace(", ", "-"), [*own, *overrides]) for name, own in REAL.items()}
        turns = {name: row["turns_trained_an_hour"] for name, row in ran.items()}
        headline |= {
            "x_sync_real": turns["async"] / turns["sync"],
            "success_sync": ran["sync"]["success"],
            "success_async": ran["async"]["success"],
            "lost": sum(row["lost"] for row in ran.values()),
            "used_twice": sum(row["used_twice"] for row in ran.values()),
        }
        rows += [{"real": name, **row} for name, row in ran.items()]
    record("async_loop", {key: round(value, 4) for key, value in headline.items()}, rows)


if __name__ == "__main__":
    main()
