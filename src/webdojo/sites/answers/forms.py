"""Answers that are no sentences: tables, boxes, records, and calls of a tool, such as `done(text="A")` and `stop [A]`.

An agent that ends with a call or a box gives its answer there. What labels set apart as its thought (`Thought: …`, then
`Action: …`) is none of it; other words before a box are, and must agree with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from webdojo.sites.answers.naming import without_marks

_REASONED = re.compile(
    r"\A\s*thoughts?\s*:.*^(?=[ \t]*(?:(?:final )?answer|action)\s*:)"
    r"|\A\s*let['’]s think step[- ]by[- ]step\b.*\bnext action I will perform is\s",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""What an agent thinks before its last action, as ReAct and WebArena have it."""
_BOX = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEXT = re.compile(r"\\text(?:bf|rm)?\s*\{([^{}]*)\}")
_HARMLESS = r"[\"'](?:success|successful|complete|completed|finished|done|ok|high|answer|finish)[\"']|true"
_STATUS = re.compile(
    r"[\"'](?:status|confidence|action|success|successful|done|complete|completed|finished|is_done|is_complete)[\"']"
    rf"\s*:\s*(?:{_HARMLESS}),?",
    re.IGNORECASE,
)
"""Fields of JSON that tell of no value."""
_QUOTED = r"(?P<quote>[\"'])(?P<quoted>.*)(?P=quote)"
_FLAG = r"(?:\s*,\s*(?:\w*(?:success|done|complete|finished)\w*\s*=\s*)?true)?"
_CALL = re.compile(
    rf"\A\s*(?:action\s*:\s*)?\w+\(\s*(?:\w+\s*=\s*)?{_QUOTED}{_FLAG}\s*\)\s*\Z", re.DOTALL | re.IGNORECASE
)
_ACTION = re.compile(r"\A\s*(?:action\s*:\s*)?(?:\w+(?P<gap> ?))\[(?P<said>[^\]]*)\]\s*\Z", re.IGNORECASE)
"""A call as WebArena and ReAct write it: `stop [A]`, `Action: finish[A]`."""
_ARGUMENTS = frozenset(("arguments", "args", "parameters"))
_OF_CALL = _ARGUMENTS | frozenset(("name", "function", "tool", "type", "id"))
"""Keys that the record of a call has."""
_ANSWERS = frozenset(("answer", "final_answer", "result", "response", "output"))
_OF_RUN = re.compile(
    r"(?:n_|num_|total_)?(?:steps?|actions|clicks|turns|tokens|seconds)(?:_taken|_used)?|(?:final_|current_|last_)?url"
    r"|(?:duration|elapsed|time_taken|runtime|latency)(?:_s|_ms|_seconds)?|timestamp|model|(?:run|task|session)_id"
)
"""Keys beside an answer that tell of the run by which it was found."""


def uncalled(text: str) -> str:
    """What an answer says without the call or box that it stands in, and without what only tells that all went well."""
    text = _REASONED.sub("", text)
    text = _BOX.sub(lambda box: _TEXT.sub(r"\1", box[1]), text)
    if call := _CALL.match(text):
        return re.sub(r"\\([\"'])", r"\1", call["quoted"])
    if action := _ACTION.match(text):
        return action["said"]
    return _STATUS.sub(" ", _of_answer(text))


def _of_answer(text: str) -> str:
    """The record that an answer is, without what its protocol adds; any other text as it is."""
    try:
        record = json.loads(text, object_pairs_hook=_without_protocol) if text.lstrip()[:1] in ("{", "[") else None
    except ValueError:
        return text
    return text if record is None else json.dumps(record, ensure_ascii=False)


def _without_protocol(pairs: list[tuple[str, Any]]) -> Any:
    """The arguments of a record that is a call, the words of one that is an error, or any other record without the type
    of its task, without errors, and without what is told of the run beside its answer.

    Raises:
        ValueError: A key stands twice, so that the record says two things.
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key stands twice")
    arguments = [record[key] for key in record.keys() & _ARGUMENTS]
    if len(arguments) == 1 and record.keys() <= _OF_CALL:
        return arguments[0]
    errors = [value for key, value in pairs if key.startswith("error") and value]
    if len(errors) == 1 and record.get("retrieved_data") is None and str(record.get("status")).endswith("_ERROR"):
        return errors[0]
    answers = not _ANSWERS.isdisjoint(record)
    return {
        key: value
        for key, value in pairs
        if key != "task_type"
        and not (key.startswith("error") and value is None)
        and not (answers and _OF_RUN.fullmatch(key))
    }


_RULE = re.compile(r"^\s*\|?[-:| ]*-{2,}[-:| ]*\|?\s*$")
"""The line under the head of a table."""
_TICKS = frozenset(mark + style for mark in "✅✓✔☑" for style in ("", "\ufe0f"))
_CROSSES = frozenset(mark + style for mark in "❌✗✘✖" for style in ("", "\ufe0f"))


def as_pairs(answer: str, names: Iterable[str] = ()) -> str:
    """An answer with each row of its tables as `head: cell; head: cell`, or `first: second` if rows are pairs.

    Where the heads are names, a row is `name: cell (first cell)`. A tick is what it ticks: `Higher: A`.
    """
    lines = answer.split("\n")
    known = {without_marks(name).casefold() for name in names}
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
        elif len(cells) > 2 and known.issuperset(map(str.casefold, heads[1:])):
            out.append(_by_column(heads, cells))
        else:
            out.append(_by_row(heads, cells, cells[0].casefold() in known))
    return "\n".join(out)


def _by_row(heads: list[str], cells: list[str], named: bool) -> str:
    pairs = [(head, cells[0] if named and cell in _TICKS else cell) for head, cell in zip(heads, cells, strict=True)]
    return "; ".join(f"{head}: {cell}" for head, cell in pairs if cell and cell not in _CROSSES)


def _by_column(heads: list[str], cells: list[str]) -> str:
    label = cells[0].rstrip(":")
    pairs = [(name, cell) for name, cell in zip(heads[1:], cells[1:], strict=True) if cell and cell not in _CROSSES]
    return "; ".join(f"{label}: {name}" if cell in _TICKS else f"{name}: {cell} ({label})" for name, cell in pairs)
