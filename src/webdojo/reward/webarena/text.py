"""Rules for texts: an agent's answer, or what a locator has found in a page."""

from __future__ import annotations

import re

from webdojo.errors import TaskError
from webdojo.reward.webarena.rules import Rules
from webdojo.reward.webarena.spec import OR, ExactMatch, MustExclude, MustInclude, OneOf, RequiredValues
from webdojo.reward.webarena.words import words

TextCheck = ExactMatch | MustInclude | MustExclude | OneOf | RequiredValues
"""The checks that need no grader."""

_TOLERANCE = 1e-8
_CONDITION = re.compile(r"\s*(<=|>=|==|<|>)\s*(\S+)\s*")


def clean(text: str, rules: Rules) -> str:
    """A text without white space around it, one pair of quotes, and capital letters."""
    if not rules.strict_lite:
        text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            text = text[1:-1]
            break
    return text.lower()


def matches(check: TextCheck, text: str, rules: Rules, *, answer: bool) -> bool:
    """Whether a check holds of a text; `answer` says that it is the agent's, and not one of a page."""
    if answer:
        text = clean(text, rules)  # the published rules clean an answer twice
    match check:
        case ExactMatch():
            return clean(text, rules) == clean(check.reference, rules)
        case MustInclude():
            alternatives = rules.lite or not answer or not rules.strict_compat
            alone = answer and len(check.references) == 1
            return all(
                any(
                    includes(text, each, rules, alone)
                    for each in (reference.split(OR) if alternatives else [reference])
                )
                for reference in check.references
            )
        case MustExclude():
            return not any(includes(text, each, rules, slashes=False) for each in check.references)
        case OneOf():
            return any(clean(each, rules) in text for each in check.references)
        case RequiredValues():
            number = read_number(text, rules)
            return number is not None and all(
                any(holds(number, each, rules) for each in condition.split(OR)) for condition in check.conditions
            )


def includes(text: str, reference: str, rules: Rules, alone: bool = False, slashes: bool = True) -> bool:
    """Whether a text has a reference in it: as a word of its own where it is short, else anywhere.

    Short is a reference of one word in WebArena-Lite, and in WebArena one of a single character that is `alone`.
    `slashes` says that what stands around one is a word too.
    """
    text, reference = clean(text, rules), clean(reference, rules)
    short = len(words(reference)) == 1 and (rules.lite or (alone and len(reference) == 1))
    if not short:
        return reference in text
    found = words(text)
    if rules.lite and slashes:
        found += [part for word in found if "/" in word for part in word.split("/")]
    if not rules.strict_compat:
        found += [word.rstrip(".,;:!?") for word in found]
    return reference in found


def read_number(text: str, rules: Rules) -> float | None:
    """The number that a text is, with commas between thousands; None where it is none."""
    bare = text.strip().replace(",", "")
    try:
        return int(bare) if rules.strict_compat else float(bare)
    except ValueError:
        return None


def holds(number: float, condition: str, rules: Rules) -> bool:
    """Whether a number fulfils a condition such as `< 700`."""
    found = _CONDITION.fullmatch(condition)
    bound = read_number(found[2], rules.model_copy(update={"strict_compat": False})) if found else None
    if found is None or bound is None:
        raise TaskError(f"required_values has the condition {condition!r}; write one such as '>= 300'")
    slack = _TOLERANCE if rules.strict_compat else -_TOLERANCE
    match found[1]:
        case "<=":
            return number <= bound + _TOLERANCE
        case ">=":
            return number >= bound - _TOLERANCE
        case "<":
            return number < bound + slack
        case ">":
            return number > bound - slack
    return abs(number - bound) <= _TOLERANCE
