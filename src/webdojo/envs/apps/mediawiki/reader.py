"""Questions of somebody who reads the wiki without an account."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, answered, shown
from webdojo.envs.apps.mediawiki.world import unit_of
from webdojo.sites.answers.values import any_order, number, text, winner

Page = dict[str, Any]


def done(answer: str = "Done") -> Step:
    return {"do": "done", "answer": answer}


def find(title: str) -> list[Step]:
    """Go to a page by the search field."""
    return [{"do": "write", "field": "search", "text": title}, {"do": "click", "css": "#searchButton"}]


def page_of(world: World, id: int) -> Page:
    page: Page = world["pages"][id - 1]
    return page


def an_article(world: World, rng: random.Random, least_edits: int = 1) -> Page:
    """An article with so many edits at least."""
    articles = [page_of(world, id) for id in world["articles"]]
    return rng.choice([page for page in articles if len(page["edits"]) >= least_edits])


def others(world: World, name: str) -> list[str]:
    return [person["name"] for person in world["people"] if person["name"] != name]


def _fact(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    label = rng.choice(list(page["facts"]))
    value, unit = page["facts"][label], unit_of(label)
    right = number(value, unit) if isinstance(value, int) else text(value)
    facts = [
        shown(f"{page['title']} was shown", page["title"], f"{label} {value} {unit}".strip()),
        answered(f"The answer is {value}", right, [page["title"]]),
    ]
    fields = {"title": page["title"], "label": label.lower()}
    return Goal(f"{page['id']}-{label.lower()}", fields, facts, [*find(page["title"]), done(f"{value} {unit}".strip())])


def _larger(world: World, rng: random.Random) -> Goal:
    a = an_article(world, rng)
    label = list(a["facts"])[1]
    same = [page_of(world, id) for id in world["articles"] if page_of(world, id)["kind"] == a["kind"]]
    b = rng.choice([page for page in same if page["facts"][label] != a["facts"][label]])
    best = int(b["facts"][label] > a["facts"][label])
    titles = [page["title"] for page in (a, b)]
    unit = unit_of(label)
    facts = [
        *(
            shown(f"{page['title']} was shown", page["title"], f"{label} {page['facts'][label]} {unit}".strip())
            for page in (a, b)
        ),
        answered(
            f"The answer is {titles[best]}",
            winner([[title] for title in titles], best, [page["facts"][label] for page in (a, b)], unit),
            titles,
        ),
    ]
    fields = {"a": titles[0], "b": titles[1], "label": label.lower()}
    plan = [*find(titles[0]), *find(titles[1]), done(titles[best])]
    return Goal(f"{a['id']}-{b['id']}", fields, facts, plan)


def _from_history(world: World, page: Page, said: str, *texts: str, names: bool = True) -> Goal:
    """A question whose answer is in the history of a page."""
    rivals = others(world, said) if names else []
    facts = [
        shown(f"The history of {page['title']} was shown", page["title"], *texts),
        answered(f"The answer is {said}", text(said), [page["title"]], rivals),
    ]
    plan = [*find(page["title"]), {"do": "click", "css": "#ca-history a"}, done(said)]
    return Goal(str(page["id"]), {"title": page["title"]}, facts, plan)


def _last(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    user = page["edits"][-1]["user"]
    return _from_history(world, page, user, user)


def _creator(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng, 2)
    user = page["edits"][0]["user"]
    return _from_history(world, page, user, user)


def _summary(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng, 3)
    edit = rng.choice(page["edits"][1:])
    goal = _from_history(world, page, edit["summary"], edit["user"], edit["summary"], names=False)
    return Goal(f"{goal.key}-{edit['time']}", {**goal.fields, "user": edit["user"]}, goal.facts, goal.plan)


def _members(world: World, name: str) -> list[str]:
    articles = [page_of(world, id) for id in world["articles"]]
    return sorted(page["title"] for page in articles if name in (page["kind"], page["facts"]["Town"]))


def _count(world: World, rng: random.Random) -> Goal:
    name = rng.choice([*world["kinds"], *world["towns"]])
    count = len(_members(world, name))
    if count < 2:
        return _count(world, rng)
    facts = [
        shown(f"The category {name} was shown", name, str(count)),
        answered(f"The answer is {count}", number(count), [name]),
    ]
    return Goal(name.lower(), {"name": name}, facts, [*find(f"Category:{name}"), done(str(count))])


def _both(world: World, rng: random.Random) -> Goal:
    found: dict[tuple[str, str], list[Page]] = defaultdict(list)
    for id in world["articles"]:
        page = page_of(world, id)
        found[page["kind"], page["facts"]["Town"]].append(page)
    (kind, town), (page,) = rng.choice([each for each in found.items() if len(each[1]) == 1])
    facts = [
        shown(f"{page['title']} was shown", page["title"], kind, town),
        answered(
            f"The answer is {page['title']}",
            text(page["title"]),
            [kind, town],
            sorted({*_members(world, kind), *_members(world, town)} - {page["title"]}),
        ),
    ]
    plan = [*find(f"Category:{town}"), {"do": "click", "text": page["title"]}, done(page["title"])]
    return Goal(str(page["id"]), {"kind": kind, "town": town}, facts, plan)


def _links(world: World, rng: random.Random) -> Goal:
    linking: dict[str, list[str]] = defaultdict(list)
    for id in world["articles"]:
        for title in page_of(world, id)["see"]:
            linking[title].append(page_of(world, id)["title"])
    title = rng.choice([title for title, found in linking.items() if len(found) < 4])
    found = sorted(linking[title])
    value = any_order(found) if len(found) > 1 else text(found[0])
    facts = [
        shown(f"What links to {title} was shown", title, *found),
        answered(f"The answer is {', '.join(found)}", value, [title]),
    ]
    plan = [*find(title), {"do": "click", "text": "What links here"}, done(" and ".join(found))]
    return Goal(title.replace(" ", "_"), {"title": title}, facts, plan)


TEMPLATES = (
    Template(
        "fact",
        _fact,
        (
            "What {label} does the article {title} give?",
            "Look up {title} in the wiki. Which {label} does it have?",
            "Find the {label} in the table of the article on {title}.",
            "According to the wiki, what is the {label} of {title}?",
            "Tell me the {label} that the page {title} has in its table.",
        ),
    ),
    Template(
        "larger",
        _larger,
        (
            "Which has the larger {label}, {a} or {b}?",
            "Compare {a} and {b}: which of them has the larger {label}?",
            "Look up {a} and {b}. Which one has the larger {label}?",
            "Is the {label} of {a} or that of {b} larger? Name the one.",
            "Of {a} and {b}, which has more {label} by the wiki?",
        ),
    ),
    Template(
        "last",
        _last,
        (
            "Who made the last edit of the article {title}?",
            "Which user edited the page {title} last?",
            "Look into the history of {title}: who edited it most recently?",
            "Tell me who changed {title} last.",
            "By whom is the latest version of {title}?",
        ),
    ),
    Template(
        "creator",
        _creator,
        (
            "Who created the page {title}?",
            "Which user made the first edit of {title}?",
            "Look into the history of {title}: who began the article?",
            "Tell me who started the article {title}.",
            "By whom is the oldest version of {title}?",
        ),
    ),
    Template(
        "summary",
        _summary,
        (
            "Which edit summary did {user} give for the edit of {title}?",
            "What is the summary of the edit that {user} made to {title}?",
            "Look into the history of {title}: how did {user} sum up the edit?",
            "With which summary did {user} edit the page {title}?",
            "{user} edited {title}. What does the summary of that edit say?",
        ),
    ),
    Template(
        "count",
        _count,
        (
            "How many pages are in the category {name}?",
            "How many articles does the category {name} have?",
            "Count the pages in the category {name}.",
            "Tell me how many pages the wiki has in its category {name}.",
            "What is the number of pages in the category {name}?",
        ),
    ),
    Template(
        "both",
        _both,
        (
            "Which article is both in the category {kind} and in the category {town}?",
            "Find the page that the categories {kind} and {town} have in common.",
            "One article belongs to {kind} and to {town}. Which one?",
            "Which page is in the categories {town} and {kind} at once?",
            "Name the article that is listed under {kind} as well as under {town}.",
        ),
    ),
    Template(
        "links",
        _links,
        (
            "Which pages link to {title}? Name all of them.",
            "Find every article with a link to {title}.",
            "What links to the page {title}? List the articles.",
            "Name each page of the wiki that has a link to {title}.",
            "From which articles does a link lead to {title}?",
        ),
    ),
)
