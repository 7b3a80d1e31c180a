"""What goes between an episode and a chat model, whatever the form of its messages: what it is shown, and its calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from webdojo.agent.openwebrl import describe
from webdojo.types import Feedback, Observation, ToolCall

NO_CALL = "no tool call; call at least one"
"""Why an answer without calls could not be carried out."""


def words(seen: Observation, said: str = "", first: bool = False) -> str:
    """What is said beside a screenshot: `said`, the state of the browser, and the page as text where it is seen so.

    Args:
        first: whether it is the first observation of the episode.
    """
    return "\n".join(filter(None, [said, describe(seen, first), seen.text]))


def read_calls(asked: Iterable[tuple[str, str]]) -> tuple[list[ToolCall], str]:
    """The calls of an answer up to the first that cannot be read, and why it cannot; an answer needs one at least.

    Args:
        asked: the name of each call and its arguments as JSON; empty arguments are none.
    """
    calls: list[ToolCall] = []
    for name, arguments in asked:
        try:
            calls.append(ToolCall(name=name, arguments=json.loads(arguments or "{}")))
        except ValueError as error:
            why = " ".join(str(error).split())
            return calls, f"tool call {len(calls) + 1}: its arguments are no JSON object: {why}"
    return calls, "" if calls else NO_CALL


def answers(asked: int, feedback: Sequence[Feedback], error: str) -> list[str]:
    """What each of so many calls is told, also those that were not carried out."""
    said = [each.text for each in feedback]
    return [*said, *[error or "not carried out"] * (asked - len(said))][:asked]
