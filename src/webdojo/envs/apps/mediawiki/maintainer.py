"""Tasks of those who look after the wiki: an editor's titles, watch list and talk pages, and what administrators do."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Step, Template, World, added, changed, removed
from webdojo.envs.apps.mediawiki.editor import ADMIN, EDITOR, any_edit, key_of, name_of, new_id, save, text_now
from webdojo.envs.apps.mediawiki.reader import an_article, done, find, page_of

_HEADINGS = ("Opening hours", "Broken link", "Better photo", "Name in dialect", "Correct height")
_MESSAGES = (
    "I can take care of it.",
    "Please have a look at it.",
    "There is a new book on this.",
    "What do you think?",
)
_REASONS = ("agreed on by all", "too many changes", "by the rules of this wiki", "asked for by the town")
_TALK = 1


def _logged(world: World, kind: str, title: str, who: int, reason: str = "") -> Fact:
    wanted = {"summary": {"type": "contains", "values": [reason]}} if reason else {}
    says = f"The log has {title}{' with the reason ' if reason else ''}{reason}"
    return added(says, "event", type=kind, user=name_of(world, who), title=key_of(title), **wanted)


def _moved(world: World, rng: random.Random) -> Goal:
    talks = {page_of(world, id)["title"].partition(":")[2] for id in world["talks"]}
    page = an_article(world, rng)
    while page["title"] in talks:
        page = an_article(world, rng)
    name, kind = page["title"].rsplit(" ", 1)
    title, reason = f"{rng.choice(('Upper', 'Lower', 'New', 'Great'))} {name} {kind}", rng.choice(_REASONS)
    facts = [
        changed(f"{page['title']} is {title}", "article", page["id"], title=key_of(title)),
        added(
            "The old title leads to the new one",
            "article", title=key_of(page["title"]), redirect=1, text=f"#REDIRECT [[{title}]]",
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
    allowed = [any_edit(world, page["id"]), any_edit(world, new_id(world))]
    return Goal(f"{key_of(title)}-{_REASONS.index(reason)}", fields, facts, plan, allowed)


def _watch(world: World, rng: random.Random) -> Goal:
    page = an_article(world, rng)
    while page["id"] in world["watched"]:
        page = an_article(world, rng)
    both = [
        added(
            f"{title} is watched", "watchlist", wl_user=EDITOR + 1, wl_namespace=space, wl_title=key_of(page["title"])
        )
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
    old = text_now(page)
    wanted = {"type": "contains", "values": [*old.split("\n"), message]}
    facts = [changed("The answer is there", "article", page["id"], text=wanted)]
    plan = [*find(page["title"]), {"do": "click", "css": "#ca-edit a"}, *save(f"{old}\n:: {message} ~~~~")]
    fields = {"title": page["title"].partition(":")[2], "heading": page["heading"], "message": message}
    key = f"{page['id']}-{_MESSAGES.index(message)}"
    return Goal(key, fields, facts, plan, [any_edit(world, page["id"])])


def _topic(world: World, rng: random.Random) -> Goal:
    page, heading = page_of(world, rng.choice(world["talks"])), rng.choice(_HEADINGS)
    message = rng.choice(_MESSAGES)
    old = text_now(page)
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
    return Goal(key, fields, facts, plan, [any_edit(world, page["id"])])


def _protect(world: World, rng: random.Random) -> Goal:
    page, reason = an_article(world, rng), rng.choice(_REASONS)
    edit, move = (
        added(f"Only administrators {kind} it", "page_restrictions", pr_page=page["id"], pr_type=kind, pr_level="sysop")
        for kind in ("edit", "move")
    )
    facts = [edit, _logged(world, "protect", page["title"], ADMIN, reason)]
    plan: list[Step] = [
        *find(page["title"]),
        {"do": "go", "path": f"/w/index.php?title={key_of(page['title'])}&action=protect&mwProtect-level-edit=sysop"},
        {"do": "write", "field": "mwProtect-reason", "text": reason},
        {"do": "click", "text": "Confirm"},
        {"do": "click", "css": "#ca-view a"},
        done(),
    ]
    fields = {"title": page["title"], "reason": reason}
    allowed = [move["change"], any_edit(world, page["id"], ADMIN)]
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
        {"do": "go", "path": f"/wiki/Special:Block/{key_of(person['name'])}?wpExpiry=infinite"},
        {"do": "write", "field": "wpReason-other", "text": reason},
        {"do": "click", "text": "Block this user"},
        {"do": "click", "text": "Main page"},
        done(),
    ]
    fields = {"name": person["name"], "reason": reason}
    return Goal(f"{person['id']}-{_REASONS.index(reason)}", fields, facts, plan)


TEMPLATES = (
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
