"""What agents write about: four families of phrases in the reasoning of a step, and how long such steps are.

The families are those of OpenWebRL, appendix D; the patterns are ours. They are measured over the text before the
first call, whatever the case of its letters; a step may have several families. They show what kind of text grows, and
do not prove what it means: a paraphrase is missed, and a plan that quotes a phrase counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from webdojo.agent.toolcall import CALL
from webdojo.loops.analysis.table import (
    ITERATION,
    PHASE,
    Answer,
    Measured,
    Plot,
    Question,
    Setting,
    acting,
    by_iteration,
    counts,
    numbers,
    shares,
    texts,
)
from webdojo.types import Trajectory, Turn

HISTORY, BLOCKER, RETRY, PROOF = "history summary", "blocker diagnosis", "retry plan", "condition proof"
NONE = "none"
"""Steps with none of the families."""

_DID = "tried|attempted|checked|searched|looked|visited|opened|used|clicked|explored|scrolled|gone"
_TRY = "attempts?|tries|searches|approach(?:es)?|clicks?|actions?"
_PLACE = "sources?|sites?|websites?|pages?|options?|paths?|links?"
_OTHER = "another|different|alternative|new"
_WAY = (
    "ways?|search(?:es)?|quer(?:y|ies)|sites?|sources?|approach(?:es)?|pages?|paths?|keywords?|terms?|methods?|links?"
)
_CONDITION = "criteria|criterion|conditions?|constraints?|requirements?|filters?"
_HOLDS = (
    "meets?|met|match(?:es)?|satisf(?:y|ies|ied)|fulfil(?:l|ls|led|s)?|complies|confirm(?:s|ed)?|verif(?:y|ies|ied)"
)

_PATTERNS = {
    HISTORY: (
        rf"\b(?:i|we)(?:'ve| have| had)(?: already| now| also| just)? (?:{_DID})\b",
        rf"\b(?:i|we) already (?:{_DID})\b",
        r"\b(?:so far|until now|up to now|up to this point)\b",
        r"\b(?:previous|earlier|prior|former) (?:attempts?|tries|try|steps?|search(?:es)?|approach(?:es)?|actions?)\b",
        rf"\bafter (?:several|many|multiple|\w+teen|two|three|four|five|\d+) (?:\w+ )?(?:{_TRY})\b",
        rf"\b(?:all|none|every one) of (?:the|my|these|those|our)\b[^.!?\n]{{0,40}}\b(?:{_TRY}|{_PLACE})\b"
        r"[^.!?\n]{0,40}\b(?:failed|worked|helped|blocked)\b",
        rf"\ball (?:{_TRY}|{_PLACE}) (?:have |were )?(?:failed|blocked)\b",
        rf"\b(?:exhausted|ran out of|run out of) [^.!?\n]{{0,30}}\b(?:{_TRY}|{_PLACE})\b",
    ),
    BLOCKER: (
        r"\b(?:h|re)?captchas?\b|\bcloudflare\b|\bturnstile\b",
        r"\baccess\b[^.!?\n]{0,30}\b(?:denied|refused|forbidden|restricted)\b",
        r"\b(?:403|429)\b[^.!?\n]{0,12}\b(?:forbidden|error|too many requests)\b|\berror 403\b",
        r"\b(?:bot|robot|human|security)[- ](?:check|verification|detection|challenge)\b",
        r"\bverification (?:is )?(?:required|needed|challenge|wall)\b",
        r"\b(?:prove|verify|confirm)(?:ing)? (?:that )?(?:i am|i'm|you are|you're|we are) "
        r"(?:not a |no |a )?(?:human|robot)",
        r"\banti[- ]?(?:bot|automation|scraping)\b",
        r"\bautomated (?:access|traffic|requests?|quer(?:y|ies)|behaviou?r|tools?)\b",
        r"\b(?:site|website|page|request|server|access)\b[^.!?\n]{0,25}\b(?:is|was|am|been|being|gets?) blocked\b",
        r"\b(?:site|website|page|server) (?:blocks|is blocking|turns away|refuses) (?:me|us|robots|bots|automat)",
    ),
    RETRY: (
        r"\bone (?:more|last|final) (?:try|attempt|time|approach|search|option)\b",
        r"\btry(?:ing)? (?:it |that |this )?(?:again|once more)\b",
        rf"\b(?:try|trying|use|using|need|needs|consider|look for|looking for|switch to|find)\b[^.!?\n]{{0,30}}"
        rf"\b(?:{_OTHER}) (?:\w+ )?(?:{_WAY})\b",
        r"\b(?:go|going|get|return|head)(?:ing)? back\b[^.!?\n]{0,30}\b(?:and|to) "
        r"(?:try|search|look|start|check|pick)\b",
        r"\bstart(?:ing)? (?:over|again|from scratch)\b",
        r"\b(?:search|navigate|go|open) (?:for it |there |it )?directly\b",
        r"\blet me (?:reconsider|rethink|retry|step back)\b",
        r"\bif (?:this|that) (?:fails|does not work|doesn't work)\b",
    ),
    PROOF: (
        rf"\b(?:all|each|every|both)(?: of)?(?: the| these| those| its| my)? (?:{_CONDITION})\b[^.!?\n]{{0,50}}"
        r"\b(?:met|satisfied|fulfilled|hold|holds|checked|covered)\b",
        rf"\b(?:{_HOLDS})\b[^.!?\n]{{0,50}}\b(?:{_CONDITION})\b",
        r"\b(?:first|second|third|fourth|fifth|last|next|\d(?:st|nd|rd|th)) "
        r"(?:criterion|condition|constraint|requirement)\b",
    ),
}
_FAMILIES = {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in _PATTERNS.items()}
_VALUE = re.compile(
    r"\b(?:under|below|over|above|less than|more than|fewer than|at least|at most|no more than|up to|exactly)"
    r" [$€£]?\d[\d.,]*"
    r"|\bwithin \d[\d.,]* ?(?:miles?|mi|km|kilomet|minutes?|hours?|days?)"
    r"|\b(?:before|after|by) (?:\d{1,2}:\d{2}|\d{1,2} ?[ap]m)\b"
    r"|\bbetween [$€£]?\d[\d.,]* and [$€£]?\d"
    r"|\b[a-z]{3,}-free\b",
    re.IGNORECASE,
)
"""A value that a task may ask for: a limit, a distance, a time, what something is free of."""
_PROVES = re.compile(rf"\b(?:{_HOLDS}|qualif(?:y|ies)|fits?|so it is|which is)\b|✓|✔", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[!?\n]+|\.(?!\d)")


def reasoning(turn: Turn) -> str:
    """The thought of a step; where the harness found none, what stands before the first call."""
    return turn.parsed.think or turn.text.partition(CALL)[0]


def families(text: str) -> frozenset[str]:
    """The families that a text has phrases of."""
    plain = text.replace("’", "'")
    found = {name for name, pattern in _FAMILIES.items() if pattern.search(plain)}
    if any(_VALUE.search(each) and _PROVES.search(each) for each in _SENTENCE_END.split(plain)):
        found.add(PROOF)
    return frozenset(found)


Lengths = dict[str, tuple[int, int]]
"""By family, the number of steps that have it, and their sampled tokens."""


def measure(trajectory: Trajectory, setting: Setting) -> Lengths:
    """Count the steps of each family; empty where no step has any reasoning."""
    steps = [(reasoning(turn), len(turn.response.ids)) for turn in trajectory.turns]
    found: Lengths = {}
    if any(text.strip() for text, _ in steps):
        for text, tokens in steps:
            for name in families(text) or {NONE}:
                number, total = found.get(name, (0, 0))
                found[name] = number + 1, total + tokens
    return found


def summarize(measured: Sequence[Measured[Lengths]]) -> Answer:
    rows = []
    for (phase, iteration), group in by_iteration(each for each in acting(measured) if each.fact).items():
        steps = sum(each.row.steps for each in group)
        for name in (*_PATTERNS, NONE):
            with_it = sum(each.fact.get(name, (0, 0))[0] for each in group)
            tokens = sum(each.fact.get(name, (0, 0))[1] for each in group)
            rows.append((phase, iteration, name, with_it, with_it / steps, tokens / with_it if with_it else None))
    return Answer(rows) if rows else Answer(missing="no step has any reasoning before its call")


QUESTION = Question(
    name="lexical_proxies",
    title="Lexical proxies: steps by what their reasoning is about, and their length",
    paper="OpenWebRL D",
    columns=(PHASE, ITERATION, *texts("family"), *counts("steps"), *shares("share"), *numbers("response_tokens")),
    plots=(
        Plot("presence", "Share of steps with the family", "iteration", ("share",), ("family",), "phase"),
        Plot("length", "Tokens of a step with the family", "iteration", ("response_tokens",), ("family",), "phase"),
    ),
    measure=measure,
    summarize=summarize,
)
