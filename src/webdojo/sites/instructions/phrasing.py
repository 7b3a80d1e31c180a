"""The instruction of a goal; for goals of shops and wikis also five phrasings each in few and plain words.

Words that a page shows are written as the page writes them (`Mugs`, `In stock`), because a reader of the page looks
for them.
"""

from __future__ import annotations

import random

from webdojo.sites.goal import Goal
from webdojo.sites.instructions import templates

PHRASINGS: dict[str, tuple[str, ...]] = {
    "cart": (
        "Open the {cart}.",
        "Go to the {cart}.",
        "Show me the {cart}.",
        "Take me to my {cart}.",
        "I want to see my {cart}.",
    ),
    "category": (
        "Open {nouns}.",
        "Go to {nouns}.",
        "Show me {nouns}.",
        "Take me to {nouns}.",
        "I want to see {nouns}.",
    ),
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
    "page": (
        "Open page {page} of {nouns}.",
        "Go to page {page} of {nouns}.",
        "Show me page {page} of {nouns}.",
        "Take me to {nouns}, page {page}.",
        "I want to see page {page} of {nouns}.",
    ),
    "color": (
        "Show only {color} {nouns}.",
        "Show me {nouns} in {color}.",
        "Go to {nouns} and show only {color}.",
        "Open the list of {color} {nouns}.",
        "I want to see only {color} {nouns}.",
    ),
    "under": (
        "Show only {nouns} Under ${limit}.",
        "Show me {nouns} Under ${limit}.",
        "Go to {nouns} and show only Under ${limit}.",
        "Open the list of {nouns} Under ${limit}.",
        "I want to see only {nouns} Under ${limit}.",
    ),
    "stock": (
        "Show only {nouns} In stock.",
        "Show me {nouns} In stock.",
        "Go to {nouns} and show only In stock.",
        "Open the list of {nouns} In stock.",
        "I want to see only {nouns} In stock.",
    ),
    "region": (
        "Show only {nouns} in the {region}.",
        "Show me {nouns} in the {region}.",
        "Go to {nouns} and show only {region}.",
        "Open the list of {region} {nouns}.",
        "I want to see only {nouns} in the {region}.",
    ),
    "cheapest": (
        "Open the cheapest {noun}.",
        "Find the cheapest {noun} and open it.",
        "Go to the {noun} with the lowest Price.",
        "Show me the cheapest {noun}.",
        "Take me to the page of the cheapest {noun}.",
    ),
    "add": (
        "Buy {name}.",
        "Add {name} to the {cart}.",
        "Put {name} in the {cart}.",
        "I want {name} in my {cart}.",
        "Find {name} and add it to my {cart}.",
    ),
    "read": (
        "What is the {label} of {name}?",
        "Find the {label} of {name}.",
        "Tell me the {label} of {name}.",
        "I want to know the {label} of {name}.",
        "Look at {name}. What is its {label}?",
    ),
    "add_two": (
        "Buy {a} and {b}.",
        "Add {a} and {b} to the {cart}.",
        "Put {a} and {b} in the {cart}.",
        "I want {a} and {b} in my {cart}.",
        "Add {a} to my {cart}, then add {b}.",
    ),
    "add_cheapest": (
        "Buy the cheapest {noun}.",
        "Add the cheapest {noun} to the {cart}.",
        "Put the cheapest {noun} in the {cart}.",
        "I want the cheapest {noun} in my {cart}.",
        "Find the {noun} with the lowest Price and add it to the {cart}.",
    ),
    "add_cheapest_color": (
        "Buy the cheapest {color} {noun}.",
        "Add the cheapest {color} {noun} to the {cart}.",
        "Put the cheapest {color} {noun} in the {cart}.",
        "I want the cheapest {color} {noun} in my {cart}.",
        "Find the {color} {noun} with the lowest Price and add it to the {cart}.",
    ),
    "compare": (
        "What is the higher {label}, of {a} or of {b}?",
        "Find the higher {label} of {a} and {b}.",
        "Tell me the higher {label} of {a} and {b}.",
        "Look at {a} and {b}. What is the higher {label}?",
        "I want to know the higher {label} of {a} and {b}.",
    ),
    "oldest": (
        "Open the oldest {noun}.",
        "Find the oldest {noun} and open it.",
        "Go to the {noun} with the lowest Year.",
        "Show me the oldest {noun}.",
        "Take me to the page of the oldest {noun}.",
    ),
    "read_oldest": (
        "What is the {label} of the oldest {noun}?",
        "Find the {label} of the oldest {noun}.",
        "Tell me the {label} of the oldest {noun}.",
        "I want to know the {label} of the oldest {noun}.",
        "Look at the oldest {noun}. What is its {label}?",
    ),
    "oldest_region": (
        "Open the oldest {noun} in the {region}.",
        "Find the oldest {noun} in the {region} and open it.",
        "Go to the oldest {region} {noun}.",
        "Show me the oldest {noun} in the {region}.",
        "Take me to the page of the oldest {region} {noun}.",
    ),
    "read_oldest_region": (
        "What is the {label} of the oldest {noun} in the {region}?",
        "Find the {label} of the oldest {noun} in the {region}.",
        "Tell me the {label} of the oldest {region} {noun}.",
        "I want to know the {label} of the oldest {noun} in the {region}.",
        "Look at the oldest {region} {noun}. What is its {label}?",
    ),
}


CORES: dict[str, tuple[templates.Form, str]] = {
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
}
"""The same goals for the templates of `templates.py`."""
_FIRST_TEMPLATED = 100
"""The numbers of phrasings by template begin here for these goals."""


def phrase(goal: Goal, rng: random.Random, phrasings: templates.Phrasings = "plain") -> tuple[str, int]:
    """An instruction for a goal, and the number of its phrasing."""
    if goal.cores:
        return templates.draw(goal.form, goal.cores, rng, phrasings)
    options = PHRASINGS[goal.name]
    if phrasings == "plain" or (phrasings == "train" and rng.random() < 1 / 3):
        index = rng.randrange(len(options))
        return options[index].format(**goal.fields), index
    form, core = CORES[goal.name]
    text, index = templates.draw(form, (core.format(**goal.fields),), rng, phrasings)
    return text, _FIRST_TEMPLATED + index


def restate(goal: Goal) -> str:
    """A goal in its first phrasing, which says no more than the others do."""
    return templates.say(goal.form, 0, goal.cores[0]) if goal.cores else PHRASINGS[goal.name][0].format(**goal.fields)


def said(goal: Goal, instruction: str) -> tuple[str, ...]:
    """The values of a goal that an instruction says."""
    return tuple(dict.fromkeys(value for value in goal.fields.values() if value in instruction))
