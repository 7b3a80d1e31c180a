"""The answer that a task cannot be done: it says so, gives the reason, and contains nothing that would be a result.

An answer is read clause by clause. A clause with a denial (`cannot`, `there is no`, `sold out`) may
use any words, up to `_FREE_WORDS` in all. Any other clause may only say how the agent looked (`I
searched the whole shop`), in words of the question, of the reason, or of `_TALK`; so a value, a success or
another offer stands out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from webdojo.sites.verdict.tokens import FILLERS, as_number, plain, tokens, within, without, word_set

_DENIAL = re.compile(
    r"\b(?:cannot|can not|can't|could not|couldn't|unable|(?:is|are|was|were) not|isn't|aren't|wasn't|weren't"
    r"|not possible|impossible|(?:do|does|did) not|don't|doesn't|didn't|there (?:is|are|was|were) no|there's no"
    r"|no (?:such|results?|match(?:es)?|matching|products?|items?|articles?|pages?)"
    r"|not available|not in stock|not found|not offered|not listed|nonexistent|unavailable|sold out|out of stock"
    r"|no longer)\b"
)
_DOUBLE = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|never|hardly|no longer|cannot be|can't be)"
    r" (?:\w+ )?(?:impossible|sold out|unavailable|out of stock|nonexistent|unable)\b"
)
_CLAUSE = re.compile(
    r"[.,:;!?\n()]|\b(?:and|or|so|but|however|though|although|then|because|since|as|which|while|yet)\b|—| - |="
)
_FREE_WORDS = 12
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_SPACES = re.compile(r"[ \t]+")
_HEDGES = word_set(
    "maybe perhaps possibly probably might may think guess seems unsure either except unless otherwise instead besides "
    "only other"
)
_SUCCESS = word_set(
    "done success successful successfully succeeded completed complete finished added bought purchased ordered booked "
    "reserved placed posted sent created deleted removed changed updated saved"
)
_TALK = word_set(
    "i we you this that there here after when was were be been being have had do did on by with from all any every "
    "each whole entire both my your our their task request item items product products article articles page pages "
    "list lists result results search searched searching looked look looking checked check checking went through "
    "find found see saw seen show shows shown shop store site website wiki category categories currently now still "
    "unfortunately sorry sadly reason therefore thus said says say one ones thing things exist exists stock"
)


def says_impossible(why: Sequence[str | Sequence[str]], answer: str, question: str) -> bool:
    """Whether an answer refuses for the right reason.

    Args:
        why: phrases that it has to say; a sequence of phrases asks for one of them.
    """
    said, text = tokens(answer), _SPACES.sub(" ", _HYPHEN.sub(" ", plain(answer)))
    reasons = [[tokens(phrase) for phrase in ([each] if isinstance(each, str) else each)] for each in why]
    if not all(any(within(phrase, said) for phrase in phrases) for phrases in reasons):
        return False
    asked = tokens(question)
    if within(asked, said) or not _HEDGES.isdisjoint(said) or _DOUBLE.search(text):
        return False
    given = {token for phrases in reasons for phrase in phrases for token in phrase} | set(asked)
    if any(as_number(token) is not None and token not in given for token in said):
        return False
    clauses = _CLAUSE.split(text)
    denials = [_DENIAL.search(clause) for clause in clauses]
    allowed = (FILLERS | _TALK | given) - _SUCCESS
    free = 0
    for clause, denial in zip(clauses, denials, strict=True):
        beside = tokens(clause)
        for phrase in (phrase for phrases in reasons for phrase in phrases):
            beside = without(phrase, beside)  # a reason may have a word of success in it: `fully booked`
        unknown = [token for token in beside if token not in allowed]
        if unknown and (denial is None or not _SUCCESS.isdisjoint(tokens(clause[: denial.start()]))):
            return False  # a value, or a success that no denial takes back: `added what is sold out`
        free += len(unknown)
    return any(denials) and free <= _FREE_WORDS
