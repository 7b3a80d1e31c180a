"""Does any part of webdojo grow faster than its work?

    python benchmarks/growth.py [--cases sessions turns …] [--repeats 3]

Each case (`growth_cases.py`) is measured at sizes from small to larger than anyone needs, each size in a process of its
own. Of the logarithms of time and memory against that of the size a line is fitted: its slope is the exponent, 1 where
twice the work takes twice as much. `interval` is its 95 % interval (Student's t), and `last_exponent` the slope between
the two largest sizes, which what every size costs alike cannot hide. `results/growth.svg` draws them.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from growth_cases import CASES, median_of
from record import RESULTS, Part, record

from webdojo.progress import progress
from webdojo.view.plots import library

STUDENT = {1: 12.706, 2: 4.303, 3: 3.182}
"""Quantiles 0.975 of the t distribution by degrees of freedom."""
LEAST_BYTES = 2**20
"""Of a process; less is not told apart from none."""
EXACT = "record"
"""The case whose bytes are counted, not measured."""


def exponent(sizes: Sequence[int], values: Sequence[float]) -> tuple[float, float]:
    """The slope of the logarithms, and half the width of its 95 % interval."""
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    middle, mean = sum(x) / len(x), sum(y) / len(y)
    spread = sum((each - middle) ** 2 for each in x)
    slope = sum((a - middle) * (b - mean) for a, b in zip(x, y, strict=True)) / spread
    left = sum((b - mean - slope * (a - middle)) ** 2 for a, b in zip(x, y, strict=True))
    freedom = len(x) - 2
    return slope, STUDENT[freedom] * math.sqrt(left / freedom / spread)


def summary(name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The exponents of a case from what its sizes took."""
    sizes = [row["size"] for row in rows]
    found: dict[str, Any] = {"case": name, "measure": "exponents"}
    for what, least in (("seconds", 1e-6), ("bytes", 1 if name == EXACT else LEAST_BYTES)):
        values = [max(row[what], least) for row in rows]
        slope, half = exponent(sizes, values)
        (a, b), (m, n) = list(pairwise(sizes))[-1], list(pairwise(values))[-1]
        found[what] = round(slope, 3)
        found[f"interval_{what}"] = [round(slope - half, 3), round(slope + half, 3)]
        found[f"last_exponent_{what}"] = round(math.log(n / m) / math.log(b / a), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    part = Part("growth")
    rows = part.entries()
    done = {(row["case"], row["size"]) for row in rows}
    left = [(name, size) for name in options.cases for size in CASES[name][1] if (name, size) not in done]
    with progress("sizes", len(left)) as bar:
        for name, size in left:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found, seconds = pool.apply(median_of, (name, size, options.repeats))
            row = {"case": name, "measure": "size", "size": size, "seconds": found.seconds, "bytes": found.bytes}
            rows.append(row | {"repeats": seconds})
            part.add(rows[-1])
            bar.advance(1)
    by_case = {name: sorted((row for row in rows if row["case"] == name), key=_size) for name in options.cases}
    exponents = [summary(name, each) for name, each in by_case.items()]
    headline = {f"exponent_{each['case']}_{what}": each[what] for each in exponents for what in ("seconds", "bytes")}
    _draw(by_case)
    record("growth", headline, [*exponents, *rows])
    part.end()


def _size(row: dict[str, Any]) -> int:
    return int(row["size"])


def _draw(by_case: dict[str, list[dict[str, Any]]]) -> None:
    """Time and memory of each case against the size, beside the line of what grows as its work does."""
    matplotlib = library()
    figure = matplotlib.figure.Figure(figsize=(10, 4.2), layout="constrained")
    for axes, what in zip(figure.subplots(1, 2), ("seconds", "bytes"), strict=True):
        for name, rows in by_case.items():
            times = [row["size"] / rows[0]["size"] for row in rows]
            first = max(rows[0][what], LEAST_BYTES if what == "bytes" and name != EXACT else 0)
            axes.plot(times, [row[what] / first for row in rows], "o-", label=name, markersize=3)
        axes.plot([1, 1e3], [1, 1e3], "k--", linewidth=0.8, label="exponent 1")
        axes.set(
            xscale="log", yscale="log", xlabel="times the smallest size", ylabel=f"times its {what}", ylim=(0.3, 3e3)
        )
        axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(RESULTS / "growth.svg")


if __name__ == "__main__":
    main()
