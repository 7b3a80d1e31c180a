"""How often each version of the weights succeeded on the held-out tasks during a training."""

from __future__ import annotations

from typing import Any

from webdojo.loops.run_folder import EVALUATION
from webdojo.store.run import RunStore


def stored_evaluations(store: RunStore) -> list[dict[str, Any]]:
    """Success on the held-out tasks by version so far, as in `result.json`."""
    return [
        {
            "iteration": int(row["step"]),
            "n": int(row["n"]),
            "rate": row["success"],
            "ci95": [row["ci95_low"], row["ci95_high"]],
        }
        for row in store.metrics(EVALUATION)
    ]
