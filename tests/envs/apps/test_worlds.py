"""The worlds of the applications and their tasks, as far as they need no application."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.goal import Template
from webdojo.envs.apps.labelstudio import LabelStudio
from webdojo.envs.apps.machina import Machina
from webdojo.envs.apps.machina.world import ME, OPEN, replies
from webdojo.envs.apps.mediawiki import MediaWiki
from webdojo.envs.apps.oscar import Oscar
from webdojo.envs.apps.trac import Trac
from webdojo.envs.apps.verdict import check
from webdojo.envs.apps.wagtail import Wagtail
from webdojo.sites import HELDOUT_SEED

APPLICATIONS: Sequence[Application] = (LabelStudio(), Machina(), MediaWiki(), Oscar(), Trac(), Wagtail())
TEMPLATES = [(application, template) for application in APPLICATIONS for template in application.templates.values()]


def shop_names(world: dict[str, Any]) -> Iterator[str]:
    """All that names something in a shop, and what reviews say."""
    yield from (product["title"] for product in world["products"])
    yield from (person["email"] for person in world["customers"])
    yield from (person["last"] for person in world["customers"])
    yield from (order["number"] for order in world["orders"])
    yield from (text for review in world["reviews"] for text in (review["title"], review["body"]))


def tracker_names(world: dict[str, Any]) -> Iterator[str]:
    yield from world["people"]
    yield from (ticket["summary"] for ticket in world["tickets"])
    yield from (page["name"] for page in world["pages"])


def team_names(world: dict[str, Any]) -> Iterator[str]:
    yield from (text for person in world["people"] for text in (person["last"], person["email"]))
    yield from (text for each in world["projects"] for text in (each["title"], each["description"]))
    yield from (sentence for each in world["projects"] for sentence in each["instructions"].split(". "))
    yield from (text for task in world["tasks"] for text in (task["text"], task["customer"], task["order"]))


def forum_names(world: dict[str, Any]) -> Iterator[str]:
    yield from (person["name"] for person in world["members"])
    yield from (person["signature"] for person in world["members"] if person["signature"])
    yield from (forum["name"] for forum in (*world["categories"], *world["forums"]))
    yield from (topic["subject"] for topic in world["topics"])
    yield from (text for post in world["posts"] for text in (post["text"], post["quote"]))
    yield from (poll["question"] for poll in world["polls"])
    yield from (option["text"] for poll in world["polls"] for option in poll["options"])


def wiki_names(world: dict[str, Any]) -> Iterator[str]:
    """All that names something in a wiki, the summaries of edits, and what pages say."""
    yield from (page["title"] for page in world["pages"] if page["title"] != "Main Page")
    yield from (person["name"] for person in world["people"])
    edits = [edit for page in world["pages"] for edit in page["edits"]]
    yield from (edit["summary"] for edit in edits if edit["summary"] not in ("welcome", "new article", "new category"))
    yield from (edit["text"] for edit in edits)
    for page in world["pages"]:
        yield from (
            *page.get("history", ()),
            *page.get("visits", ()),
            *(page[key] for key in ("heading",) if key in page),
        )


def magazine_names(world: dict[str, Any]) -> Iterator[str]:
    for kind in ("sections", "articles", "events", "images"):
        yield from (each["title"] for each in world[kind])
    for kind in ("authors", "categories", "submissions"):
        yield from (each["name"] for each in world[kind])
    yield from (person["last"] for kind in ("authors", "editors") for person in world[kind][1:])
    yield from (text for article in world["articles"] for text in (article["draft_title"], article["intro"]))
    yield from (event["place"] for event in world["events"])
    yield from (redirect["path"] for redirect in world["redirects"])
    yield from (given["message"] for given in world["submissions"])


NAMES = {
    "labelstudio": team_names,
    "machina": forum_names,
    "mediawiki": wiki_names,
    "oscar": shop_names,
    "trac": tracker_names,
    "wagtail": magazine_names,
}


@pytest.mark.parametrize(
    ("application", "names"),
    [(each, NAMES[each.name]) for each in APPLICATIONS],
    ids=[each.name for each in APPLICATIONS],
)
def test_training_and_heldout_worlds_share_nothing(
    application: Application, names: Callable[[dict[str, Any]], Iterator[str]]
) -> None:
    train = {name for seed in range(8) for name in names(application.world(seed))}
    heldout = {name for seed in range(HELDOUT_SEED, HELDOUT_SEED + 8) for name in names(application.world(seed))}
    assert len(train) > 500
    assert not train & heldout


@pytest.mark.parametrize("application", APPLICATIONS, ids=lambda application: application.name)
def test_the_same_seed_gives_the_same_world(application: Application) -> None:
    again = type(application)
    assert again().world(5) == application.world(5) != application.world(6)


@pytest.mark.parametrize("seed", [0, HELDOUT_SEED])
def test_a_shop_has_hundreds_of_records_and_one_of_each_name(seed: int) -> None:
    world = Oscar().world(seed)
    assert sum(len(world[kind]) for kind in ("products", "customers", "orders", "reviews")) == 480
    for kind, name in (("products", "title"), ("products", "slug"), ("customers", "last"), ("orders", "number")):
        assert len({each[name] for each in world[kind]}) == len(world[kind])
    assert len({(each["product"], each["customer"]) for each in world["reviews"]}) == len(world["reviews"])
    assert sum(order["customer"] == 2 for order in world["orders"]) == 12


@pytest.mark.parametrize("seed", [0, HELDOUT_SEED])
def test_a_team_has_hundreds_of_tasks_and_one_of_each_name(seed: int) -> None:
    world = LabelStudio().world(seed)
    assert len(world["tasks"]) == 360
    assert 200 < sum(task["state"] == "labelled" for task in world["tasks"]) < 300
    for kind, name in (("people", "last"), ("projects", "title"), ("tasks", "order"), ("tasks", "customer")):
        assert len({each[name] for each in world[kind]}) == len(world[kind])
    assert len({person["first"][:2] for person in world["people"]}) == len(world["people"])
    assert all(task["label"] in world["projects"][task["project"] - 1]["labels"] + [""] for task in world["tasks"])


@pytest.mark.parametrize("seed", [0, HELDOUT_SEED])
def test_a_forum_has_hundreds_of_records_and_nothing_that_is_two_things(seed: int) -> None:
    world = Machina().world(seed)
    assert sum(len(world[kind]) for kind in ("members", "forums", "topics", "polls", "subscriptions")) == 220
    assert len(world["posts"]) > 300
    for kind, name in (("members", "name"), ("forums", "name"), ("topics", "subject"), ("posts", "quote")):
        assert len({each[name] for each in world[kind]}) == len(world[kind])
    for poll in world["polls"]:
        assert len({len(option["voters"]) for option in poll["options"]}) == len(poll["options"])
    mine = [post for post in world["posts"] if post["author"] == ME and post["subject"].startswith("Re: ")]
    assert len({post["topic"] for post in mine}) == len(mine) == 20
    assert sum(topic["starter"] == ME and topic["status"] == OPEN for topic in world["topics"]) > 3
    assert sum(replies(world).values()) == sum(post["approved"] for post in world["posts"]) - 100


@pytest.mark.parametrize("seed", [0, HELDOUT_SEED])
def test_a_wiki_has_hundreds_of_records_and_no_edit_that_repeats_the_last(seed: int) -> None:
    world = MediaWiki().world(seed)
    edits = [edit for page in world["pages"] for edit in page["edits"]]
    assert len(world["pages"]) == 201 and len(edits) > 400 and len(world["people"]) == 26
    assert [page["id"] for page in world["pages"]] == list(range(1, 202))
    for names in ([page["title"] for page in world["pages"]], [person["name"] for person in world["people"]]):
        assert len(set(names)) == len(names)
    for page in world["pages"]:
        texts, times = ([edit[key] for edit in page["edits"]] for key in ("text", "time"))
        assert len(set(texts)) == len(texts) and times == sorted(times)


@pytest.mark.parametrize("seed", [0, HELDOUT_SEED])
def test_a_magazine_has_hundreds_of_records_and_one_of_each_name(seed: int) -> None:
    world = Wagtail().world(seed)
    kinds = ("articles", "events", "authors", "images", "redirects", "submissions")
    assert sum(len(world[kind]) for kind in kinds) == 334
    for kind, name in (("articles", "title"), ("articles", "slug"), ("events", "title"), ("images", "title")):
        assert len({each[name] for each in world[kind]}) == len(world[kind])
    assert len({each["last"] for kind in ("authors", "editors") for each in world[kind]}) == 31
    titles = [each[key] for each in world["articles"] for key in ("title", "draft_title")]
    assert not any(f" {one} " in f" {other} " for one in titles for other in titles if one != other)
    ids = [each["id"] for kind in ("sections", "articles", "events") for each in world[kind]]
    assert ids == [*range(4, 9), *range(11, 181)]


@pytest.mark.parametrize(("application", "template"), TEMPLATES, ids=lambda given: given.name)
def test_a_template_draws_tasks_that_can_be_judged(application: Application, template: Template) -> None:
    for seed in (3, HELDOUT_SEED + 3):
        rng = random.Random(1)
        world, host = application.world(seed), application.host(seed)
        if template.beside:
            world |= {"beside": next(each for each in APPLICATIONS if each.name == template.beside).world(seed)}
        tasks = [template.task(application.name, host, seed, world, rng, seed > 3) for _ in range(10)]
        assert len({task.id for task in tasks}) > 1
        for task in tasks:
            check(task)
            assert task.metadata["plan"][-1]["do"] == "done"
            assert "{" not in task.instruction
    assert len(set(template.phrasings)) == 5


@pytest.mark.parametrize("application", APPLICATIONS, ids=lambda application: application.name)
def test_a_seed_has_hundreds_of_tasks(application: Application) -> None:
    tasks = Apps(applications=[application.name], train_seeds=1).tasks("train", 300, 0)
    assert len({task.id for task in tasks}) == 300
    alone = {name for name, template in application.templates.items() if not template.beside}
    assert {task.metadata["template"] for task in tasks} == alone


def test_applications_alternate() -> None:
    tasks = Apps(applications=["oscar", "trac", "labelstudio"]).tasks("eval", 60, 0)
    assert [task.kind for task in tasks[:4]] == ["oscar", "trac", "labelstudio", "oscar"]
