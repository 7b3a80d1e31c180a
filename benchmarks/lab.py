"""Does the laboratory learn, is it the RL that does it, and what is left of it on kinds of sites that it never saw?

    python benchmarks/lab.py [--seeds 0 1 2] [--runs runs/bench-lab] [KEY=VALUE …]

As `benchmarks/quickstart.py`, with the recipe `lab` and the same control; the final policy and the warm start also
do tasks on kinds of sites that training leaves out.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean
from typing import Any

from quickstart import headline, row, train, with_recorded
from record import record

from webdojo.loops.start import evaluate_model
from webdojo.recipe import load_recipe
from webdojo.store.checkpoints import CheckpointFolder

UNSEEN = "env.kinds=[places, admin]"
"""The kinds that the recipe keeps from training."""


def unseen(run: Path) -> dict[str, dict[str, Any]]:
    """Success of the warm start and of the final policy on kinds of sites that the run did not train on."""
    recipe = load_recipe(str(run / "recipe.yaml"), [UNSEEN], migrate=True)
    saved = {checkpoint.name: checkpoint.path for checkpoint in CheckpointFolder(run / "checkpoints").all()}
    policies = {"sft": saved["sft"], "rl": saved[max(name for name in saved if name.startswith("rl-"))]}
    found = {}
    for name, policy in policies.items():
        folder = run.parent / f"{run.name}-unseen-{name}"
        result = evaluate_model(recipe, str(policy), folder, resume=folder.exists())["success_eval"]
        found[f"unseen_{name}"] = {key: result[key] for key in ("n", "rate", "ci95", "by_difficulty", "by_kind")}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/bench-lab"))
    arguments, overrides = parser.parse_known_args()
    folders = {seed: arguments.runs / f"seed-{seed}" for seed in arguments.seeds}
    used = {seed: train(folder, seed, overrides, "lab") for seed, folder in folders.items()}
    rows = [row(folder, seed, used[seed]) | unseen(folder) for seed, folder in folders.items()]
    rows = with_recorded("lab", rows)
    kinds = {"success_unseen_kinds": "unseen_rl", "success_unseen_kinds_sft": "unseen_sft"}
    told = {key: round(mean(each[name]["rate"] for each in rows), 4) for key, name in kinds.items()}
    record("lab", headline(rows) | told, rows)


if __name__ == "__main__":
    main()
