"""What wordings are made of: an answer in short, in a sentence, and its numbers and dates in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from fairness_classes.asked import Answer
from webdojo.sites.content.words import single

_ONES = single(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = single("zero ten twenty thirty forty fifty sixty seventy eighty ninety")


def in_words(number: int) -> str:
    """A number below 1000 in words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")
    rest = f" and {in_words(number % 100)}" if number % 100 else ""
    return f"{_ONES[number // 100]} hundred{rest}"


def joined(names: Sequence[str], last: str = " and ") -> str:
    """Names in a row: `A, B and C`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}{last}{names[-1]}"


def only_names(said: Answer) -> list[str]:
    return [name for name, _ in said.names]


def short(said: Answer) -> str:
    """The answer without a sentence around it."""
    match said.sort:
        case "higher":
            return said.value if said.number is not None else said.two[0][0]
        case "most":
            return said.two[0][0]
        case "names":
            return ", ".join(only_names(said))
        case "count":
            return str(said.number)
        case "missing":
            return f"There is no {said.thing} on this site"
        case "refused":
            return f"It cannot be done: {said.thing} is {said.reason}"
    return said.value


def sentence(said: Answer) -> str:
    """The answer in a plain sentence, without a full stop."""
    match said.sort:
        case "higher" if said.number is not None:
            return f"The higher {said.called} is {said.value}"
        case "higher":
            return f"{said.two[0][0]} has the higher {said.called}"
        case "most":
            return f"{said.two[0][0]} had the highest {said.called}"
        case "names":
            return (
                f"The {said.called} are {joined(only_names(said))}" if len(said.names) > 1 else f"It is {short(said)}"
            )
        case "count":
            return f"There {'is' if said.number == 1 else 'are'} {said.number} {said.called}"
        case "value":
            return f"The {said.called} of {said.thing} is {said.value}"
    return short(said)


def day_of(said: Answer) -> date:
    return date.fromisoformat(said.day)


def within(text: str) -> str:
    """A sentence as it stands behind other words."""
    return text[0].lower() + text[1:] if text.startswith(("The ", "There ", "It ")) else text


def two_of(said: Answer) -> tuple[str, str, str, str] | None:
    """Name and value of the higher, name and value of the other; None where the number is asked for."""
    if said.number is not None:
        return None
    (one, high), (other, low) = said.two
    return one, high, other, low


def number_of(said: Answer) -> int:
    """The number that an answer is."""
    assert said.number is not None
    return said.number


def number_in(said: Answer, *units: str) -> int | None:
    """The number of a value with one of these units."""
    return said.number if said.number is not None and said.unit in units and not said.year else None
