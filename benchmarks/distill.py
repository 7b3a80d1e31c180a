"""Does a distilled judge keep training honest? OpenWebRL §5.3, Table 3 and Figure 4, on the embedded web.

    python benchmarks/distill.py [--seeds 0] [--iterations 8] [--student KEY=VALUE …] [--runs runs/distill]
                                 [KEY=VALUE …]

For each seed, with the tiny model:

1. `start`: the quickstart up to its warm start.
2. `truth`: online RL from there, rewarded by the sites' own verdict, which stands for the paper's GPT-4.1.
3. `judge`: `webdojo judge distill` on all episodes so far, with their truth; measured on sites that are held out,
   beside a judge that believes whatever the agent says last.
4. `weak` and `distilled`: the same RL from the same start, rewarded by the judge that believes, and by the distilled.

Each iteration has the success that its reward reports, and the true one by the rules; their difference is the
reward-hacking gap. Headline: `gap_…` is that of the last third of the iterations, `true_…` the true success on held-out
tasks after them, `accuracy_…` and `f1_…` are the judges' on `n` held-out episodes; means over seeds. Every group trains
(`train.dynamic_sampling=false`), because the judge that believes soon accepts all members of a group alike. What is
finished is not done again, and a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from quickstart import train
from record import Part, record

from webdojo.evaluation.agreement import Confusion, paired_difference
from webdojo.loops.judging.audit import Choice, known_truths
from webdojo.loops.judging.compare import rejudge
from webdojo.loops.run_folder import EVALUATION, HELDOUT, RL
from webdojo.reward.rules import Rules
from webdojo.store.run import RunStore

WEAK = f"{Path(__file__).with_name('judges_scripted.py')}:Credulous"
"""A judge to whom every episode that the agent ends itself is a success."""
FIGURES = ("accuracy", "precision", "recall", "f1", "tnr")
STUDENT = [
    *("reward=openwebrl", "reward.max_images=1", "reward.sampling.max_tokens=96"),
    # The tiny model knows no word of a judge, and learns none with the layers frozen that an agent leaves alone.
    *("model.freeze_trainable_layers=0", "sft.epochs=8", "sft.lr=1e-3", "sft.batch_size=8"),
]
RUN = ["train.dynamic_sampling=false", "evaluate.tasks=100", "evaluate.max_invalid=1"]
"""What the runs have unlike the quickstart."""


def online(folder: Path, start: Path, seed: int, overrides: list[str]) -> Path:
    """Online RL from the warm start of a run; done now unless it was before."""
    train(folder, seed, [f"model.path={start / 'checkpoints' / 'sft'}", "sft.demos=0", *RUN, *overrides])
    return folder


def distil(runs: Path, out: Path, seed: int, student: list[str]) -> dict[str, Any]:
    """A student of the truth of all runs of a folder; done now unless it was before."""
    command = [sys.executable, "-m", "webdojo.cli", "judge", "distill", str(runs), "--judge", "rules"]
    command += ["--out", str(out), "--seed", str(seed), *STUDENT, *student]
    if not (out / "result.json").exists():
        subprocess.run(command, check=True)
    return dict(json.loads((out / "result.json").read_text()))


def judges(out: Path, report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Table 3: the distilled judge and the one that believes, on the episodes of held-out sites."""
    believed = asyncio.run(rejudge(out, [WEAK], [], Choice([HELDOUT]), lambda total: lambda: None))
    found = {"distilled": report["heldout"], "weak": believed["pairs"][0]}
    return [
        {"part": "judge", "judge": name, "n": each["n"], "counts": each["counts"]}
        | {key: _share(each[key]) for key in FIGURES}
        for name, each in found.items()
    ]


def _share(figure: Mapping[str, Any]) -> dict[str, Any]:
    """A share or F1 with its interval."""
    return {"value": figure.get("rate", figure.get("value")), "ci95": figure["ci95"]}


def curve(folder: Path, arm: str) -> list[dict[str, Any]]:
    """Figure 4: by iteration of a run's training, and then for its evaluations, reported and true success."""
    with RunStore.open(folder, readonly=True) as store:
        rows = [row for row in store.rows() if row.phase in (RL, EVALUATION)]
        truths = asyncio.run(known_truths(store, [row.id for row in rows], Rules(), Counter()))
    found = []
    for phase, iteration in sorted(
        {(row.phase, row.iteration) for row in rows}, key=lambda key: (key[0] != RL, key[1])
    ):
        members = [row for row in rows if (row.phase, row.iteration) == (phase, iteration) and row.id in truths]
        counts = Confusion.of((truths[row.id].success, bool(row.success) if row.valid else None) for row in members)
        found.append({"part": "curve", "arm": arm, "phase": phase, "iteration": iteration, **gap_of(counts)})
    return found


def gap_of(counts: Confusion) -> dict[str, Any]:
    n = max(1, counts.n)
    return {
        "n": counts.n,
        "invalid": counts.invalid,
        "counts": counts.model_dump(),
        "reported": (counts.tp + counts.fp) / n,
        "true": (counts.tp + counts.fn) / n,
        "gap": paired_difference(counts).model_dump(mode="json"),
    }


def last_third(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The gap over the last third of the iterations of an arm's training, all episodes together."""
    trained = [row for row in rows if row["phase"] == RL]
    counts = [Confusion(**row["counts"]) for row in trained[-max(1, len(trained) // 3) :]]
    return gap_of(Confusion(**{key: sum(getattr(each, key) for each in counts) for key in Confusion.model_fields}))


def one_seed(seed: int, part: Part, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """All rows of a seed; what the part file has is not done again."""
    folder = arguments.runs / f"seed-{seed}"
    seen, judge = folder / "judged", folder / "judge"
    start, more = seen / "start", [f"train.iterations={arguments.iterations}", *arguments.overrides]
    done = {entry["step"]: entry["rows"] for entry in part.entries() if entry["seed"] == seed}

    def step(name: str, work: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        if name not in done:
            done[name] = [{"seed": seed, **row} for row in work()]
            part.add({"seed": seed, "step": name, "rows": done[name]})
        return done[name]

    def started() -> list[dict[str, Any]]:
        train(start, seed, [*arguments.overrides, "train.iterations=0"])
        return []

    def distilled() -> list[dict[str, Any]]:
        report = distil(seen, judge, seed, arguments.student)
        return [{"part": "examples", **report["examples"], "left_out": report["left_out"]}, *judges(judge, report)]

    rows = step("start", started)
    rows += step("truth", lambda: curve(online(seen / "truth", start, seed, more), "truth"))
    rows += step("judge", distilled)
    for arm, reward in {"weak": [f"reward={WEAK}"], "distilled": ["reward=distilled", f"reward.path={judge}"]}.items():
        rows += step(arm, lambda: curve(online(folder / arm, start, seed, [*reward, *more]), arm))  # noqa: B023
    return rows


def headline_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Means over seeds."""
    seeds = sorted({row["seed"] for row in rows})
    by_seed = {seed: [row for row in rows if row["seed"] == seed] for seed in seeds}
    found: dict[str, list[float]] = {}
    for own in by_seed.values():
        for arm in ("truth", "weak", "distilled"):
            curve = [row for row in own if row.get("arm") == arm]
            found.setdefault(f"gap_{arm}", []).append(last_third(curve)["gap"]["value"])
            found.setdefault(f"true_{arm}", []).append(curve[-1]["true"])
        for row in own:
            if row["part"] == "judge":
                found.setdefault(f"f1_{row['judge']}", []).append(row["f1"]["value"])
                found.setdefault(f"accuracy_{row['judge']}", []).append(row["accuracy"]["value"])
    held_out = sum(sum(row["counts"].values()) for row in rows if row.get("judge") == "distilled")
    return {key: round(fmean(values), 4) for key, values in found.items()} | {"n": held_out}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--iterations", type=int, default=8, help="of each of the three trainings")
    parser.add_argument("--student", nargs="+", default=[], metavar="KEY=VALUE", help="changes to the student")
    parser.add_argument("--runs", type=Path, default=Path("runs/distill"))
    arguments, arguments.overrides = parser.parse_known_args()
    part = Part("distill")
    rows = [row for seed in arguments.seeds for row in one_seed(seed, part, arguments)]
    record("distill", headline_of(rows), rows)
    part.end()


if __name__ == "__main__":
    main()
