"""Tables of an answer, as lines of labels and values."""

from __future__ import annotations

import re

_RULE = re.compile(r"^\s*\|?[-:| ]*-{2,}[-:| ]*\|?\s*$")
"""The line under the head of a table."""


def as_pairs(answer: str) -> str:
    """An answer with each row of its tables as `head: cell; head: cell`, or `first: second` if rows are pairs."""
    lines = answer.split("\n")
    out: list[str] = []
    heads: list[str] = []
    for at, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if "|" in line else []
        if _RULE.match(line) and "|" in line:
            continue
        if cells and at + 1 < len(lines) and "|" in lines[at + 1] and _RULE.match(lines[at + 1]):
            heads = cells
            continue
        if not cells or len(cells) != len(heads):
            heads = heads if cells else []
            out.append(line)
        elif len(cells) == 2 and sum("|" in each for each in lines) > 3:
            of_page = cells[0].isdecimal() and heads[0].casefold() == "page"
            out.append(f"{'Page ' if of_page else ''}{cells[0]}: {cells[1]}")
        else:
            out.append("; ".join(f"{head}: {cell}" for head, cell in zip(heads, cells, strict=True) if cell))
    return "\n".join(out)
