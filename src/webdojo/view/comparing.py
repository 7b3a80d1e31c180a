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
    for policy in policies:
        if not policy.finished:
            yield f"{policy.name} has not finished: these are the episodes that it has"
    numbers = ["episodes", "difference", "95 % interval", "won", "lost", "p (McNemar)"]
    for each in comparisons:
        pairs = (("all", each.official), ("valid", each.valid))
        rows = [[of, *_row(pair)] for of, pair in pairs if of == "all" or pair.n != each.official.n]
        yield f"\n{each.second} against {policies[0].name}, on the same tasks"
        yield new_table("", ["of"], numbers, rows)
        yield _verdict(each)
        if each.left_out:
            yield f"left out: {plural(each.left_out, 'episode')} of tasks, or runs of a task, that only one of both has"
        for key, (one, other) in each.differs.items():
            yield f"not measured alike: {key} is {other} in {each.second}, not {one}"
        for what, tasks in (("won", each.official.won), ("lost", each.official.lost)):
            if tasks:
                more = f" and {len(tasks) - SHOWN} more" if len(tasks) > SHOWN else ""
                yield f"{each.second} {what}: {', '.join(tasks[:SHOWN])}{more}"


def _verdict(found: Comparison) -> str:
    low, high = found.official.difference.ci95
    if low <= 0 <= high:
        tasks = plural(len({*found.official.won, *found.official.lost}), "task")
        return f"no difference is shown: {tasks} came out differently; the true one may be {low:+.0%} to {high:+.0%}"
    better, worse = (found.second, found.first) if low > 0 else (found.first, found.second)
    return f"{better} is better than {worse} on these tasks"


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
