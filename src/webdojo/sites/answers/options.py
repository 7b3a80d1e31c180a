"""Answers that give the things that they compare letters or numbers, and then speak of `B` or of `option 2`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from webdojo.sites.answers.naming import without_marks

_LINE = re.compile(
    r"^(?P<mark>[ \t>*•-]*(?:\*\*)?\(?(?:(?P<kind>option|choice|candidate|item)[ ]+)?(?P<letter>[A-E]|[1-5])"
    r"(?:[.):]|\*\*|(?=[ ]*[(–—-]))+[ \t]*)(?P<rest>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_ALONE = r"(?=[ ]*(?:[.,;:!*)(\n–—=-]|$)|[ ](?i:is|has|was|wins)\b)"
"""What follows a letter that stands for an option, and is no word."""


def without_letters(answer: str, names: Iterable[str]) -> str:
    """An answer that calls each option by its name; `names` are what an option may be called.

    The options are lines that begin with `A`, `B` and so on, or with `Option 1`, `Option 2`, each with a name in it.
    """
    lines = [line for line in _LINE.finditer(answer) if line["kind"] or line["letter"].isalpha()]
    letters = [line["letter"].upper() for line in lines]
    if len(lines) < 2 or letters not in (["A", "B", "C", "D", "E"][: len(lines)], [*"12345"][: len(lines)]):
        return answer
    known = sorted(map(without_marks, names), key=len, reverse=True)
    called = [next((name for name in known if name.casefold() in line["rest"].casefold()), "") for line in lines]
    if len(set(called)) < len(lines) or not all(called):
        return answer
    name_of = dict(zip(letters, called, strict=True))
    kind = next((line["kind"] for line in lines if line["kind"]), "option")
    label = rf"{kind}[ ]+" if letters[0] == "1" else rf"(?:{kind}[ ]+)?"
    reference = re.compile(rf"(?<![\w'’.“\"])(?i:{label})\(?([{''.join(letters)}])(?:\)|\b){_ALONE}")
    out, end = [], 0
    for line in lines:
        out += [reference.sub(lambda each: name_of[each[1]], answer[end : line.start()]), line["rest"]]
        end = line.end()
    return "".join([*out, reference.sub(lambda each: name_of[each[1]], answer[end:])])
