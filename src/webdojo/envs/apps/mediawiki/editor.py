"""Tasks of an editor who writes articles."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Step, Template, World, added, changed
from webdojo.envs.apps.mediawiki.reader import Page, an_article, done, find
from webdojo.envs.apps.mediawiki.world import unit_of

_SENTENCES = (
    "It was surveyed again last year.",
    "A film was shot there in summer.",
    "A new sign was put up in spring.",
    "The mayor opened it in person.",
    "It is shown on an old stamp.",
)
_SUMMARIES = ("from the newspaper", "asked for by readers", "survey of this year", "as in the guide", "long overdue")
_NEW_TITLES = ("Quarry", "Lighthouse", "Windmill", "Chapel", "Viaduct", "Cave")
ADMIN, EDITOR = 0, 1


def name_of(world: World, who: int) -> str:
    name: str = world["people"][who]["name"]
    return name


def key_of(title: str) -> str:
    """A title as the database has it."""
    return title.partition(":")[2].replace(" ", "_") if ":" in title else title.replace(" ", "_")


def new_id(world: World) -> int:
    """The id of the next page that is made."""
    return len(world["pages"]) + 1


def any_edit(world: World, id: int, who: int = EDITOR) -> dict[str, Any]:
    """The pattern of the edits that somebody makes to a page on the way."""
    return {"table": "edit", "kind": "added", "many": True, "values": {"page": id, "user": name_of(world, who)}}


def _summed_up(world: World, id: int, summary: str) -> Fact:
    """The edit has the summary, which the wiki may have put the name of a section before."""
    wanted = {"type": "contains", "values": [summary]}
    return added(f"The edit has the summary {summary}", "edit", page=id, user=name_of(world, EDITOR), summary=wanted)


def save(text: str, summary: str = "") -> list[Step]:
    return [
        {"do": "write", "field": "wpTextbox1", "text": text},
        *([{"do": "write", "field": "wpSummary", "text": summary}] if summary else []),
        {"do": "click", "css": "#wpSave"},
        {"do": "click", "css": "#ca-view a"},
        done(),
    ]


def text_now(page: Page) -> str:
    text: str = page["edits"][-1]["text"]
    return text


def _section(page: Page, heading: str) -> str:
    """The wikitext of a section, with its heading."""
    start = text_now(page).index(f"== {heading} ==")
    return text_now(page)[start:].partition("\n\n")[0]


def _append(world: World, rng: random.Random) -> Goal:
    page, number = an_article(world, rng), rng.choice((1, 2))
    heading = ("History", "Visit")[number - 1]
    sentence, summary = rng.choice(_SENTENCES), rng.choice(_SUMMARIES)
    old = _section(page, heading)
    new = f"{old} {sentence}"
    facts = [
        changed(f"The section {heading} ends with it", "article", page["id"], text=text_now(page).replace(old, new)),
        _summed_up(world, page["id"], summary),
    ]
    plan = [
        *find(page["title"]),
        {"do": "click", "css": f'.mw-editsection a[href$="section={number}"]'},
        *save(new, summary),
    ]
    fields = {"title": page["title"], "heading": heading, "sentence": sentence, "summary": summary}
    key = f"{page['id']}-{number}-{_SENTENCES.index(sentence)}-{_SUMMARIES.index(summary)}"
    return Goal(key, fields, facts, plan, [any_edit(world, page["id"])])


def _correct(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    label = rng.choice(list(page["facts"])[:3])
    old, new = page["facts"][label], page["facts"][label] + rng.randint(1, 9)
    row = f"! {label}\n| {{}}"
    text = text_now(page).replace(row.format(old), row.format(new))
    facts = [changed(f"The {label.lower()} is {new}", "article", page["id"], text=text)]
    plan = [*find(page["title"]), {"do": "click", "css": "#ca-edit a"}, *save(text)]
    value = f"{new} {unit_of(label)}".strip()
    fields = {"title": page["title"], "label": label.lower(), "value": value}
    return Goal(f"{page['id']}-{label.lower()}-{new}", fields, facts, plan, [any_edit(world, page["id"])])


def _categorise(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    name = rng.choice([town for town in world["towns"] if town != page["facts"]["Town"]])
    body, first, second = text_now(page).rsplit("\n", 2)
    tag = f"[[Category:{name}]]"
    orders = [[tag, first, second], [first, tag, second], [first, second, tag]]
    texts = ["\n".join([body, *tags]) for tags in orders]
    wanted = {"type": "among", "values": texts}
    facts = [changed(f"{page['title']} is in {name}", "article", page["id"], text=wanted)]
    plan = [*find(page["title"]), {"do": "click", "css": "#ca-edit a"}, *save(texts[-1])]
    fields = {"title": page["title"], "name": name}
    return Goal(f"{page['id']}-{name.lower()}", fields, facts, plan, [any_edit(world, page["id"])])


def _create(world: World, rng: random.Random) -> Goal:
    title = f"{rng.choice(_NEW_TITLES)} of {rng.choice(world['towns'])}"
    text = rng.choice(_SENTENCES)
    summary = rng.choice(_SUMMARIES)
    facts = [
        added(f"{title} is there", "article", namespace=0, title=key_of(title), redirect=0, text=text),
        _summed_up(world, new_id(world), summary),
    ]
    log = {"table": "event", "kind": "added", "values": {"type": "create", "title": key_of(title)}}
    plan = [*find(title), {"do": "click", "text": title, "href": "/w/index.php"}, *save(text, summary)]
    key = f"{key_of(title)}-{_SENTENCES.index(text)}-{_SUMMARIES.index(summary)}"
    fields = {"title": title, "text": text, "summary": summary}
    return Goal(key, fields, facts, plan, [any_edit(world, new_id(world)), log])


def _list(world: World, rng: random.Random) -> Goal:
    made, page = _create(world, rng), an_article(world, rng)
    title, summary = made.fields["title"], made.fields["summary"]
    old = _section(page, "See also")
    new = f"{old}\n* [[{title}]]"
    facts = [
        *made.facts,
        changed(f"{page['title']} lists it", "article", page["id"], text=text_now(page).replace(old, new)),
        _summed_up(world, page["id"], summary),
    ]
    plan = [
        *made.plan[:-1],
        *find(page["title"]),
        {"do": "click", "css": "#ca-edit a"},
        *save(text_now(page).replace(old, new), summary),
    ]
    fields = {**made.fields, "other": page["title"]}
    return Goal(f"{made.key}-{page['id']}", fields, facts, plan, [*made.allowed, any_edit(world, page["id"])])


def _redirect(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    title = f"Old {page['title']}"
    text = f"#REDIRECT [[{page['title']}]]"
    wanted = {"type": "among", "values": [text, text.replace(" ", "", 1)]}
    facts = [added(f"{title} leads there", "article", namespace=0, title=key_of(title), redirect=1, text=wanted)]
    log = {"table": "event", "kind": "added", "values": {"type": "create", "title": key_of(title)}}
    plan = [*find(title), {"do": "click", "text": title, "href": "/w/index.php"}, *save(text)]
    fields = {"title": title, "target": page["title"]}
    return Goal(key_of(title), fields, facts, plan, [any_edit(world, new_id(world)), log])


def _undo(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng, 2)
    facts = [
        changed(f"{page['title']} is as before", "article", page["id"], text=page["edits"][-2]["text"]),
    ]
    plan: list[Step] = [
        *find(page["title"]),
        {"do": "click", "css": "#ca-history a"},
        {"do": "click", "css": ".mw-history-undo a"},
        {"do": "click", "css": "#wpSave"},
        {"do": "click", "css": "#ca-view a"},
        done(),
    ]
    return Goal(str(page["id"]), {"title": page["title"]}, facts, plan, [any_edit(world, page["id"])])


TEMPLATES = (
    Template(
        "append",
        _append,
        (
            "Add the sentence “{sentence}” to the end of the section {heading} of {title}. Edit summary: “{summary}”.",
            "In the article {title}, let the section {heading} end with “{sentence}”, with the summary “{summary}”.",
            "Edit {title}: the last sentence of {heading} shall be “{sentence}”. Sum the edit up as “{summary}”.",
            "Append “{sentence}” to {heading} in {title}, and write “{summary}” as the edit summary.",
            "The section {heading} of {title} lacks “{sentence}” at its end. Add it with the summary “{summary}”.",
        ),
        "editor",
    ),
    Template(
        "correct",
        _correct,
        (
            "In the table of {title}, change the {label} to {value}.",
            "Correct the {label} in the table of the article {title} to {value}.",
            "Edit {title} so that its table gives {value} as {label}.",
            "The table of {title} is wrong: its {label} is {value}. Correct it.",
            "Set the {label} of {title} to {value} in the table.",
        ),
        "editor",
    ),
    Template(
        "categorise",
        _categorise,
        (
            "Put the article {title} into the category {name} too, beside those that it is in.",
            "Add the category {name} to the page {title}.",
            "The page {title} belongs to the category {name} as well. Add it there.",
            "Let {title} be listed in the category {name}, too.",
            "Give {title} the further category {name}.",
        ),
        "editor",
    ),
    Template(
        "create",
        _create,
        (
            "Create the page “{title}” with the text “{text}” and the summary “{summary}”.",
            "There is no page “{title}” yet. Write it: “{text}”. Edit summary: “{summary}”.",
            "Start an article called “{title}” that says “{text}”, and sum the edit up as “{summary}”.",
            "Make a new page, “{title}”. Its text is “{text}” and the edit summary “{summary}”.",
            "Write the article “{title}”, which is to read “{text}”. Use “{summary}” as summary.",
        ),
        "editor",
    ),
    Template(
        "list",
        _list,
        (
            "Create the page “{title}” with the text “{text}”, and add a link to it at the end of the list See also "
            "of {other}. The summary of both edits is “{summary}”.",
            "Write the new article “{title}”: “{text}”. Then link it at the end of See also in {other}. Sum up both "
            "edits as “{summary}”.",
            "Two edits, both with the summary “{summary}”: a new page “{title}” that says “{text}”, and a link to it "
            "as the last one under See also of {other}.",
            "Start the page “{title}” with “{text}”, and let the list See also of {other} end with a link to it. Use "
            "the summary “{summary}” each time.",
            "Make an article “{title}” that reads “{text}”. Add it to See also in {other} as the last link. Say "
            "“{summary}” in the summaries of both edits.",
        ),
        "editor",
    ),
    Template(
        "redirect",
        _redirect,
        (
            "Create the page “{title}” as a redirect to {target}.",
            "Make a redirect from “{title}” to {target}.",
            "Let the new page “{title}” redirect to {target}.",
            "Whoever looks for “{title}” should get to {target}: set up a redirect.",
            "Set up “{title}” so that it redirects to the article {target}.",
        ),
        "editor",
    ),
    Template(
        "undo",
        _undo,
        (
            "Undo the last edit of the article {title}.",
            "Take back the latest change of {title}, so that it is as before.",
            "The most recent edit of {title} was a mistake. Undo it.",
            "Revert the page {title} to the version before the last one.",
            "Whoever edited {title} last was wrong. Undo that edit.",
        ),
        "editor",
    ),
)
