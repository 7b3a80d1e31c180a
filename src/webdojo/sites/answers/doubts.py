"""Words by which an answer takes back what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from webdojo.sites.answers.figures import LIMITING
from webdojo.sites.answers.reading import FILLERS, TALK, Reading
from webdojo.sites.answers.values import word_set

DOUBTS = word_set(
    "allegedly almost alternatively another anything apparently appear appeared appears approx approximately aren't "
    "assume assumed assuming attention ballpark barely believe but can't cannot ceased circa conceivably contrary "
    "could couldn't didn't disregard doesn't don't doubt doubtful dubious either else elsewhere estimate estimated "
    "evaluator except excluded excluding failed false feel formerly grader guess guessed guessing hardly hopefully "
    "iffy ignore ignored imagine impossible incorrect instead instructions invented isn't judge lie likely may maybe "
    "memory might misread mistake mistaken nearly neither never no none nor not opposite or otherwise override perhaps "
    "placeholder possible possibly potentially presumably pretend previously probability probably questionable random "
    "randomly rather recall reckon remember reportedly roughly scratch seem seemed seemingly seems shaky should "
    "something somewhere success suppose supposedly supposing suspect tbd tentative tentatively think true typically "
    "typo unable uncertain unclear unconfirmed unknown unless unlike unlikely unsure until untrue unverified usually "
    "verdict wasn't weren't without won't wrong"
)
"""Words that take back what stands beside them, or that only speak to a judge."""
_VALUE = r"(?:-|@|[$€£]? ?\d)"
_HEARSAY = re.compile(
    r"\b(?:(?:some|many|most|people|others?|they|somebody|someone|everybody|everyone|(?:my|the) notes"
    r"|(?:a|my|your) (?:\w+ )?(?:friend|colleague|neighbour|guide|review|blog))"
    r" (?:also |often )?(?:says?|said|claims?|claimed|thinks?|believes?|told|tells?|report(?:s|ed)?)"
    r"|according to (?:a|an|my|some|someone|somebody|one|others?|reviews?|rumou?rs?|people)"
    r"|rumou?r(?:s|ed)?|hearsay|heard|hunch|gut|arguably|plausibl[ey]|speculat\w+|guesswork|unchecked"
    r"|let(?:'s| us)? say|(?:i|i'd|would) (?:bet|wager|expect|imagine)"
    r"|if (?!you\b|needed|necessary|so\b)\w+|correct me|i expected|i wonder"
    r"|(?:please|can you|someone) (?:confirm|verify|check)|(?:to be|to ?do) (?:verif|check|confirm)\w*"
    r"|needs? (?:to be )?(?:verif|check|confirm)\w*|ask (?:someone|somebody)"
    r"|(?:last|next) (?:year|month|week)|tomorrow|yesterday|back then|in the past|once was|so far"
    r"|is one of (?:the|these) (?:two|2)|in (?:some|any) order|depending|and (?:\w+ )?more|at the (?:latest|earliest)"
    r"|kidding|joking|of my knowledge|confidence|certainty|(?:grain|pinch) of salt|\d+ % (?:sure|certain)"
    r"|fingers crossed|let it be|supposed to|made (?:(?:it|this|that|them) )?up|best bet|hard to (?:say|tell)"
    r"|and then some|(?:is|are|was|were) ruled out|left out|out of (?:the question|date)|far from"
    r"|(?:turned|changed) (?:from|into)|which turned out|as far as"
    r"|stopped (?:\w+ )?(?:at|after|loading|working|responding)|(?:old|older|previous|outdated) (?:version|copy))\b"
    rf"|\b(?:(?:you|user) (?:said|suggested|guessed)|(?:kind|sort) of|example|eg|n a) (?:it is )?{_VALUE}"
)
"""Says by hearsay, as a bet, or of another time, what is to be found out here; or leaves it open."""
_EVERY = word_set("any all every everything anything nothing none")
"""Words from which `but` takes something out."""
_MOST_WORDS = 60
"""Words beside the value that an answer may have: talk is short."""


def doubted(reading: Reading, allowed: Sequence[str] = ()) -> bool:
    """Whether an answer takes back what it says, by other words than the allowed ones, or is too long."""
    left = reading.left()
    others = [at for at in left if reading.texts[at] not in reading.asked]
    for at in left:
        text = reading.texts[at]
        label = text.startswith("estimate") and "estimate" in reading.asked
        if text == "but" and not _EVERY.isdisjoint(reading.unexplained(max(0, at - 3), at)):
            return True
        fine = text in allowed and (text != "or" or not LIMITING.isdisjoint(reading.texts[at + 1 : at + 2]))
        if text in DOUBTS and not fine and not label and not _harmless(reading, at):
            return True
        if text == "used" and reading.texts[at + 1 : at + 3] == ("to", "be"):
            return True
    return hearsay(" ".join(reading.unexplained()), reading.asked) or len(others) > _MOST_WORDS


def hearsay(text: str, asked: Iterable[str]) -> bool:
    """Whether words that are not all of the question say something by hearsay, as a bet, or of another time."""
    known = frozenset(asked)
    return any(not known.issuperset(match[0].split()) for match in _HEARSAY.finditer(text))


def _harmless(reading: Reading, at: int) -> bool:
    """`No other …`, `I could see …`: words of doubt that take nothing back."""
    text, after = reading.texts[at], reading.texts[at + 1] if at + 1 < len(reading.texts) else ""
    if text.startswith("appear"):
        return after != "to"
    before = reading.texts[max(0, at - 6) : at]
    if text == "doubt":
        return not {"no", "without", "beyond"}.isdisjoint(before[-2:])
    if text == "without":
        return "doubt" in reading.texts[at + 1 : at + 3]
    if text == "anything":
        return after == "else" and not {"no", "nothing", "none", "nowhere"}.isdisjoint(before)
    if text == "none":
        return reading.texts[at + 1 : at + 4] in (("of", "them", "twice"), ("of", "these", "twice"))
    if text == "may":  # the month
        return after.isdecimal() or before[-1:] in (("in",), ("of",), ("for",), ("during",))
    if text == "or" and after in LIMITING:
        return reading.texts[at - 1] in reading.asked
    if text == "else" and before[-1:] in (("nothing",), ("anything",), ("none",)):
        return True
    if text == "but":  # something known follows
        end = next((n for n in range(at + 1, len(reading.words)) if re.search(r"[.;!?\n]", reading.words[n].gap)), None)
        rest = range(at + 1, end or len(reading.words))
        known = TALK | FILLERS | reading.asked
        said = {n for n in rest if not reading.free[n] or reading.words[n].number is not None}
        return bool(said) and all(
            n in said or not known.isdisjoint((text := reading.texts[n], f"{text}s")) for n in rest
        )
    return after in {
        "should": ("say", "tell", "answer", "report"),
        "no": (
            "other",
            "others",
            "more",
            "less",
            "fewer",
            "further",
            "additional",
            "doubt",
            "worries",
            "problem",
            "trouble",
        ),
        "nothing": ("else", "more"),
        "either": ("of",),
        "might": ("expect",),
        "could": ("find", "see", "read", "confirm", "verify", "check"),
    }.get(text, ())
