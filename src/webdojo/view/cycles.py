"""The tables of cycles of exploration, feedback and optimization."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from webdojo.view.page import percent
from webdojo.view.tables import new_table


def cycles_tables(rounds: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """What the policy found by itself in each round, and what became of it (OpenWebVoyager, Tables 1 and 3 to 5).

    `rounds` are as in `result.json`.
    """
    explored = [(each["round"], each["exploration"]) for each in rounds if each["exploration"]]
    if explored:
        attempts = list(explored[0][1]["success_at_k"])
        rows = [
            [str(number), *(str(it[key]) for key in ("tasks", "successes", "turns")), _rate(it["finish_rate"])]
            + [_rate(it["success_at_k"][k]) for k in attempts]
            for number, it in explored
        ]
        numbers = ["tasks", "successes", "turns", "F@1", *(f"S@{k}" for k in attempts)]
        yield new_table("exploration", ["round"], numbers, rows)
    if rounds:
        heldout = [(each, each["heldout"]) for each in rounds]
        rows = [
            [str(each["round"]), str(each["trained_on"]), _rate(it["success"])]
            + ["{:.1%} .. {:.1%}".format(*it["success"]["ci95"])]
            + [_steps(it[f"steps_{which}"]) for which in ("finished", "successful")]
            + [str(it[key]) for key in ("restarts", "restarts_successful")]
            for each, it in heldout
        ]
        title = "held-out tasks by round, 0 the warm start; steps of episodes that finish and succeed"
        numbers = ["trained on", "success", "95 % interval", "finish", "succeed", "R", "RS"]
        yield new_table(title, ["round"], numbers, rows)


def _rate(rate: Mapping[str, Any]) -> str:
    return percent(rate["rate"], 1)


def _steps(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:.2f}"
