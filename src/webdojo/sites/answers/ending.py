"""Whether an answer at the end of a task that asks for no answer says that the task was not done.

It is read clause by clause, without the words that repeat the task and without names, for which `-` stands. A clause
takes the task for not done if it

- denies or puts off what was to be done (`it was not added`, `I will do it later`), or leaves it to the reader;
- tells of a part only (`half of it`, `all but the last step`, `step 1 of 2`), or of something else or elsewhere
  (`the wrong one`, `on another site`);
- says that it was undone again, or doubts it (`maybe`, `not sure`).

What tells of a trouble or an attempt counts unless a later clause says that it was overcome: `The first try failed, but
then it worked`. Nothing counts that is denied itself (`no errors`), that is about what lies beside the task (`nothing
else`, `the popup`), or that only offers more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from webdojo.sites.answers.reading import PAGES, Reading, texts_of
from webdojo.sites.answers.telling import told
from webdojo.sites.answers.values import word_set

_NOT = r"(?:not|never|\w+n't|cannot)"
_DOING = (
    r"(?:done|do|did|finish(?:ed)?|complet(?:e|ed)|start(?:ed)?|begun|begin|attempted|tr(?:y|ied)|perform(?:ed)?"
    r"|carr(?:y|ied) (?:it )?out|execut(?:e|ed)|chang(?:e|ed)|happen(?:ed)?|ma[dk]e|tak(?:e|en)|open(?:ed)?"
    r"|sen[dt]|sav(?:e|ed)|set"
    r"|add(?:ed)?|post(?:ed)?|book(?:ed)?|achiev(?:e|ed)|accomplish(?:ed)?|submit(?:ted)?|mov(?:e|ed)|p?ut"
    r"|confirmed|accepted"
    r"|manage(?:d)?|reach(?:ed)?|succeed(?:ed)?)"
)
_PARTS = r"(?:steps?|parts?|forms?|fields?|changes?|tasks?|half|stages?|sections?)"
_TRANSFER = (
    r"(?:did|done|added|put|sent|posted|moved|set|booked|bought|chose|chosen|took|picked|selected|changed|did it|-)"
)
_LATER = (
    r"(?:will|'ll|shall|would|should|am going to|'m going to|was going to|(?:am|was) about to|plan to"
    r"|intend to|want to|need to|still have to|have yet to)"
)

_NOT_DONE = re.compile(
    rf"\b{_NOT} (?:(?:yet|been|even|actually|able to|manage to|want to|get to|get around to|have to) )*{_DOING}\b"
    rf"|\b{_NOT} -|\b(?:(?:is|are) (?:still |yet )?not|isn't|aren't) (?:yet )?(?:in|on|open|there|shown)\b"
    r"|\b\w+n't (?:got|gotten|get) (?:around|to)\b"
    rf"|\b(?:nothing|none|no (?:actions?|steps?|changes?|part)) (?:(?:of it|was|were|is|has|have|had|got|been"
    rf"|yet) )*(?:{_DOING}|in the|on the)\b"
    rf"|\b(?:haven't|have not|hasn't|did nothing|done nothing|was idle)(?:$| (?:yet|so far|it|this|that|-)\b)"
    r"|\bundone\b|\bunfinished\b|\bincomplete\b|\bunsuccessful\w*|\bto do$|^to be continued|\bpending\b|\baborted\b"
    r"|\b(?:still|yet|remains?|left|needs?|has|have) to be (?!\w*n't)|\bstill (?:need|have) to\b"
    r"|\bto be (?:done|continued|finished)\b"
    r"|\b(?:won't|will not|refuse|refused|refusing|skip|skipped|declined to|decided (?:not|against)"
    r"|chose (?:not|against)|rather not|impossible|infeasible|give up|giving up|gave up)\b"
    r"|\b(?:decided|chose|preferred|wanted|had|have) (?:not )?to (?:stop|quit|leave|abort|cancel)\b|\bdo(?:n't"
    r"| not) (?:want|know|intend|wish)\b"
    r"|\b(?:cart|basket|list|form|page|it) (?:is|remains|stays|was left) (?:still )?(?:empty|blank)\b"
)
_PUT_OFF = re.compile(
    rf"(?:\b(?:i|we|you|it|this) (?:\w+ )?{_LATER}|\bi'll|\bwe'll|\bi'd|\bgoing to) (?:now |then |next |be "
    rf"|rather |also )?(?:(?:{_DOING}|work|continue|proceed|go on|buy|remove|delete)\b|-)"
)
_UNDER_WAY = re.compile(
    r"\b(?:in progress|being processed|under way|underway|working on|still (?:working|loading|running|waiting"
    r"|trying|going)|waiting (?:for|on|until))\b"
    r"|\b(?:i'm|i am|we are|we're) (?:now |still |currently |just )?(?:-|adding|doing|trying|opening|sending"
    r"|booking|moving|looking|searching|working|about)\b"
)
_TO_READER = re.compile(
    rf"\byou(?:'ll| will| still| now)* (?:have to|need to|must|should|ought to) (?:\w+ )?(?:{_DOING}|-|yourself"
    rf"|log in|sign in)\b"
    r"|\bplease (?:\w+ )?(?:finish|complete|log in|login|sign in|tell me|provide|specify|clarify|do (?:it|this"
    r"|that|the rest))\b"
    r"|\b(?:up|left) to you\b|\bi(?: still| would)? need (?:your|you|more|a|an|the|some|further)\b"
    r"|\bsomeone (?:else )?(?:has|must|will have|needs) to\b|\byourself\b"
)
_IN_PART = re.compile(
    r"\b(?:partly|partially|halfway|half way|midway|incompletely|in part|not quite|almost|nearly|half (?:done"
    r"|finished|complete\w*|way|of)|half the)\b"
    rf"|\b(?:not|\w+n't) (?:\w+ )?(?:all|everything|fully|entirely|completely|wholly|quite|whole"
    rf"|every \w+)\b(?! else)"
    r"|(?:^|\b(?:a|some|one|only|most|large|big|small|good|great|done|did) )part of (?:it|this|that|them|the|what|-)"
    r"|\b(?:some|most|a bit|bits|much|a few|a fraction|a portion|a third|two thirds|a quarter"
    r"|[1-9]\d? %) of (?:it|this|that|them|the|what|-)"
    r"|\b[1-9]\d? % (?:done|complete|completed|finished)\b"
    rf"|\b(?:only|just|merely|at least) (?:\w+ ){{0,3}}?(?:a |the )?(?:first |last |second |\d+ )?(?:{_PARTS}"
    rf"|some|partial\w*|as far as|looked|searched|read|browsed|viewed|started|began|got|managed to|able to|tried)\b"
    rf"|\b(?:all|everything|each|every \w+|done|finished|complete|completed) (?:\w+ )?(?:but|except|apart from"
    rf"|aside from|other than|save for|minus)\b"
    r"|^(?:except|apart from|aside from|save for|but for|minus|all but) (?:for )?(?:the|one|a|an|its?|my|two|\d|-)"
    rf"|\b(?:rest|remainder|remaining|last|second|next|final|others?|one|{_PARTS})\b(?: \w+){{0,4}}? (?:(?:is"
    rf"|are|was|were|remains?|stays?) )?(?:still )?(?:left|missing|open|outstanding|undone|not|to come|remains?"
    rf"|remaining)\b(?! (?:as|alone|un\w+|else|an?y?|the|on|for you to see)\b)"
    r"|\bleft (?:out|undone|unfinished|off)\b|\bleft (?:(?!other|others|rest|remaining"
    r"|optional)\w+ ){1,3}(?:empty|blank|out|undone|unfinished|off)\b"
    r"|\b(?:did|do|done|tried) what i could\b|\bas (?:far|much|well) as i could\b|\bgot as far as\b"
    r"|\bmade it (?:only )?(?:to|as far)\b|\bso far\b(?! as)"
    r"|\b(?:and|but) not (?:the|-)|\bnot the (?:rest|second|last|other|first)\b"
)
_OF_STEPS = re.compile(
    rf"\b(\d+)(?: of| out of)(?: the| all)? (\d+)\b(?: {_PARTS}| done|$| complete| finished| are| were| is)"
    rf"|\b{_PARTS} (\d+) (?:of|out of) (\d+)\b"
)
_ELSEWHERE = re.compile(
    r"\bin its place\b|\b(?:by (?:mistake|accident)|mistakenly|accidentally|inadvertently|unintentionally"
    r"|wrongly|in error)\b"
    rf"|\b{_TRANSFER} (?:\w+ ){{0,4}}?(?:another|a different|a similar|some other|different|something else"
    rf"|someone else|elsewhere|somewhere else|the wrong)\b"
    r"|\b(?:on|in|at|into|to|from) (?:\w+ )?(?:another|a different|a similar|some other|the wrong"
    r"|wrong) (?!page\b)\w+"
    r"|\b(?:ended up|landed|finished|am|is|was) (?:\w+ )?(?:on|in|at) (?:the wrong|another|a different"
    r"|some other)\b|\b(?:elsewhere|somewhere else|something else|someone else)\b"
    r"|\binstead(?: of (?:it|this|that|the one|-))?$"
)
_MEANS = re.compile(
    r"\b(?:used|using|use|searched|search|scrolled|typed|browsed|via|through|by|menu|filters?|map|went|route"
    r"|way|keyboard|link)\b"
)
"""Words by which `instead` is about a way, and not about what was done."""
_TAKEN_BACK = re.compile(
    r"\b(?:undid|undo|undone|revert(?:ed)?|rolled back|roll back|reset|discarded|took (?:it|this|that|them"
    r"|-) (?:back|out|off|away)|put (?:it|this|that|them|-) back)\b"
    r"|\b(?:removed|deleted|cancelled|canceled|closed|emptied|cleared|withdrew) (?:it|this|that|them|-"
    r"|everything|the (?:change|changes|order|cart|item|page))(?: \w+)?(?: again| afterwards?| later| after that)?$"
    r"|\b(?:removed|deleted|cancelled|canceled|closed|emptied|cleared|dragged|moved|sent"
    r"|set) (?:\w+ ){0,3}(?:again|afterwards?|back)\b"
)
_DOUBTED = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|hopefully|might|may (?:have|be|not)"
    r"|i (?:only )?(?:guess|hope|assume|suppose|suspect)|unsure|uncertain|unclear|unverified|unconfirmed|doubt"
    r"|can(?:not|'t| not) (?:tell|say|confirm|verify|be sure))\b"
    rf"|\b{_NOT} (?:\w+ )?(?:sure|certain|clear|confident|know|tell|verify|confirm|see (?:a|any|the) confirmation)\b"
)
_TROUBLE = re.compile(
    r"\b(?:errors?|crash(?:ed|es)?|timed out|timeout|time out|denied|rejected|declined|blocked|captcha"
    r"|interrupted|cancelled|canceled|went wrong|broke|broken|stuck|ran out|run out|no time|not enough time"
    r"|failed|fails|failure|unable|no way to|sold out|out of stock|no such|nothing found|there is no"
    r"|there's no|unavailable)\b"
    rf"|\b{_NOT} (?:able|possible|find|found|allow\w*|let|work\w*|succeed\w*|manage\w*|exist\w*|available"
    rf"|permitted|supported|load\w*|respond\w*|go through|get through)\b"
    r"|\b(?:could not|couldn't|can't|cannot|can not)\b"
    r"|\bstopped (?:halfway|early|before|there|here|in the middle|after|at that|because|without|short"
    r"|working)\b|\b(?:i|we) stopped$"
    r"|\b(?:tried|attempted|trying|attempting)\b|\bwithout success\b|\b(?:is|are|remains?) (?:still )?missing\b"
    r"|\b(?:opened|clicked|visited|reached|found|went to|on) (?:\w+ )?(?:another|a different|the wrong|wrong) \w+"
)
_OVERCOME = re.compile(
    r"\b(?:done|did|do|worked|works|work|success\w*|succeeded|finished|completed?|accomplished|managed"
    r"|went through|confirmed|accepted|saved|added|sent|posted|booked|moved|submitted|placed|opened|open"
    r"|reached|found|searched|went|there|now|right|closed|solved|loaded|could)\b"
)
_TURN = re.compile(
    r"\b(?:but|then|finally|eventually|end|last|now|again|second|so|until|after|later|afterwards|however|still"
    r"|though|retried|retry|instead)\b"
)
"""Words by which it went on after a trouble."""
_BESIDE = re.compile(
    r"\b(?:popups?|pop up|dialogs?|banner|cookies?|notice|newsletter|ads?|advert\w*|overlay|hint|tour|survey)\b"
    r"|\b(?:need|want|like|wish|prefer|have) (?:any|some)(?:thing|one) (?:else|more)\b|\bif you\b|\byou (?:can"
    r"|may|could|might)\b"
)
"""What lies beside the task, and what is only offered."""
_NOTHING_LEFT = re.compile(
    r"\b(?:nothing|none|no|not|isn't|\w+n't)\b(?! time).*\b(?:left|remains?|remaining|needed|needs?|necessary"
    r"|required|to do$|to be done|outstanding|missing|pending)\b"
)
_BEYOND = re.compile(r"\b(?:else|elsewhere|other|others|twice|further|more|additional|by mistake)\b")
"""What lies beyond the task, so that it may be denied."""
_DENIED = re.compile(r"\b(?:no|not|never|nothing|none|without|neither|zero|\w+n't)\b(?! only)")
_SAYS_NO = word_set("no nope nothing none false null todo tbd failed failure error cancelled canceled stopped")
"""An answer that is nothing but such a word says that it was not done."""
_NO_ERROR = re.compile(r"[\"']?\berrors?[\"']?\s*[:=]\s*[\"']?(?:null|none|no|false|0|[\"']|\[\])", re.IGNORECASE)
_NOT_SAID = re.compile(
    r"[\"']?\b(?:success\w*|done|complete[d]?|finished|result|status|ok)\b[\"']?\s*[:=]\s*[\"']?(?:false|no"
    r"|null|none|0|fail\w*|error|incomplete|partial\w*|pending|aborted)\b"
)
_DENIES_NEXT = re.compile(r"\b(?:no|without|not|never|nothing|zero|\w+n't)(?: \w+){0,2} ?$")
"""Stands before what it denies."""
_BREAK = re.compile(r"[.,:;!?\n()|=→⇒—{}\[\]]| [-–] |->")
_JOINTS = word_set("and but so because since which while therefore although though however then")
_HARD = (_NOT_DONE, _PUT_OFF, _UNDER_WAY, _TO_READER, _IN_PART, _ELSEWHERE, _TAKEN_BACK, _DOUBTED)


class _Clause(NamedTuple):
    text: str
    joint: str
    """The word that joins it to the one before, if one does."""


def gives_up(answer: str, question: str, names: Iterable[str] = ()) -> bool:
    """Whether an answer says that its task was not done, in words that are not those of the task."""
    names = tuple(names)
    final = told(answer, question, names, asks_back=True)
    if not final:
        return answer.rstrip(" \"'”)").endswith("?") and not re.search(r"\b(?:else|more|further)\b", answer)
    if _NOT_SAID.search(final.casefold()):
        return True
    final = _NO_ERROR.sub(" ", PAGES.sub(" ", final.replace("…", question)))
    clauses = list(_clauses(final, question, names))
    if len(clauses) == 1 and clauses[0].text in _SAYS_NO:
        return True
    stems = {word[:5] for word in texts_of(question)}
    trouble = False
    for at, clause in enumerate(clauses):
        beside = _BESIDE.search(clause.text) or (
            at and _BESIDE.search(clauses[at - 1].text) and "it" in clause.text.split()
        )
        beyond = _DENIED.search(clause.text) and _BEYOND.search(clause.text)
        if beside or beyond or _NOTHING_LEFT.search(clause.text):
            continue
        if any(_says(pattern, clause, stems) for pattern in _HARD) or _counts_part(clause):
            return True
        if _troubled(clause, stems):
            trouble = True
        elif trouble and _OVERCOME.search(clause.text) and _TURN.search(f"{clause.joint} {clause.text}"):
            trouble = False
    return trouble


def _says(pattern: re.Pattern[str], clause: _Clause, stems: set[str]) -> bool:
    """Whether a clause says something of the task; what the task itself asks to be taken back is none."""
    found = pattern.search(clause.text)
    if found is None:
        return False
    if pattern is _TAKEN_BACK:
        return found[0][:5].split()[0] not in stems
    if pattern is _ELSEWHERE:
        way = "instead" in found[0] and _MEANS.search(clause.text)
        return not way and not _DENIED.search(clause.text)
    return True


def _counts_part(clause: _Clause) -> bool:
    return any(int(one or other) < int(of or whole) for one, of, other, whole in _OF_STEPS.findall(clause.text))


def _troubled(clause: _Clause, stems: set[str]) -> bool:
    """Whether a clause tells of a trouble that it does not deny (`no errors`) and that was not asked for."""
    found = _TROUBLE.search(clause.text)
    if found is None or found[0][:5] in stems:
        return False
    return not _DENIES_NEXT.search(clause.text[: found.start()])


def _joins(word: str, before: list[str]) -> bool:
    """Whether a word joins two clauses; the `but` of `all but` does not."""
    return word in _JOINTS and not (word == "but" and before[-1] in ("all", "everything", "anything", "nothing"))


def _clauses(answer: str, question: str, names: Iterable[str]) -> Iterator[_Clause]:
    reading = Reading(answer, question)
    reading.find([name for name in names if len(texts_of(name)) > 1])
    words: list[str] = []
    joint = ""
    for at, word in enumerate(reading.words):
        known = not reading.free[at] or reading.repeats(at, at + 1)
        if words and (_BREAK.search(word.gap) or (_joins(word.text, words) and not known)):
            yield _Clause(" ".join(words), joint)
            words, joint = [], ""
        if word.text in _JOINTS and not known and not words:
            joint = f"{joint} {word.text}"
        elif not (known and words[-1:] == ["-"]):
            words.append("-" if known else word.text)
    if words:
        yield _Clause(" ".join(words), joint)
