"""Whether an answer says that a task cannot be done, and why.

Such an answer gives the reason and contains nothing that would be a result. It is read clause by clause, and at least
one clause has a denial (`cannot`, `there is no`, `sold out`). It may use any words, up to `_FREE_WORDS` beside those of
the question, of the reason and of `TALK`, but none that say a value or, where no denial takes it back, a success.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from webdojo.sites.answers.reading import FILLERS, HOST, PAGES, TALK, Reading, plain, texts_of, words_of
from webdojo.sites.answers.values import word_set

_DENIAL = re.compile(
    r"\b(?:cannot|can not|can't|could not|couldn't|unable|(?:is|are|was|were) not|isn't|aren't|wasn't|weren't"
    r"|not possible|impossible|(?:do|does|did) not|don't|doesn't|didn't|there's no|not available|not in stock|not found"
    r"|not offered|not listed|nonexistent|unavailable|sold out|out of stock|without (?:results?|success)|empty|missing"
    r"|(?:0|zero) (?:\w+ )?(?:results?|match(?:es)?|hits?|products?|items?|articles?|pages?|entries)"
    r"|no(?! (?:doubt|problems?|others?|more|further|need)\b)|none|neither|nor|nothing|absent"
    r"|failed to|fails?|not exist|not allowed|already|won't|will not)\b"
)
_FAILURE = re.compile(
    r"\b(?:impossible|unable|cannot|can not|can't|could not|couldn't|not able|not possible|isn't possible|failed"
    r"|failure|fails|gave up|give up|giving up|no way to|did not find|didn't find"
    r"|(?:not|n't) (?:allow|let|work|succeed|manage|exist|available|found|permitted|supported)\w*"
    r"|not (?:yet )?(?:been )?(?:done|finished|complete|completed)"
    r"|unfinished|incomplete|no such|there is no|there's no|nothing found|sold out|out of stock|don't know|do not know"
    r"|won't|will not|refuse|refused|skipped|still (?:need|have) to|ran out|run out|stuck|unsuccessful"
    r"|unsuccessfully|haven't|have not|never)\b"
)
_DOUBLE = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|never|hardly|no longer|cannot be|can't be)"
    r" (?:\w+ )?(?:impossible|sold out|unavailable|out of stock|nonexistent|unable)\b"
)
_CLAUSE = re.compile(
    r"[.,:;!?\n()]|\b(?:and|or|so|but|however|though|although|then|because|since|as|which|while|yet)\b|—| - |="
)
_FREE_WORDS = 20
_COUNTED = word_set("results result pages entries products items matches hits names things articles")
"""What an answer may count that looked for something."""
_VALUES = word_set("answer value price cost costs equals result =")
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_SPACES = re.compile(r"[ \t]+")
_HEDGES = word_set(
    "maybe perhaps possibly probably might may think guess unsure except unless instead besides anyway anyhow "
    "regardless nevertheless despite"
)
_SUCCESS = word_set(
    "done success successful successfully succeeded completed complete finished added bought purchased ordered booked "
    "reserved placed posted sent created deleted removed changed updated saved "
    "worked works managed went voted rated signed subscribed published scheduled archived"
)


def says_impossible(why: Sequence[str], answer: str, question: str, denies: bool = False) -> bool:
    """Whether an answer says so, and each phrase of `why`; with `denies` these say it by themselves: `sold out`."""
    said, text = texts_of(answer), _SPACES.sub(" ", _HYPHEN.sub(" ", HOST.sub(" ", plain(answer))))
    reasons, asked = [texts_of(phrase) for phrase in why], texts_of(question)
    if not all(set(said) >= set(reason) for reason in reasons):
        return False
    taken_back = _DOUBLE.search(text) or (denies and any(_within(("not", *reason), said) for reason in reasons))
    if taken_back or _within(asked, said) or not _HEDGES.isdisjoint(said):
        return False
    given = {word for reason in reasons for word in reason} | set(asked)
    allowed = (FILLERS | TALK | given) - _SUCCESS
    free, denied = 0, False
    for clause in _CLAUSE.split(PAGES.sub(" ", text)):
        denial, beside = _DENIAL.search(clause), list(texts_of(clause))
        for reason in reasons:
            shorter = _without(reason, beside)  # a reason may have a word of success in it: `fully booked`
            denied |= denies and len(shorter) < len(beside)
            beside = shorter
        unknown = [word for word in beside if word not in allowed]
        numbers = [at for at, word in enumerate(words_of(clause)) if word.number and word.text in unknown]
        if any(_COUNTED.isdisjoint(texts_of(clause)[at + 1 : at + 3]) for at in numbers):
            return False  # a number that counts nothing that was looked through
        if unknown and not _SUCCESS.isdisjoint(texts_of(clause if denial is None else clause[: denial.start()])):
            return False  # a success that no denial takes back: `added what is sold out`
        if unknown and denial is None and (len(unknown) == len(beside) or not _VALUES.isdisjoint(beside)):
            return False  # a value
        denied |= denial is not None
        free += len(unknown)
    return denied and free <= _FREE_WORDS


def gives_up(answer: str, question: str) -> bool:
    """Whether an answer says that its task was not done, in words that are not those of the task."""
    reading = Reading(answer, question)
    own = (
        text if reading.free[at] and not reading.repeats(at, at + 1) else "-" for at, text in enumerate(reading.texts)
    )
    return _FAILURE.search(" ".join(own)) is not None


def _within(phrase: Sequence[str], said: Sequence[str]) -> bool:
    return f" {' '.join(phrase)} " in f" {' '.join(said)} "


def _without(phrase: Sequence[str], said: Sequence[str]) -> list[str]:
    """The words that are left when a phrase is taken out; where it does not stand as one, its words one by one."""
    if not _within(phrase, said):
        return [word for word in said if word not in phrase] if set(phrase) <= set(said) else list(said)
    rest = f" {' '.join(said)} "
    while (shorter := rest.replace(f" {' '.join(phrase)} ", " ")) != rest:
        rest = shorter
    return rest.split()
