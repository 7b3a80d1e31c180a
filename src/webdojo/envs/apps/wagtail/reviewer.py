"""Tasks of an editor who looks at what others wrote: moderation, histories and what is not public."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Step, Template, World, answered, changed, done, shown
from webdojo.envs.apps.wagtail.editor import DIALOG_OPENS, edited, explore, find, page_is
from webdojo.envs.apps.wagtail.visitor import articles
from webdojo.sites.answers.values import number, text

_COMMENTS = (
    "Please check the names again.",
    "The intro is too long.",
    "We need a second source.",
    "The title does not fit the text.",
    "Please add what the town says about it.",
)


def _states(world: World, article: dict[str, Any], workflow: str, task: str, **more: Any) -> tuple[Fact, Fact]:
    """What becomes of the workflow of an article and of its only task, which have the same id."""
    id = 1 + articles(world, "moderation").index(article)
    return (
        changed(f"The workflow of {article['title']} is {workflow}", "wagtailcore_workflowstate", id, status=workflow),
        changed(
            f"{article['title']} was {task} in its workflow", "wagtailcore_taskstate", id,
            status=task, finished_by_id=1, **more,
        ),
    )  # fmt: skip


def _approved(world: World, article: dict[str, Any]) -> tuple[list[Fact], list[Step], list[dict[str, Any]]]:
    """The facts of an approval, the steps to it, and what else it changes."""
    workflow, task = _states(world, article, "approved", "approved")
    public = page_is(f"{article['title']} is public", article, live=1, has_unpublished_changes=0)
    steps = [*find(article), {"do": "click", "text": "More actions"}, {"do": "click", "text": "Approve and Publish"}]
    return [public, task], steps, [workflow["change"], edited(article)]


def _sent_back(world: World, article: dict[str, Any], comment: str) -> tuple[list[Fact], list[Step]]:
    """The facts of a request for changes, and the steps to it."""
    steps = [
        *find(article),
        {"do": "click", "text": "More actions"},
        {"do": "click", "text": "Request changes"},
        DIALOG_OPENS,
        {"do": "write", "field": "comment", "text": comment},
        {"do": "click", "css": ".modal-dialog [type=submit]"},
    ]
    return list(_states(world, article, "needs_changes", "rejected", comment=comment)), steps


def _approve(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "moderation"))
    facts, steps, allowed = _approved(world, article)
    return Goal(str(article["id"]), {"title": article["title"]}, facts, [*steps, done()], allowed)


def _send_back(world: World, rng: random.Random) -> Goal:
    article, comment = rng.choice(articles(world, "moderation")), rng.choice(_COMMENTS)
    facts, steps = _sent_back(world, article, comment)
    key, fields = f"{article['id']}-{_COMMENTS.index(comment)}", {"title": article["title"], "comment": comment}
    return Goal(key, fields, facts, [*steps, done()])


def _review(world: World, rng: random.Random) -> Goal:
    (good, bad), comment = rng.sample(articles(world, "moderation"), 2), rng.choice(_COMMENTS)
    approval, approving, allowed = _approved(world, good)
    refusal, refusing = _sent_back(world, bad, comment)
    return Goal(
        f"{good['id']}-{bad['id']}-{_COMMENTS.index(comment)}",
        {"good": good["title"], "bad": bad["title"], "comment": comment},
        [*approval, *refusal],
        [*approving, {"do": "go", "path": "/admin/"}, *refusing, done()],
        allowed,
    )


def _last_editor(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "live"))
    names = {each["id"]: each["name"] for each in world["editors"]}
    name = names[article["editor"]]
    facts = [
        shown("The history of the page was shown", "History", article["title"], name),
        answered(f"The answer is {name}", text(name), [article["title"]], sorted(set(names.values()) - {name})),
    ]
    plan = [*find(article), {"do": "click", "href": f"/admin/pages/{article['id']}/history/"}, done(name)]
    return Goal(str(article["id"]), {"title": article["title"]}, facts, plan)


def _hidden(world: World, rng: random.Random) -> Goal:
    section = rng.choice(world["sections"])
    hidden = [
        each
        for each in world["articles"]
        if each["section"] == section["id"] and each["status"] in ("draft", "moderation")
    ]
    facts = [
        shown("The list was shown", section["title"], *(each["title"] for each in hidden)),
        answered(f"The answer is {len(hidden)}", number(len(hidden)), [section["title"]]),
    ]
    plan: list[Step] = [
        *explore(section["id"]),
        done(str(len(hidden))),
    ]
    return Goal(str(section["id"]), {"section": section["title"]}, facts, plan)


_AS = ("editor", "/admin/")
TEMPLATES = (
    Template(
        "approve",
        _approve,
        (
            "Approve the article “{title}”, which waits for moderation.",
            "The article “{title}” waits for your review. Approve it.",
            "Approve and publish “{title}”, which was submitted for moderation.",
            "Please approve what was submitted as “{title}”.",
            "“{title}” is fine, so approve it in its workflow.",
        ),
        *_AS,
    ),
    Template(
        "send_back",
        _send_back,
        (
            "Request changes to the article “{title}”, which waits for moderation, with the comment “{comment}”",
            "Do not approve “{title}”, but request changes. Your comment is “{comment}”",
            "The submitted article “{title}” needs changes. Request them with the comment “{comment}”",
            "Please send “{title}” back: request changes, and comment “{comment}”",
            "In the workflow of “{title}”, request changes and say “{comment}”",
        ),
        *_AS,
    ),
    Template(
        "review",
        _review,
        (
            "Of what is in moderation, approve “{good}”, and request changes to “{bad}” with the comment “{comment}”",
            "Approve “{good}”. To “{bad}”, request changes and comment “{comment}” Both wait for moderation.",
            "Two submitted articles: approve “{good}”, but send back “{bad}” with a request for changes that says "
            "“{comment}”",
            "Please review two articles. “{good}” is fine, so approve it. For “{bad}”, request changes: “{comment}”",
            "Request changes to “{bad}” with the comment “{comment}” and approve “{good}”.",
        ),
        *_AS,
    ),
    Template(
        "last_editor",
        _last_editor,
        (
            "Who published the article “{title}”?",
            "Which user published “{title}”?",
            "Look up in the history who published the article “{title}”.",
            "Tell me the name of the user who published the article “{title}”.",
            "By whom was the article “{title}” put on the site, according to its history?",
        ),
        *_AS,
    ),
    Template(
        "hidden",
        _hidden,
        (
            "How many pages of the section {section} are not live?",
            "Count the pages in {section} that are not public, whether drafts or in moderation.",
            "How many articles below {section} can readers not see?",
            "Tell me how many of the pages in {section} are not published.",
            "In the section {section}, how many pages are not live yet?",
        ),
        *_AS,
    ),
)
