"""Answers that are no sentences: tables, and calls of a tool, such as `done(text="A")`, `stop [A]` and JSON."""

from __future__ import annotations

import re

_HARMLESS = r"[\"'](?:success|successful|complete|completed|done|ok|high|answer|finish)[\"']|true"
_STATUS = re.compile(
    r"[\"'](?:status|confidence|action|success|successful|done|complete|completed|finished|is_done|is_complete)[\"']"
    rf"\s*:\s*(?:{_HARMLESS}),?",
    re.IGNORECASE,
)
"""Fields of JSON that tell of no value."""
_QUOTED = r"(?P<quote>[\"'])(?P<quoted>.*)(?P=quote)"
_FLAG = r"(?:\s*,\s*(?:\w*(?:success|done|complete|finished)\w*\s*=\s*)?true)?"
_CALL = re.compile(rf"\A\s*\w+\(\s*(?:\w+\s*=\s*)?{_QUOTED}{_FLAG}\s*\)\s*\Z", re.DOTALL | re.IGNORECASE)
_ACTION = re.compile(r"\A\s*(?:action\s*:\s*)?(?:\w+(?P<gap> ?))\[(?P<said>[^\]]*)\]\s*\Z", re.IGNORECASE)
"""A call as WebArena and ReAct write it: `stop [A]`, `Action: finish[A]`."""


def uncalled(text: str) -> str:
    """What an answer says without the call that it stands in, and without fields that say that all went well."""
    if call := _CALL.match(text):
        return call["quoted"]
    if action := _ACTION.match(text):
        return action["said"]
    return _STATUS.sub(" ", text)


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
