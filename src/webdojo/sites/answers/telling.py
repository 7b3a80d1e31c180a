"""What an answer finally tells.

An answer is read without what it only thinks (`<think>`), repeats of the question, courtesies, questions, and what it
takes back: of `A — no, wait, B` and of `~~A~~ B` there remains `B`. Names keep no punctuation, so that they end no
sentence and ask nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from webdojo.sites.answers.figures import without_rounded
from webdojo.sites.answers.forms import uncalled
from webdojo.sites.answers.naming import without_marks

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:(?:final_?)?answer|final|tool_call|result|response|output"
    r"|b|i|u|em|strong|code|br|p|div|span|ul|ol|li|h\d) ?/?>"
    r"|```(?:\w+(?=\s*[\n{\[]))?|\A\s*json\b:?(?=\s*[{\[])",
    re.IGNORECASE,
)
"""Marks of HTML and of blocks of code."""
_STRUCK = re.compile(r"~~.*?~~|<(del|s|strike)>.*?</\1>", re.DOTALL)
_CLOSING = re.compile(
    r"(?:\b(?:please )?(?:let me know|feel free|hope (?:this|that) helps|i hope|happy to help)\b[^.!?\n]*[.!?]*\s*)+$",
    re.IGNORECASE,
)
"""The courtesies at the end of an answer."""
_SALUTATION = re.compile(
    r"\A\s*(?:dear|hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))\b(?: [^\W\d]+){0,4}[ \t]*[,!:.]\s+",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(
    r"(?:^|(?<=[.!?]) )[ \t]*(?:(?:with )?(?:best|kind|kindest|warm|warmest|many) (?:regards|wishes|thanks)|regards"
    r"|sincerely|yours(?: \w+)?|cheers|thanks|thank you)[,.!]?(?:\s+[^\W\d]+){0,4}[.!]?\s*\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""What a letter begins and ends with."""
_NOTE = re.compile(
    r"^[ \t]*(?:\[\^?\w{1,3}\]|\(?\d{1,2}[.):]|\d{1,2}(?= )|[¹²³⁴-⁹]|[*†])[ \t]*:?[ \t]*(?=<?https?://)", re.MULTILINE
)
"""The mark of a footnote that gives a source."""
_BACK = re.compile(
    r"\b(?:you|your|shall i|should i|need|want|can i help|may i help|anything else|what else)\b", re.IGNORECASE
)
"""What a question back to the person has."""
_ASIDE = re.compile(
    r"\b100 ?% (?:sure|certain|confident|positive)\b|\bstep \d{1,2}\b"
    r"|\b(?:confidence|certainty)(?: level| score)?[\"']?(?:: ?| is |,? )[\"']?(?:very )?"
    r"(?:high\b|(?:[6-9]\d|100|0?\.[6-9]\d*|1\.0)\b ?%?)"
    r"|\b(?:with |very |a )*(?:with|high|full|complete|total|absolute|great) (?:confidence|certainty)\b"
    r"|\[\d{1,2}\]\(https?://[^)\s]*\)|(?<=[\w.)!?”\"]) ?\[\^?\d{1,2}\](?!\()|(?<=[.)!?”\"])[¹²³⁴-⁹]"
    r"|^ *\[\^?\d{1,2}\](?::|(?= +\S))",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers that belong to no value: of steps, of references, and of how sure an agent is."""
_PLACE = re.compile(
    r"\b(?:in|at|on)? ?(?:the )?(?:(?:number|no\.|nr\.|entry|item|place|line|row|position) ?#?|#)\d+"
    r" (?:in|of|on) (?:the|this|its) (?:\w+ )?(?:list|table|page|results?|ranking)\b",
    re.IGNORECASE,
)
"""Where something stands in a list, which is none of its values."""
_RESTATED = re.compile(
    r"\b(?:task|question|instruction|request)[\"']?(?: was| is)?:.*?"
    r"(?=\b(?:the |my )?(?:final )?answer[\"']?(?: is\b| was\b|\s*[:=]))",
    re.IGNORECASE | re.DOTALL,
)
"""A question that is told again before its answer: `The task was: …`."""
_EXACTLY = re.compile(r"\bno more(?:,| and|, and) no (?:less|fewer)(?: than)?\b", re.IGNORECASE)
_CLAUSE = r"(?:[^.;!?\n()]|\.(?=\d))*"
_MIX_UP = re.compile(rf"[,;(—–-]?\s*\bnot to be (?:confused|mixed up) with\b{_CLAUSE}\)?", re.IGNORECASE)
"""What an answer is told apart from."""
_MAY_CHANGE = re.compile(
    r"(?<![^\W\d_] )(?:please )?(?:note|be aware|keep in mind|remember) that (?:this|it|these|they|the site)"
    r"(?: \w+)? (?:may|might|can|could) (?:always )?(?:change|be (?:changed|updated))\b[^.!?\n\d]*[.!?]*",
    re.IGNORECASE,
)
"""A note that another day may bring another answer."""
_RUN = re.compile(
    r"\b(?:(?:it|this|that) (?:only |just )?took(?: me)?|(?:i )?(?:needed|used)"
    r"|(?:(?:finished|done|completed|found|solved)(?: it| this)?,? )?(?:after|in|within)) (?:only |just )?\d{1,3}"
    r" (?:steps?|actions?|clicks?|turns?|page (?:views|visits))\b(?: to (?:find|see|get|do) (?:it|this|that)\b)?",
    re.IGNORECASE,
)
"""How long a run was."""
_CORRECTION = re.compile(
    r"\b(?:no,? wait|wait,? (?:no|actually)|scratch that|strike that|correction(?=[:,.])"
    r"|(?:(?<![^\W\d_] )|(?<=\boh )|(?<=\bbut )|(?<=\bhm ))wait(?=[,.:!…—–])"  # not the `usual wait`
    r"|i mean(?:t)?|make that|on second thoughts?|i stand corrected|my mistake|oops"
    r"|(?:that|this|it|which) was (?:a|my) mistake(?=\W+\w))\b"
    r"|(?:[.;!?\n,—–]|\s-)\s*(?:actually,|no(?=[,;:]|\s*[—–]))",
    re.IGNORECASE,
)
"""What takes back all before it."""
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?![.!?]*[\"'”’)\]}]*(?:\s|$))[^.!?\n]*)*(?:[.!?]+[\"'”’)\]}]*|\n|$)")
_ASKS = re.compile(r"\?[\"'”’)\]}]*$")
QUOTED = re.compile(r"“([^”]+)”")
_ASKS_IN_HEAD = re.compile(r"(?<=\w)\?(?=[ \t]*\|)")
"""Ends the head of a row or column, which asks nothing: `| Higher? | ✅ |`."""
_MATH = re.compile(r"\$\$?(?=[^$\n]*[=\\])([^$\n]+)\$\$?(?!\s?\d)")
"""A formula of LaTeX in a text."""
_LEAST = 3
"""Words from which a question may be repeated as a whole."""


def told(answer: str, question: str, names: Iterable[str] = (), asks_back: bool = False) -> str:
    """What an answer finally tells; nothing where it ends with a question.

    Args:
        answer: as it was given.
        question: the instruction that it answers.
        names: what may be named in it, with any punctuation, besides what the question quotes.
        asks_back: any question may follow the answer, and not only one to the person, such as `Shall I book it?`.
    """
    text = _STRUCK.sub(" ", _TAG.sub("\n", _THOUGHT.sub("\n", answer)))
    names = tuple(names)
    text = uncalled(_MATH.sub(r" \1 ", text))
    asked = question.strip().rstrip(".?!")
    if len(asked.split()) >= _LEAST:
        text = re.sub(rf"{re.escape(asked)}[.?!]*", " … ", text, flags=re.IGNORECASE)
    text = _RESTATED.sub(" ", text)
    text = _unmarked(
        text, frozenset(name for name in (*names, *QUOTED.findall(question)) if without_marks(name) != name)
    )
    text = _without_signature(_SALUTATION.sub("", text), names)
    text = _ASIDE.sub(" ", _NOTE.sub("", _CLOSING.sub("", text.strip()))).strip()
    text = _ASKS_IN_HEAD.sub("", _EXACTLY.sub("exactly", text))
    if not any(word in question.casefold() for word in ("step", "click", "turn", "action")):
        text = _RUN.sub(" ", text)
    text = _MAY_CHANGE.sub(" ", _MIX_UP.sub(" ", _PLACE.sub(" ", without_rounded(text))))
    if "star" in question:
        text = re.sub(r"[★⭐]+", lambda match: f" {len(match[0])} stars ", text)
        text = re.sub(r"(?<=\b[0-5])(?: out of | ?/ ?)5(?: stars)?\b", " stars", text)
    parts = [part for part in _CORRECTION.split(text) if re.search(r"\w", part)]
    return _unasked(parts[-1] if parts else "", asks_back)


def _without_signature(text: str, names: Iterable[str]) -> str:
    """A text without its signature; a title that begins like one is none: `Thank you for the garden party`."""
    begins = tuple(f"{without_marks(name).casefold()} " for name in names)

    def kept(end: re.Match[str]) -> str:
        return end[0] if f"{without_marks(end[0]).strip().casefold()} ".startswith(begins) else ""

    return _SIGNATURE.sub(kept, text)


def _unasked(text: str, asks_back: bool) -> str:
    """A text without its questions; nothing if it ends with one that asks whether it is right."""
    sentences = _SENTENCE.findall(text.strip())
    while sentences and not asks_back and (not sentences[-1].strip() or _ASKS.search(sentences[-1].rstrip())):
        if (asked := sentences.pop().strip()) and not _BACK.search(asked):
            return ""
    return "".join(sentence for sentence in sentences if not _ASKS.search(sentence.rstrip())).strip()


def _unmarked(text: str, names: frozenset[str]) -> str:
    """A text with its names without punctuation; one that a new sentence follows ends one."""

    def plain(match: re.Match[str]) -> str:
        goes_on = not re.match(r"\s+[\"“(]?[A-Z]", text[match.end() :])
        return without_marks(match[0]) + ("" if goes_on or match[0][-1].isalnum() else ".")

    return _pattern(names).sub(plain, text) if names else text


@lru_cache(maxsize=256)
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)), re.IGNORECASE)
