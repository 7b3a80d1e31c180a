"""Whether an answer says that nothing has a name, or that something cannot be done, and why.

An answer is read clause by clause, with names, and what else the question has in quotation marks, as one word each,
because they may have any words in them. It is right if one clause says it and nothing says otherwise:

- a success that no denial takes back (`I posted it`), or that the thing is there (`I found the page`);
- another reason (`the page did not load`), or a doubt;
- a value, a number of anything but of what was looked through, or more than `_FREE_WORDS` words of something else.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Set
from dataclasses import dataclass

from webdojo.sites.answers.doubts import hearsay
from webdojo.sites.answers.reading import FILLERS, PAGES, TALK, Reading, texts_of
from webdojo.sites.answers.telling import QUOTED
from webdojo.sites.answers.values import word_set

_NAME, _QUOTE, _RIVAL = "§", "¶", "¤"
"""What stands for a name, for other words that the question quotes, and for the name of something else."""
_NOT = (
    r"(?:not|no|never|nor|neither|none|nothing|without|cannot|(?:ca|could|did|does|do|is|are|was|were|wo|has|have)n'?t"
    r"|unable|impossible|infeasible|unavailable|missing|absent|nonexistent|lacks?|fail(?:s|ed|ure)?)"
)
_DENIAL = re.compile(rf"\b{_NOT}\b(?! (?:doubt|need|problems?)\b)")
_THINGS = (
    r"(?:results?|match(?:es)?|hits?|entr(?:y|ies)|success|items?|articles?|threads?|messages?|issues?|products?|places?"
    r"|services?|flights?|hotels?|contacts?|users?|pages?)"
)
_ABSENT = re.compile(
    r"\bno\b(?!$| (?:doubt|need|problems?|time|chance|one|others?|more|further|reservation|booking|comment|action"
    r"|change|answer|idea)\b)"
    r"|(?<!did )\bnothing\b(?! (?:wrong|but|to|about|was|has)\b)"
    r"|\b(?:none|nowhere|nonexistent|absent|missing|unavailable|lacks)\b"
    rf"|\b(?:zero|0|without|empty) (?:\w+ )?{_THINGS}\b|\b{_THINGS} (?:0|zero)\b"
    rf"|\bthere {_NOT}\b|\b{_NOT} (?:a|any|one)\b|\b(?:found|exists?|opened) (?:false|null|no|none)\b"
    rf"|\b{_NOT} (?:[\w§¶]+ ){{0,4}}?(?:exist\w*|found|find\w*|locate\w*|see|seen|discover\w*|listed|available|offered"
    r"|there|here|present|in|on|among|part|anywhere|appear\w*|turn\w*|come|came|show\w*|have|has|contain\w*|match\w*)\b"
)
"""Says that something is not there."""
_OF_RIVAL = re.compile(
    rf"\bno (?:(?!other|but|than|except|match|result)\w+ ){{0,2}}{_RIVAL}|^{_RIVAL} (?:\w+ )?{_NOT}\b"
    rf"|\b{_NOT} (?:\w+ ){{0,2}}?(?:find|found|locate|see|seen|discover) {_RIVAL}"
)
"""Says that something else is not there."""
_THERE_INSTEAD = re.compile(
    r"\b(?:only|closest|nearest|similar|instead|shows?|gives?|brings?|returns?|lists?|has|have|found|saw|see|through"
    r"|including|there (?:is|are))\b"
)
"""Says, without a denial, that something else is there."""
_REFERS = re.compile(r"\bsuch\b|\b(?:this|that) (?:exact )?(?:headline|name|subject|title)\b")
"""Speaks of what was named before."""
_PAGE = (
    r"(?:(?:the|its|that|this|your|a) )*"
    rf"(?:page|article|thread|message|mail|place|hotel|flight|service|product|it|{_NAME})"
)
_THERE = re.compile(
    rf"\b(?:found|opened|reached|visited|loaded|went to|navigated to|here is|here's|there is|there's) {_PAGE}(?!\w)"
    r"(?! (?:list|lists|results|search|section|index|\w+ search)\b)"
    rf"|(?:^|\b(?:page|it|that|this|thread|article|message) |{_NAME} )(?:(?:was|is|does) )?(?:now |already )?"
    r"(?:found|open|opened|exists?|loaded|shown)\b(?! (?:false|null|no|none|the|a|an)\b)"
    rf"|(?:\b(?:page|it|that|this|thread|article|message)|{_NAME}) (?:is|seems to be|appears to be) "
    r"(?:there|in|on|listed)\b"
)
"""Says that it is there."""
_DID = re.compile(
    r"\bi did (?:it|so|that|this)\b"
    rf"|\bi (?:have |then |also |now )?(?:left|put|gave|set (?:it|{_NAME}))\b|\bis now\b|\bnow (?:has|is)\b"
    r"|\bis (?:still )?available\b|\bi used (?!the\b|its\b|search)"
)
_SUCCESS = word_set(
    "done success successful successfully succeeded completed complete finished added bought purchased ordered booked "
    "reserved placed posted sent created deleted removed changed updated saved accepted confirmed registered marked "
    "worked works managed voted rated signed subscribed published scheduled archived commented watched starred"
)
_REASONS = word_set(
    "locked protected closed sold booked suspended archived archive login log logged password permission permissions "
    "denied restricted private banned load loaded loading timeout broken crash crashed popup blocked captcha click "
    "seats expired offline error errors server slow"
)
"""Words of reasons; those of another than the right one contradict it."""
_HEDGES = word_set(
    "maybe perhaps possibly probably might may think guess unsure except unless instead besides anyway anyhow another "
    "regardless nevertheless despite until temporarily if"
)
_DOUBLE = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|never|hardly|no longer|cannot be|can't be) (?:\w+ )?"
    r"(?:impossible|unavailable|missing|nonexistent|unable|true)\b|\b(?:not|don't) know\b|\banything but\b"
    r"|\bnot (?:sure|certain|that)\b|\bno longer\b|\bcould be\b|\bat first\b|\bthen (?:i )?did\b"
    r"|\b(?:find|found|seen?|located?|looked) (?:\w+ ){0,2}yet\b|\bthe (?:rest|remaining)\b"
    r"|\bon the (?:first|1st) page\b"
)
"""Takes a denial back, or leaves it open."""
_TOLD = (
    TALK
    | FILLERS
    | word_set(
        "0 404 absent admin afraid among area ask certain contact contacts contain contains feasible gave hurry ie "
        "infeasible lacks must nope quick regrettably stopped tell you're anyone anything anywhere apologies apologize "
        "archive article articles asked bring brings catalogue cause conclude conclusion current currently database "
        "either email emails exist existing matched exists false final finding flight flights forms forum going "
        "headline hence hit hits hotel hotels inbox issue issues like listing listings located location looking "
        "magazine mail mailbox mails map match matches message messages news nonexistent not opening or outcome "
        "outcomes place places possible post posts reason requested returned returns search searching seats seem "
        "service services so sort state steps store subject such target that the there therefore thread threads title "
        "titled titles topic topics tracker travel trying turned turns type verified via view viewed visit visited "
        "want wanted whatsoever whole whose why wiki written yet"
    )
)
"""Words that name no other thing and give no reason."""
_OF_SITE = word_set("title titled name named headline exist exists found find site here catalogue listed results")
_COUNTED = word_set(
    "results result pages entries products items matches hits names things articles threads services issues messages "
    "flights hotels contacts users places"
)
"""What an answer may count that looked for something."""
_VALUES = word_set("answer value price cost costs equals result =")
_KEY = re.compile(r"[\"'](?:error|message|reason|result|status|why)[\"']\s*:", re.IGNORECASE)
"""Keys of JSON that say nothing of the value."""
_TALLY = re.compile(r"\b(results|matches|hits|found)\s*[:=]\s*(?=\d)", re.IGNORECASE)
_ADVICE = re.compile(
    r"(?:(?<=[.!?] )|^)please (?:(?:double.)?check(?! (?:if|whether)\b)|make sure|try (?:another|a different))\b"
    r"[^.!?\n]*[.!?]*",
    re.IGNORECASE | re.MULTILINE,
)
"""What whoever asked might do next."""
_AS_LONG = re.compile(r"\bas long as\b", re.IGNORECASE)
_JOINTS = word_set("and or or so but however though although then because since as which while therefore hence thus")
_BREAK = re.compile(r"[.,:;!?\n()|=→⇒—{}\[\]]| [-–] |->")
_COLON = re.compile(r"[\"' ]*:")
_YOU = word_set("you your you're you'd you've")
_FREE_WORDS = 25
_ALREADY = word_set("already still before")
_BETWEEN = _ALREADY | word_set("yet in the been so fully permanently really marked as currently completely now")
"""Words that may stand between a denial and a reason."""
_TROUBLES = word_set(
    "permission permissions password login banned captcha error errors server denied load loaded loading"
)
_NONEXISTENT = re.compile(r"\bexists?\b|\bno such\b|\bnonexistent\b")
_LIGHT = FILLERS | _ALREADY | word_set("permanently by your legal team")
"""Words that a reason need not be given with."""
_OTHERWISE = {
    "sold out": ("out of stock", "no seats left", "seats sold", "unavailable", "fully booked"),
    "fully booked": ("booked out", "booked up", "full", "sold out"),
    "already online": ("already published",),
}
"""What people say instead of the words of a page."""


@dataclass(frozen=True)
class _Clause:
    text: str
    asked: Iterable[str]
    label: bool
    """A colon follows it, so that it only says what the next one is: `Reasoning: …`."""

    @property
    def words(self) -> list[str]:
        return self.text.split()

    @property
    def denies(self) -> bool:
        return _DENIAL.search(self.text) is not None

    @property
    def tells_of_site(self) -> bool:
        """Whether it is about what the site has, and not about what a headline tells."""
        return not _OF_SITE.isdisjoint(self.words)

    @property
    def unknown(self) -> list[str]:
        """The words that are neither of the question nor of talk, nor deny anything."""
        known = {_NAME, _QUOTE, *_TOLD, *self.asked}
        return [word for word in self.words if word not in known and not re.fullmatch(_NOT, word)]


def says_missing(name: str, answer: str, question: str, rivals: Iterable[str] = ()) -> bool:
    """Whether an answer says that nothing has this name, which it need not repeat, and not only so of a rival."""
    own, others = set(texts_of(name)), [set(texts_of(rival)) for rival in rivals]
    clauses = _clauses(answer, question, [name], own, rivals)
    named = any(_NAME in clause.words for clause in clauses)
    said = False
    for clause in clauses:
        absent = _ABSENT.search(clause.text) is not None and clause.text not in ("none", "nothing", "missing")
        if absent and _NAME not in clause.words:
            told = own.intersection(clause.unknown)
            strange = not own.issuperset(clause.unknown) or not clause.tells_of_site
            there = told and not _REFERS.search(clause.text) and any(told <= other for other in others)
            if there or (clause.unknown and strange and not named):
                absent = False  # it is something else that there is none of, or that is there
        absent &= _OF_RIVAL.search(clause.text) is None
        instead = _THERE_INSTEAD.search(clause.text) and not clause.denies
        if _RIVAL in clause.words and not (named or said or instead):
            return False  # it is what was looked for
        if not absent and not _REASONS.isdisjoint(clause.unknown):
            return False
        if not clause.denies and _THERE.search(clause.text):
            return False
        said |= absent
    return said and not _contradicted(clauses)


def says_refused(why: str, answer: str, question: str, names: Iterable[str] = (), rivals: Iterable[str] = ()) -> bool:
    """Whether an answer says why something cannot be done to the thing of these names, in these words or akin ones."""
    reading, others = Reading(answer, question, names), set(rivals).difference(names)
    found = [each for each in reading.find((*names, *others)) if each.phrase in others]
    if any(not reading.repeats(each.start, each.end) for each in found):
        return False
    clauses = _clauses(answer, question, names)
    said = [{_stem(word) for word in clause.words} for clause in clauses]
    for reason in (why, *_OTHERWISE.get(why, ())):
        words = [word for word in texts_of(reason) if word not in _LIGHT]
        stems = {_stem(word) for word in words}
        if any(stems <= each for each in said) and (not why.startswith("already ") or _was_so(clauses, words)):
            return not any(_denied(clause, stems) for clause in clauses) and not _contradicted(clauses, stems)
    return False


def _was_so(clauses: list[_Clause], reason: list[str]) -> bool:
    """Whether clauses say that it was so before, or that it cannot be made so: `archived` alone may say a success."""
    said = {word for clause in clauses for word in clause.words}
    return not _ALREADY.isdisjoint(said) or (said.issuperset(reason) and any(clause.denies for clause in clauses))


def _denied(clause: _Clause, reason: Container[str]) -> bool:
    """Whether a clause denies a reason, or says it of something else: `is not yet sold out`, `Hugo is sold out`."""
    words = [word for word in clause.words if word not in _BETWEEN]
    for at, word in enumerate(words):
        if _stem(word) in reason and at:
            before = words[at - 1]
            if before in ("not", "isn't", "wasn't", "aren't", "weren't", "hasn't", "never"):
                return at < 2 or words[at - 2] not in ("could", "can", "did", "do", "does")
            if before in ("is", "are", "was", "were") and at > 1 and _NAME not in words:
                it = words[at - 2]
                return it == _QUOTE or (it in clause.unknown and _stem(it) not in reason)
    return False


def _contradicted(clauses: list[_Clause], reason: Set[str] = frozenset()) -> bool:
    """Whether clauses say a success, another reason, a doubt, a value, or too much."""
    free = 0
    if any("either" in clause.words[:-1] for clause in clauses) and len(clauses) > 1:
        return True
    for clause in clauses:
        words, unknown = clause.words, clause.unknown
        given = any(_stem(word) in reason for word in words)
        hedged = not _HEDGES.isdisjoint(set(words).difference(clause.asked)) and _YOU.isdisjoint(words)
        if _DOUBLE.search(clause.text) or hedged or hearsay(clause.text, clause.asked):
            return True
        if any(_claimed(clause, at, reason) for at in range(len(words))):
            return True
        if reason and (_NONEXISTENT.search(clause.text) or not _TROUBLES.isdisjoint(unknown)):
            return True
        numbers = [at for at, word in enumerate(words) if word in (*unknown, "0") and word.lstrip(".")[:1].isdecimal()]
        if any(_COUNTED.isdisjoint(words[max(0, at - 1) : at + 4]) for at in numbers):
            return True
        if not clause.denies and not given:
            if _DID.search(clause.text) or (reason and not _REASONS.isdisjoint(unknown)):
                return True
            stray = len(unknown) == len(words) and not clause.label
            if unknown and (stray or not _VALUES.isdisjoint(words)):
                return True
        free += len(unknown)
    return free > _FREE_WORDS


def _claimed(clause: _Clause, at: int, reason: Set[str]) -> bool:
    """Whether the word at a place says a success: no denial stands before it, and it was not so already."""
    words = clause.words
    told = _stem(words[at]) in reason and reason <= {_stem(word) for word in words} and words[at - 1 : at] != ["i"]
    if words[at] not in _SUCCESS or words[at] in clause.asked or told:
        return False
    marked = words[at] == "marked" and any(_stem(word) in reason for word in words[at:])
    denied = any(re.fullmatch(_NOT, word) or word in _ALREADY for word in words[:at]) or "false" in words[at : at + 2]
    return not marked and not denied


def _stem(word: str) -> str:
    """A word without its ending, so that `lock` and `locked`, `comments` and `commenting` are one."""
    stem = re.sub(r"(?:ions?|ing|ed|es|ly|s|e|y)$", "", word) if len(word) > 4 else word
    return re.sub(r"(.)\1$", r"\1", stem)


def _clauses(
    answer: str, question: str, names: Iterable[str], own: Container[str] = (), rivals: Iterable[str] = ()
) -> list[_Clause]:
    """The clauses of an answer, with one word for each name, rival, and what the question quotes.

    `own` are words of the question that are no talk where they do not stand in the name.
    """
    answer = _AS_LONG.sub("because", _ADVICE.sub("", answer))
    reading = Reading(PAGES.sub(" ", _TALLY.sub(r"\1 ", _KEY.sub(" ", answer))), question)
    quoted, others = QUOTED.findall(question), set(rivals).difference(names)
    found = reading.find((*names, *quoted, *others))
    words = {**dict.fromkeys(others, _RIVAL), **dict.fromkeys(quoted, _QUOTE), **dict.fromkeys(names, _NAME)}
    starts = {each.start: words[each.phrase] for each in found}

    def parts() -> Iterator[str]:
        for at, word in enumerate(reading.words):
            breaks = _BREAK.search(word.gap) and word.text not in ("false", "no", "null", "none")
            if breaks and (reading.free[at] or at in starts):
                yield ":\n" if _COLON.match(word.gap) else "\n"
            if at in starts:
                yield starts[at]
            elif reading.free[at]:
                joint = word.text in _JOINTS and reading.texts[max(0, at - 1) : at] != ("anything",)
                yield "\n" if joint else word.text

    asked = {word for word in reading.asked if word not in own}
    said = [" ".join(each.split()) for each in " ".join(parts()).split("\n")]
    return [_Clause(each.removesuffix(" :"), asked, each.endswith(" :")) for each in said if each.strip(" :")]
