"""The instruction of a goal.

A goal gives a core: an imperative (`open the cheapest mug`) for the templates of `DO`, or a noun phrase (`the price of
Red Mug`) for those of `ASK`. Template and core are drawn independently, so a goal has as many phrasings as templates
times cores. Held-out phrasings use templates that training never uses. The goals of sites on the grid also have
five phrasings each in few and plain words. Words that a page shows are written as the page writes them (`Mugs`, `In
stock`), because a reader of the page looks for them.
"""

from __future__ import annotations

import random
import re
from typing import Literal

from webdojo.sites.goal import Goal

Form = Literal["do", "ask"]

Phrasings = Literal["plain", "train", "heldout"]
"""`plain` are those of `PHRASINGS`, for a model that knows few words; the others are those of the splits."""

DO = (
    "{Core}.",
    "Please {core}.",
    "Can you {core}?",
    "I would like you to {core}.",
    "{Core}, please. That is all.",
    "Could you {core} for me?",
    "Your task: {core}.",
    "I am short of time, so please {core} for me.",
    "Help me out here and {core}, will you?",
    "What I need from you is simple: {core}.",
    "My colleague asked me to {core}. Do it for me.",
    "Once you are on the site, {core}.",
)
ASK = (
    "What is {core}?",
    "Tell me {core}.",
    "{Core}?",
    "Find out {core}.",
    "I need to know {core}.",
    "Could you look up {core} for me?",
    "Please report {core}.",
    "I forgot {core}. Can you check?",
    "Look around this site and answer with {core}.",
    "Somebody asked me for {core}. What should I say?",
    "Do you know {core}? The site does.",
    "Give me {core}, nothing else.",
)
_LONG = {
    "Could you {core} for me?": "Could you {core}?",
    "I am short of time, so please {core} for me.": "I am short of time, so please {core}.",
    "Could you look up {core} for me?": "Could you look up {core}?",
    "Look around this site and answer with {core}.": "Look around and answer with {core}.",
    "Give me {core}, nothing else.": "Answer with nothing but {core}.",
}
"""Wordings of templates for cores that may end in words of their own."""
_ENDED = re.compile(r"([.?!]”)\.|(\?”)\?")
"""Where a sentence ends twice, as one that ends with a quotation which has its own end."""
HELDOUT_TEMPLATES = 2
"""How many templates of each form, the last ones, are for held-out phrasings only."""


def _see(it: str, take: str, see: str) -> tuple[str, ...]:
    return (f"Open {it}.", f"Go to {it}.", f"Show me {it}.", f"Take me to {take}.", f"I want to see {see}.")


def _open_first(it: str, go: str, take: str) -> tuple[str, ...]:
    return (
        f"Open {it}.",
        f"Find {it} and open it.",
        f"Go to {go}.",
        f"Show me {it}.",
        f"Take me to the page of {take}.",
    )


def _narrow(those: str, show: str, only: str, listed: str) -> tuple[str, ...]:
    return (
        f"Show only {those}.",
        f"Show me {show}.",
        f"Go to {{nouns}} and show only {only}.",
        f"Open the list of {listed}.",
        f"I want to see only {those}.",
    )


def _read(it: str, short: str) -> tuple[str, ...]:
    return (
        f"What is the {{label}} of {it}?",
        f"Find the {{label}} of {it}.",
        f"Tell me the {{label}} of {short}.",
        f"I want to know the {{label}} of {it}.",
        f"Look at {short}. What is its {{label}}?",
    )


def _add(it: str, last: str) -> tuple[str, ...]:
    add = (f"Buy {it}.", f"Add {it} to the {{cart}}.", f"Put {it} in the {{cart}}.", f"I want {it} in my {{cart}}.")
    return (*add, last)


def _press(it: str, then: str) -> tuple[str, ...]:
    return (
        f"Press {{button}} for {it}.",
        f"Go to {then} and press {{button}}.",
        f"Open {then}, and press {{button}} there.",
        f"Find {then} and press {{button}}.",
        f"I want you to press {{button}} for {it}.",
    )


_CHEAPEST, _OLDEST, _OLDEST_THERE = "the cheapest {noun}", "the oldest {noun}", "the oldest {noun} in the {region}"
_FIRST, _FIRST_KEPT = "the {least} {noun}", "the {least} {value} {noun}"
_UNDER, _STOCK = "{nouns} Under ${limit}", "{nouns} In stock"

PHRASINGS: dict[str, tuple[str, ...]] = {
    "cart": _see("the {cart}", "my {cart}", "my {cart}"),
    "category": _see("{nouns}", "{nouns}", "{nouns}"),
    "search": (
        "Search for {name}.",
        "Use search to look for {name}.",
        "Look for {name} with search.",
        "Show me the search results for {name}.",
        "I want to see search results for {name}.",
    ),
    "open": (
        "Open {name}.",
        "Go to {name}.",
        "Show me {name}.",
        "Find {name} and open it.",
        "Take me to the page of {name}.",
    ),
    "open_result": (
        "Search for {name} and open it.",
        "Use search to open {name}.",
        "Look for {name} with search, then open it.",
        "Find {name} with search and open it.",
        "Search for {name}, then go to its page.",
    ),
    "price": (
        "What is the Price of {name}?",
        "How much is {name}?",
        "Find the Price of {name}.",
        "Tell me the Price of {name}.",
        "What does {name} cost?",
    ),
    "page": _see("page {page} of {nouns}", "{nouns}, page {page}", "page {page} of {nouns}"),
    "color": _narrow("{color} {nouns}", "{nouns} in {color}", "{color}", "{color} {nouns}"),
    "under": _narrow(_UNDER, _UNDER, "Under ${limit}", _UNDER),
    "stock": _narrow(_STOCK, _STOCK, "In stock", _STOCK),
    "region": _narrow("{nouns} in the {region}", "{nouns} in the {region}", "{region}", "{region} {nouns}"),
    "cheapest": _open_first(_CHEAPEST, "the {noun} with the lowest Price", _CHEAPEST),
    "add": _add("{name}", "Find {name} and add it to my {cart}."),
    "read": _read("{name}", "{name}"),
    "add_two": _add("{a} and {b}", "Add {a} to my {cart}, then add {b}."),
    "add_cheapest": _add(_CHEAPEST, "Find the {noun} with the lowest Price and add it to the {cart}."),
    "add_cheapest_color": _add(
        "the cheapest {color} {noun}", "Find the {color} {noun} with the lowest Price and add it to the {cart}."
    ),
    "compare": (
        "What is the higher {label}, of {a} or of {b}?",
        "Find the higher {label} of {a} and {b}.",
        "Tell me the higher {label} of {a} and {b}.",
        "Look at {a} and {b}. What is the higher {label}?",
        "I want to know the higher {label} of {a} and {b}.",
    ),
    "oldest": _open_first(_OLDEST, "the {noun} with the lowest Year", _OLDEST),
    "read_oldest": _read(_OLDEST, _OLDEST),
    "oldest_region": _open_first(_OLDEST_THERE, "the oldest {region} {noun}", "the oldest {region} {noun}"),
    "read_oldest_region": _read(_OLDEST_THERE, "the oldest {region} {noun}"),
    "kept": _narrow("{value} {nouns}", "{nouns} with {value}", "{value}", "{value} {nouns}"),
    "kept_alike": (
        "Show only the {nouns} with the {label} of {name}.",
        "Show me {nouns} with the same {label} as {name}.",
        "Look at the {label} of {name}. Show only {nouns} with it.",
        "Open the list of {nouns} with the {label} of {name}.",
        "I want to see only {nouns} with the {label} of {name}.",
    ),
    "first": _open_first(_FIRST, "the {noun} with the lowest {label}", _FIRST),
    "first_kept": _open_first(_FIRST_KEPT, "the {value} {noun} with the lowest {label}", _FIRST_KEPT),
    "read_first": _read(_FIRST, _FIRST),
    "act": _press("{name}", "{name}"),
    "act_two": _press("{a} and {b}", "{a} and then {b}"),
    "act_first": _press(_FIRST, _FIRST),
    "compare_sites": (
        "What is higher, the {label} of {a} or the {other} of {b} on {site}?",
        "Find the higher of two, the {label} of {a} and the {other} of {b} on {site}.",
        "Tell me what is higher: the {label} of {a} or, on {site}, the {other} of {b}.",
        "Look at the {label} of {a} and, on {site}, the {other} of {b}. What is higher?",
        "I want to know what is higher, the {label} of {a} or the {other} of {b} on {site}.",
    ),
}

CORES: dict[str, tuple[Form, str]] = {
    "cart": ("do", "open the {cart}"),
    "category": ("do", "open the list of {nouns}"),
    "search": ("do", "search the site for {name}"),
    "open": ("do", "open the page of {name}"),
    "open_result": ("do", "search for {name} and open it from the results"),
    "price": ("ask", "the price of {name}"),
    "page": ("do", "open page {page} of {nouns}"),
    "color": ("do", "show only the {color} {nouns}"),
    "under": ("do", "show only {nouns} under ${limit}"),
    "stock": ("do", "show only {nouns} that are in stock"),
    "region": ("do", "show only {nouns} in the {region}"),
    "cheapest": ("do", "open the page of the cheapest {noun}"),
    "add": ("do", "put one {name} into the {cart}"),
    "read": ("ask", "the {label} of {name}"),
    "add_two": ("do", "put one {a} and one {b} into the {cart}"),
    "add_cheapest": ("do", "put the cheapest {noun} into the {cart}"),
    "add_cheapest_color": ("do", "put the cheapest {color} {noun} into the {cart}"),
    "compare": ("ask", "the higher {label}, that of {a} or that of {b}"),
    "oldest": ("do", "open the page of the oldest {noun}"),
    "read_oldest": ("ask", "the {label} of the oldest {noun}"),
    "oldest_region": ("do", "open the page of the oldest {noun} in the {region}"),
    "read_oldest_region": ("ask", "the {label} of the oldest {noun} in the {region}"),
    "kept": ("do", "show only {nouns} with {value}"),
    "kept_alike": ("do", "show only the {nouns} that have the {label} of {name}"),
    "first": ("do", "open the page of the {least} {noun}"),
    "first_kept": ("do", "open the page of the {least} {noun} with {value}"),
    "read_first": ("ask", "the {label} of the {least} {noun}"),
    "act": ("do", "press {button} on the page of {name}"),
    "act_two": ("do", "press {button} on the pages of {a} and {b}"),
    "act_first": ("do", "press {button} on the page of the {least} {noun}"),
    "compare_sites": ("ask", "the higher one, the {label} of {a} or the {other} of {b} on {site}"),
}
"""The same goals for the templates."""
_FIRST_TEMPLATED = 100
"""The numbers of phrasings by template begin here for these goals."""


def phrase(goal: Goal, rng: random.Random, phrasings: Phrasings = "plain") -> tuple[str, int]:
    """An instruction for a goal, and the number of its phrasing."""
    form, cores, first = goal.form, goal.cores, 0
    if not cores:
        options = PHRASINGS[goal.name]
        if phrasings == "plain" or (phrasings == "train" and rng.random() < 1 / 3):
            index = rng.randrange(len(options))
            return options[index].format(**goal.fields), index
        form, core = CORES[goal.name]
        cores, first = (core.format(**goal.fields),), _FIRST_TEMPLATED
    trained = len(DO if form == "do" else ASK) - HELDOUT_TEMPLATES
    template = rng.choice(range(trained, trained + HELDOUT_TEMPLATES) if phrasings == "heldout" else range(trained))
    index = rng.randrange(len(cores))
    return _say(goal, form, template, cores[index]), first + template * 10 + index


def restate(goal: Goal) -> str:
    """A goal in its first phrasing, which says no more than the others do."""
    return _say(goal, goal.form, 0, goal.cores[0]) if goal.cores else PHRASINGS[goal.name][0].format(**goal.fields)


def said(goal: Goal, instruction: str) -> tuple[str, ...]:
    """The values of a goal that an instruction says."""
    return tuple(dict.fromkeys(value for value in goal.fields.values() if value in instruction))


def _say(goal: Goal, form: Form, template: int, core: str) -> str:
    sentence = (DO if form == "do" else ASK)[template]
    if goal.cores:
        sentence = _LONG.get(sentence, sentence).replace("What is", goal.asks)
    return _ENDED.sub(r"\1\2", sentence.format(core=core, Core=core[0].upper() + core[1:]))
