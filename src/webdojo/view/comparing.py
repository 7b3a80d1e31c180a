"""The tables of `webdojo compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from webdojo.comparison import Comparison, Measured, Paired
from webdojo.view.tables import new_table

SHOWN = 10
"""Tasks that are named of those that were won, and of those that were lost."""


def comparison_tables(policies: Sequence[Measured], comparisons: Sequence[Comparison]) -> Iterator[RenderableType]:
    rows = []
    for policy in policies:
        rate, invalid = policy.rate, sum(not each.valid for each in policy.outcomes)
        low, high = rate.ci95
        rows.append([policy.name, f"{rate.rate:.1%}", f"{low:.1%} .. {high:.1%}", str(rate.n), str(invalid)])
    yield new_table("success", ["policy"], ["success", "95 % interval", "episodes", "invalid"], rows)
    rows = [
        [each.second, of, *_row(pair)]
        for each in comparisons
        for of, pair in (("all", each.official), ("valid", each.valid))
        if of == "all" or pair.n != each.official.n
    ]
    title = f"beside {policies[0].name}, on the episodes of the same tasks"
    numbers = ["episodes", "difference", "95 % interval", "won", "lost", "p (McNemar)"]
    yield new_table(title, ["policy", "of"], numbers, rows)
    for each in comparisons:
        if each.left_out:
            yield f"{each.second}: {each.left_out} episodes have no partner on the same task and are left out"
        for what, tasks in (("won", each.official.won), ("lost", each.official.lost)):
            if tasks:
                more = f" and {len(tasks) - SHOWN} more" if len(tasks) > SHOWN else ""
                yield f"{each.second} {what}: {', '.join(tasks[:SHOWN])}{more}"


def _row(pair: Paired) -> list[str]:
    low, high = pair.difference.ci95
    return [
        str(pair.n),
        f"{pair.difference.value:+.1%}",
        f"{low:+.1%} .. {high:+.1%}",
        str(len(pair.won)),
        str(len(pair.lost)),
        f"{pair.mcnemar_p:.2g}",
    ]
