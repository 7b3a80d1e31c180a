"""Answers that are calls of a tool, as models write them: `done(text="A", success=True)`, `stop [A]`, JSON."""

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
