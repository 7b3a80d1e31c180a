"""The tables of `webdojo compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from webdojo.evaluation.comparison import Comparison, Measured, Paired
from webdojo.progress import plural
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
    numbers = ["episodes", "difference", "95 % interval", "won", "lost", "p (McNemar)"]
    for each in comparisons:
        pairs = (("all", each.official), ("valid", each.valid))
        rows = [[of, *_row(pair)] for of, pair in pairs if of == "all" or pair.n != each.official.n]
        yield f"\n{each.second} against {policies[0].name}, on the same tasks"
        yield new_table("", ["of"], numbers, rows)
        if each.left_out:
            has = "has" if each.left_out == 1 else "have"
            yield f"{each.second}: {plural(each.left_out, 'episode')} {has} no partner on the same task, so left out"
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
