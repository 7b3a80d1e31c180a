"""Tasks of an editor who has logged in, and of an administrator."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Step, Template, World, added, changed, removed
from webdojo.envs.apps.mediawiki.reader import Page, an_article, done, find, page_of
from webdojo.envs.apps.mediawiki.world import unit_of

_SENTENCES = (
    "It was surveyed again last year.",
    "A film was shot there in summer.",
    "A new sign was put up in spring.",
    "The mayor opened it in person.",
    "It is shown on an old stamp.",
)
_SUMMARIES = ("from the newspaper", "asked for by readers", "survey of this year", "as in the guide", "long overdue")
_HEADINGS = ("Opening hours", "Broken link", "Better photo", "Name in dialect", "Correct height")
_MESSAGES = (
    "I can take care of it.",
    "Please have a look at it.",
    "There is a new book on this.",
    "What do you think?",
)
_REASONS = ("agreed on by all", "too many changes", "by the rules of this wiki", "asked for by the town")
_NEW_TITLES = ("Quarry", "Lighthouse", "Windmill", "Chapel", "Viaduct", "Cave")
_TALK = 1
ADMIN, EDITOR = 0, 1


def _name(world: World, who: int) -> str:
    name: str = world["people"][who]["name"]
    return name


def _key(title: str) -> str:
    """A title as the database has it."""
    return title.partition(":")[2].replace(" ", "_") if ":" in title else title.replace(" ", "_")


def _new_id(world: World) -> int:
    """The id of the next page that is made."""
    return len(world["pages"]) + 1


def _any_edit(world: World, id: int, who: int = EDITOR) -> dict[str, Any]:
    """The pattern of the edits that somebody makes to a page on the way."""
    return {"table": "edit", "kind": "added", "values": {"page": id, "user": _name(world, who)}}


def _summed_up(world: World, id: int, summary: str) -> Fact:
    """The edit has the summary, which the wiki may have put the name of a section before."""
    wanted = {"type": "contains", "values": [summary]}
    return added(f"The edit has the summary {summary}", "edit", page=id, user=_name(world, EDITOR), summary=wanted)


def _logged(world: World, kind: str, title: str, who: int, reason: str = "") -> Fact:
    wanted = {"summary": {"type": "contains", "values": [reason]}} if reason else {}
    says = f"The log has {title}{' with the reason ' if reason else ''}{reason}"
    return added(says, "event", type=kind, user=_name(world, who), title=_key(title), **wanted)


def _save(text: str, summary: str = "") -> list[Step]:
    return [
        {"do": "write", "field": "wpTextbox1", "text": text},
        *([{"do": "write", "field": "wpSummary", "text": summary}] if summary else []),
        {"do": "click", "css": "#wpSave"},
        {"do": "click", "css": "#ca-view a"},
        done(),
    ]


def _now(page: Page) -> str:
    text: str = page["edits"][-1]["text"]
    return text


def _section(page: Page, heading: str) -> str:
    """The wikitext of a section, with its heading."""
    start = _now(page).index(f"== {heading} ==")
    return _now(page)[start:].partition("\n\n")[0]


def _append(world: World, rng: random.Random) -> Goal:
    page, number = an_article(world, rng), rng.choice((1, 2))
    heading = ("History", "Visit")[number - 1]
    sentence, summary = rng.choice(_SENTENCES), rng.choice(_SUMMARIES)
    old = _section(page, heading)
    new = f"{old} {sentence}"
    facts = [
        changed(f"The section {heading} ends with it", "article", page["id"], text=_now(page).replace(old, new)),
        _summed_up(world, page["id"], summary),
    ]
    plan = [
        *find(page["title"]),
        {"do": "click", "css": f'.mw-editsection a[href$="section={number}"]'},
        *_save(new, summary),
    ]
    fields = {"title": page["title"], "heading": heading, "sentence": sentence, "summary": summary}
    key = f"{page['id']}-{number}-{_SENTENCES.index(sentence)}-{_SUMMARIES.index(summary)}"
    return Goal(key, fields, facts, plan, [_any_edit(world, page["id"])])


def _correct(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    label = rng.choice(list(page["facts"])[:3])
    old, new = page["facts"][label], page["facts"][label] + rng.randint(1, 9)
    row = f"! {label}\n| {{}}"
    text = _now(page).replace(row.format(old), row.format(new))
    facts = [changed(f"The {label.lower()} is {new}", "article", page["id"], text=text)]
    plan = [*find(page["title"]), {"do": "click", "css": "#ca-edit a"}, *_save(text)]
    value = f"{new} {unit_of(label)}".strip()
    fields = {"title": page["title"], "label": label.lower(), "value": value}
    return Goal(f"{page['id']}-{label.lower()}-{new}", fields, facts, plan, [_any_edit(world, page["id"])])


def _categorise(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    name = rng.choice([town for town in world["towns"] if town != page["facts"]["Town"]])
    body, first, second = _now(page).rsplit("\n", 2)
    tag = f"[[Category:{name}]]"
    orders = [[tag, first, second], [first, tag, second], [first, second, tag]]
    texts = ["\n".join([body, *tags]) for tags in orders]
    wanted = {"type": "among", "values": texts}
    facts = [changed(f"{page['title']} is in {name}", "article", page["id"], text=wanted)]
    plan = [*find(page["title"]), {"do": "click", "css": "#ca-edit a"}, *_save(texts[-1])]
    fields = {"title": page["title"], "name": name}
    return Goal(f"{page['id']}-{name.lower()}", fields, facts, plan, [_any_edit(world, page["id"])])


def _create(world: World, rng: random.Random) -> Goal:
    title = f"{rng.choice(_NEW_TITLES)} of {rng.choice(world['towns'])}"
    text = rng.choice(_SENTENCES)
    summary = rng.choice(_SUMMARIES)
    facts = [
        added(f"{title} is there", "article", namespace=0, title=_key(title), redirect=0, text=text),
        _summed_up(world, _new_id(world), summary),
    ]
    log = {"table": "event", "kind": "added", "values": {"type": "create", "title": _key(title)}}
    plan = [*find(title), {"do": "click", "text": title, "href": "/w/index.php"}, *_save(text, summary)]
    key = f"{_key(title)}-{_SENTENCES.index(text)}-{_SUMMARIES.index(summary)}"
    fields = {"title": title, "text": text, "summary": summary}
    return Goal(key, fields, facts, plan, [_any_edit(world, _new_id(world)), log])


def _list(world: World, rng: random.Random) -> Goal:
    made, page = _create(world, rng), an_article(world, rng)
    title, summary = made.fields["title"], made.fields["summary"]
    old = _section(page, "See also")
    new = f"{old}\n* [[{title}]]"
    facts = [
        *made.facts,
        changed(f"{page['title']} lists it", "article", page["id"], text=_now(page).replace(old, new)),
        _summed_up(world, page["id"], summary),
    ]
    plan = [
        *made.plan[:-1],
        *find(page["title"]),
        {"do": "click", "css": "#ca-edit a"},
        *_save(_now(page).replace(old, new), summary),
    ]
    fields = {**made.fields, "other": page["title"]}
    return Goal(f"{made.key}-{page['id']}", fields, facts, plan, [*made.allowed, _any_edit(world, page["id"])])


def _redirect(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    title = f"Old {page['title']}"
    text = f"#REDIRECT [[{page['title']}]]"
    wanted = {"type": "among", "values": [text, text.replace(" ", "", 1)]}
    facts = [added(f"{title} leads there", "article", namespace=0, title=_key(title), redirect=1, text=wanted)]
    log = {"table": "event", "kind": "added", "values": {"type": "create", "title": _key(title)}}
    plan = [*find(title), {"do": "click", "text": title, "href": "/w/index.php"}, *_save(text)]
    fields = {"title": title, "target": page["title"]}
    return Goal(_key(title), fields, facts, plan, [_any_edit(world, _new_id(world)), log])


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
    return Goal(str(page["id"]), {"title": page["title"]}, facts, plan, [_any_edit(world, page["id"])])


def _moved(world: World, rng: random.Random) -> Goal:
    talks = {page_of(world, id)["title"].partition(":")[2] for id in world["talks"]}
    page = an_article(world, rng)
    while page["title"] in talks:
        page = an_article(world, rng)
    name, kind = page["title"].rsplit(" ", 1)
    title, reason = f"{rng.choice(('Upper', 'Lower', 'New', 'Great'))} {name} {kind}", rng.choice(_REASONS)
    facts = [
        changed(f"{page['title']} is {title}", "article", page["id"], title=_key(title)),
        added(
            "The old title leads to the new one",
            "article", title=_key(page["title"]), redirect=1, text=f"#REDIRECT [[{title}]]",
        ),
        _logged(world, "move", page["title"], EDITOR, reason),
    ]  # fmt: skip
    plan: list[Step] = [
        *find(page["title"]),
        {"do": "click", "css": "#p-cactions"},
        {"do": "click", "css": "#ca-move a"},
        {"do": "write", "field": "wpNewTitleMain", "text": title},
        {"do": "write", "field": "wpReason", "text": reason},
        {"do": "click", "text": "Move page"},
        {"do": "click", "text": title},
        done(),
    ]
    fields = {"old": page["title"], "new": title, "reason": reason}
    allowed = [_any_edit(world, page["id"]), _any_edit(world, _new_id(world))]
    return Goal(f"{_key(title)}-{_REASONS.index(reason)}", fields, facts, plan, allowed)


def _watch(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    while page["id"] in world["watched"]:
        page = an_article(world, rng)
    both = [
        added(f"{title} is watched", "watchlist", wl_user=EDITOR + 1, wl_namespace=space, wl_title=_key(page["title"]))
        for space, title in ((0, page["title"]), (_TALK, f"Talk:{page['title']}"))
    ]
    plan = [*find(page["title"]), {"do": "page", "text": "Unwatch", "next": "Watch"}, done()]
    return Goal(str(page["id"]), {"title": page["title"]}, both[:1], plan, [both[1]["change"]])


def _unwatch(world: World, rng: random.Random) -> Goal:
    at = rng.randrange(len(world["watched"]))
    page = page_of(world, world["watched"][at])
    facts = [
        {"says": f"{page['title']} is not watched", "change": _unwatched(2 * at + 1)},
    ]
    plan = [*find(page["title"]), {"do": "page", "text": "Watch", "next": "Unwatch"}, done()]
    return Goal(str(page["id"]), {"title": page["title"]}, facts, plan, [_unwatched(2 * at + 2)])


def _unwatched(id: int) -> dict[str, Any]:
    return {"table": "watchlist", "kind": "removed", "key": {"wl_id": id}}


def _reply(world: World, rng: random.Random) -> Goal:
    page, message = page_of(world, rng.choice(world["talks"])), rng.choice(_MESSAGES)
    old = _now(page)
    wanted = {"type": "contains", "values": [*old.split("\n"), message]}
    facts = [changed("The answer is there", "article", page["id"], text=wanted)]
    plan = [*find(page["title"]), {"do": "click", "css": "#ca-edit a"}, *_save(f"{old}\n:: {message} ~~~~")]
    fields = {"title": page["title"].partition(":")[2], "heading": page["heading"], "message": message}
    key = f"{page['id']}-{_MESSAGES.index(message)}"
    return Goal(key, fields, facts, plan, [_any_edit(world, page["id"])])


def _topic(world: World, rng: random.Random) -> Goal:
    page, heading = page_of(world, rng.choice(world["talks"])), rng.choice(_HEADINGS)
    message = rng.choice(_MESSAGES)
    old = _now(page)
    wanted = {"type": "contains", "values": [*old.split("\n"), f"== {heading} ==", message]}
    facts = [changed("The new section is there", "article", page["id"], text=wanted)]
    plan: list[Step] = [
        *find(page["title"]),
        {"do": "click", "css": "#ca-addsection a"},
        {"do": "write", "field": "wpSummary", "text": heading},
        {"do": "write", "field": "wpTextbox1", "text": f"{message} ~~~~"},
        {"do": "click", "css": "#wpSave"},
        {"do": "click", "css": "#ca-view a"},
        done(),
    ]
    fields = {"title": page["title"].partition(":")[2], "heading": heading, "message": message}
    key = f"{page['id']}-{_HEADINGS.index(heading)}-{_MESSAGES.index(message)}"
    return Goal(key, fields, facts, plan, [_any_edit(world, page["id"])])


def _protect(world: World, rng: random.Random) -> Goal:
    page, reason = an_article(world, rng), rng.choice(_REASONS)
    edit, move = (
        added(f"Only administrators {kind} it", "page_restrictions", pr_page=page["id"], pr_type=kind, pr_level="sysop")
        for kind in ("edit", "move")
    )
    facts = [edit, _logged(world, "protect", page["title"], ADMIN, reason)]
    plan: list[Step] = [
        *find(page["title"]),
        {"do": "go", "path": f"/w/index.php?title={_key(page['title'])}&action=protect&mwProtect-level-edit=sysop"},
        {"do": "write", "field": "mwProtect-reason", "text": reason},
        {"do": "click", "text": "Confirm"},
        {"do": "click", "css": "#ca-view a"},
        done(),
    ]
    fields = {"title": page["title"], "reason": reason}
    allowed = [move["change"], _any_edit(world, page["id"], ADMIN)]
    return Goal(f"{page['id']}-{_REASONS.index(reason)}", fields, facts, plan, allowed)


def _delete(world: World, rng: random.Random) -> Goal:
    talks = {page_of(world, id)["title"].partition(":")[2] for id in world["talks"]}
    page, reason = an_article(world, rng), rng.choice(_REASONS)
    while page["title"] in talks:
        page = an_article(world, rng)
    facts = [
        removed(f"{page['title']} is gone", "article", page["id"]),
        _logged(world, "delete", page["title"], ADMIN, reason),
    ]
    plan: list[Step] = [
        *find(page["title"]),
        {"do": "click", "css": "#p-cactions"},
        {"do": "click", "css": "#ca-delete a"},
        {"do": "write", "field": "wpReason", "text": reason},
        {"do": "click", "text": "Delete page"},
        {"do": "click", "text": "Main page"},
        done(),
    ]
    gone = {"table": "edit", "kind": "removed", "key": {"page": page["id"]}}
    fields = {"title": page["title"], "reason": reason}
    return Goal(f"{page['id']}-{_REASONS.index(reason)}", fields, facts, plan, [gone])


def _block(world: World, rng: random.Random) -> Goal:
    person, reason = rng.choice(world["people"][2:]), rng.choice(_REASONS)
    facts = [
        added(f"{person['name']} is blocked", "ipblocks", ipb_user=person["id"], ipb_expiry="infinity"),
        _logged(world, "block", person["name"], ADMIN, reason),
    ]
    plan: list[Step] = [
        {"do": "go", "path": f"/wiki/Special:Block/{_key(person['name'])}?wpExpiry=infinite"},
        {"do": "write", "field": "wpReason-other", "text": reason},
        {"do": "click", "text": "Block this user"},
        {"do": "click", "text": "Main page"},
        done(),
    ]
    fields = {"name": person["name"], "reason": reason}
    return Goal(f"{person['id']}-{_REASONS.index(reason)}", fields, facts, plan)


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
    Template(
        "rename",
        _moved,
        (
            "Move the page {old} to “{new}” with the reason “{reason}”, and leave a redirect.",
            "Rename {old} to “{new}” and keep the redirect. Reason: “{reason}”.",
            "The article {old} shall be called “{new}”. Move it for the reason “{reason}”, with a redirect.",
            "Give the page {old} the title “{new}”; the old one redirects. State “{reason}” as reason.",
            "Please move {old} so that its title is “{new}”, with a redirect. Say “{reason}” as the reason.",
        ),
        "editor",
    ),
    Template(
        "watch",
        _watch,
        (
            "Put the page {title} on your watchlist.",
            "Watch the article {title}.",
            "Add {title} to the pages that you watch.",
            "From now on, watch the page {title}.",
            "Let the article {title} be on your watchlist.",
        ),
        "editor",
    ),
    Template(
        "unwatch",
        _unwatch,
        (
            "Take the page {title} off your watchlist.",
            "Stop watching the article {title}.",
            "Remove {title} from the pages that you watch.",
            "You need not watch {title} any more. Unwatch it.",
            "Let {title} not be on your watchlist any longer.",
        ),
        "editor",
    ),
    Template(
        "reply",
        _reply,
        (
            "On the talk page of {title}, reply under “{heading}”: “{message}”",
            "Answer in the discussion “{heading}” of the talk page of {title} with “{message}”",
            "Write “{message}” as a reply below “{heading}” on the talk page of {title}.",
            "The talk page of {title} has a section “{heading}”. Reply there: “{message}”",
            "Join the discussion of {title}, under “{heading}”, by saying “{message}”",
        ),
        "editor",
    ),
    Template(
        "topic",
        _topic,
        (
            "On the talk page of {title}, start a new section “{heading}” that says “{message}”",
            "Add a topic “{heading}” to the talk page of {title} with the text “{message}”",
            "Open a discussion “{heading}” on the talk page of {title}: “{message}”",
            "The talk page of {title} shall get a new section, “{heading}”, with “{message}” in it.",
            "Begin a new topic about {title} on its talk page. Subject: “{heading}”. Text: “{message}”",
        ),
        "editor",
    ),
    Template(
        "protect",
        _protect,
        (
            "Protect the page {title}, so that only administrators can edit it. Reason: “{reason}”.",
            "Let only administrators edit {title}, with the reason “{reason}”.",
            "Lock {title} against edits by all but administrators. Give “{reason}” as the reason.",
            "From now on only administrators may edit {title}. Protect it; the reason is “{reason}”.",
            "Set the protection of {title} against edits to administrators only, because of “{reason}”.",
        ),
        "admin",
    ),
    Template(
        "delete",
        _delete,
        (
            "Delete the page {title} with the reason “{reason}”.",
            "Remove the article {title} from the wiki. Reason: “{reason}”.",
            "The page {title} has to go. Delete it and give the reason “{reason}”.",
            "Please delete {title}, stating “{reason}” as the reason.",
            "Get rid of the article {title}; the reason to give is “{reason}”.",
        ),
        "admin",
    ),
    Template(
        "block",
        _block,
        (
            "Block the user {name} without an end, with the reason “{reason}”.",
            "Block {name} indefinitely. Reason: “{reason}”.",
            "Keep the user {name} from editing for good by a block; its reason is “{reason}”.",
            "Please give {name} an indefinite block, stating “{reason}” as the reason.",
            "The account {name} shall be blocked for ever, because of “{reason}”.",
        ),
        "admin",
    ),
)
