"""Tasks of an editor who writes and publishes pages of the magazine in the admin."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from webdojo.envs.apps.goal import ANY, Fact, Goal, Step, Template, World, added, changed, done
from webdojo.envs.apps.wagtail.visitor import articles
from webdojo.envs.apps.wagtail.world import EVENTS_PAGE, HOME, TODAY, new_title
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.content.words import slug

_NEW_INTROS = (
    "What happened, who was there and what comes next.",
    "A long look at a short story.",
    "Three people remember how it began.",
    "We asked around, and this is what we heard.",
    "Everything that you need to know before the weekend.",
)
_NEW_BODIES = (
    "This article is being written again from the start.",
    "The first version of this text had mistakes, and we are sorry.",
    "More about this in the next issue.",
    "The meeting was moved to the spring.",
)
_NEW_EVENTS = ("Jubilee", "Quiz Night", "Open Day", "Flea Sale", "Boat Trip")
_NEW_PLACES = ("Main Hall", "Old Dairy", "River Room", "North Garden", "Upper Deck")
DIALOG_OPENS: Step = {"do": "wait", "seconds": 2}
"""It takes the focus once it is open."""


def find(page: dict[str, Any]) -> list[Step]:
    """Search for a page and open it in the editor."""
    return [
        {"do": "write", "field": "q", "text": page["title"], "enter": True},
        {"do": "click", "href": f"/admin/pages/{page['id']}/edit/"},
    ]


def explore(id: int) -> list[Step]:
    """List what is below a page that is below the home page."""
    return [
        {"do": "click", "href": f"/admin/pages/{HOME}/"},
        {"do": "click", "css": f"main a[href='/admin/pages/{id}/']"},
    ]


def publish() -> list[Step]:
    return [{"do": "click", "text": "More actions"}, {"do": "click", "text": "Publish"}]


def choose(field: str, name: str) -> list[Step]:
    """Choose another author or the like in the dialog of a field."""
    return [
        {"do": "click", "css": f"#id_{field}-chooser .w-dropdown__toggle"},
        {"do": "click", "css": f"#id_{field}-chooser [data-chooser-action-choose]"},
        DIALOG_OPENS,
        {"do": "write", "field": "q", "text": name},
        {"do": "click", "text": name, "href": "/admin/snippets/choose/"},
    ]


def edited(page: dict[str, Any]) -> dict[str, Any]:
    """The pattern of the revisions of a page that is public at the end, by which it then is judged."""
    values = {"object_id": str(page["id"])}
    return {"table": "wagtailcore_revision", "kind": "added", "many": True, "values": values}


def page_is(says: str, page: dict[str, Any], **values: Any) -> Fact:
    return changed(says, "wagtailcore_page", page["id"], **values)


def article_is(says: str, page: dict[str, Any], **values: Any) -> Fact:
    """What articles have beside what all pages have."""
    key = {"page_ptr_id": page["id"]}
    return {"says": says, "change": {"table": "magazine_articlepage", "kind": "changed", "key": key, "values": values}}


def _fresh_title(world: World, rng: random.Random) -> str:
    """A title that no article and no draft has."""
    taken = {each[key] for each in world["articles"] for key in ("title", "draft_title")}
    while (title := new_title(rng, world["seed"] >= HELDOUT_SEED)) in taken:
        pass
    return title


def _retitle(world: World, rng: random.Random) -> Goal:
    article, title = rng.choice(articles(world, "live")), _fresh_title(world, rng)
    fact = page_is(f"The published title is {title}", article, title=title, draft_title=title)
    plan = [*find(article), {"do": "write", "field": "title", "text": title}, *publish(), done()]
    fields = {"title": article["title"], "new": title}
    return Goal(f"{article['id']}-{slug(title)}", fields, [fact], plan, [edited(article)])


def _draft(world: World, rng: random.Random) -> Goal:
    article, title = rng.choice(articles(world, "live")), _fresh_title(world, rng)
    kept = {key: article[key] for key in ("slug", "intro", "author", "category", "minutes", "image")}
    content = {"type": "json", "values": {**kept, "title": title}}
    facts = [
        page_is(f"A draft has the title {title}", article, draft_title=title, has_unpublished_changes=1),
        added("All else is as it was", "wagtailcore_revision", object_id=str(article["id"]), content=content),
    ]
    plan = [
        *find(article),
        {"do": "write", "field": "title", "text": title},
        {"do": "click", "text": "Save draft"},
        done(),
    ]
    fields = {"title": article["title"], "new": title}
    return Goal(f"{article['id']}-{slug(title)}", fields, facts, plan, [facts[1]["change"] | {"many": True}])


def _intro(world: World, rng: random.Random) -> Goal:
    article, intro = rng.choice(articles(world, "live")), rng.choice(_NEW_INTROS)
    fact = article_is(f"The published intro is {intro}", article, intro=intro)
    plan = [*find(article), {"do": "write", "field": "intro", "text": intro}, *publish(), done()]
    fields = {"title": article["title"], "intro": intro}
    return Goal(f"{article['id']}-{_NEW_INTROS.index(intro)}", fields, [fact], plan, [edited(article)])


def _body(world: World, rng: random.Random) -> Goal:
    article, body = rng.choice(articles(world, "live")), rng.choice(_NEW_BODIES)
    fact = article_is(f"The published text is {body}", article, body={"type": "html", "text": body})
    plan = [
        *find(article),
        {"do": "write", "css": "[role=textbox][contenteditable=true]", "text": body},
        *publish(),
        done(),
    ]
    fields = {"title": article["title"], "body": body}
    return Goal(f"{article['id']}-{_NEW_BODIES.index(body)}", fields, [fact], plan, [edited(article)])


def _credit(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "live"))
    author = rng.choice([each for each in world["authors"] if each["id"] != article["author"]])
    fact = article_is(f"The published author is {author['name']}", article, author_id=author["id"])
    plan = [*find(article), *choose("author", author["name"]), *publish(), done()]
    fields = {"title": article["title"], "name": author["name"]}
    return Goal(f"{article['id']}-{author['id']}", fields, [fact], plan, [edited(article)])


def _publish(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "draft"))
    fact = page_is("The article is public", article, live=1, has_unpublished_changes=0)
    return Goal(
        str(article["id"]), {"title": article["title"]}, [fact], [*find(article), *publish(), done()], [edited(article)]
    )


def _publish_changes(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "changed"))
    says = f"The published title is {article['draft_title']}"
    fact = page_is(says, article, title=article["draft_title"], has_unpublished_changes=0)
    return Goal(
        str(article["id"]), {"title": article["title"]}, [fact], [*find(article), *publish(), done()], [edited(article)]
    )


def _unpublish(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "live"))
    fact = page_is("The article is not public", article, live=0, has_unpublished_changes=1)
    plan = [
        *find(article),
        {"do": "click", "text": "Actions"},
        {"do": "click", "text": "Unpublish"},
        {"do": "click", "text": "Yes, unpublish it"},
        done(),
    ]
    return Goal(str(article["id"]), {"title": article["title"]}, [fact], plan)


def _move(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "live"))
    section = rng.choice([each for each in world["sections"] if each["id"] != article["section"]])
    url = f"/home/{section['slug']}/{article['slug']}/"
    fact = page_is(f"The article is in {section['title']}", article, path=ANY, url_path=url)
    plan = [
        *find(article),
        {"do": "click", "text": "Actions"},
        {"do": "click", "text": "Move"},
        {"do": "click", "css": ".chooser .w-dropdown__toggle"},
        {"do": "click", "css": "[data-chooser-action-choose]"},
        {"do": "click", "css": ".modal-dialog a", "text": section["title"]},
        {"do": "click", "text": "Confirm"},
        {"do": "click", "text": "Yes, move this page"},
        done(),
    ]
    allowed = [
        *({"table": "wagtailcore_page", "kind": "changed", "key": {"id": each}, "values": {"numchild": ANY}}
          for each in (article["section"], section["id"])),
        {"table": "wagtailredirects_redirect", "kind": "added",
         "values": {"redirect_page_id": article["id"], "automatically_created": 1}},
    ]  # fmt: skip
    fields = {"title": article["title"], "section": section["title"]}
    return Goal(f"{article['id']}-{section['id']}", fields, [fact], plan, allowed)


def _create(world: World, rng: random.Random) -> Goal:
    title = f"{rng.choice(_NEW_EVENTS)} {rng.randint(2027, 2060)}"
    day = TODAY + timedelta(days=rng.randint(40, 400))
    place, fee = rng.choice(_NEW_PLACES), rng.randint(3, 90)
    facts = [
        added(
            f"There is a page {title}", "wagtailcore_page", title=title, live=1, url_path=f"/home/events/{slug(title)}/"
        ),
        added("It has what it should say", "magazine_eventpage", date=day.isoformat(), place=place, fee=fee),
    ]
    plan: list[Step] = [
        *explore(EVENTS_PAGE),
        {"do": "click", "text": "Add child page"},
        {"do": "click", "text": "Event page", "href": "/admin/pages/add/"},
        {"do": "write", "field": "title", "text": title},
        {"do": "write", "field": "date", "text": day.isoformat()},
        {"do": "write", "field": "place", "text": place},
        {"do": "write", "field": "fee", "text": str(fee)},
        *publish(),
        done(),
    ]
    parent = {"table": "wagtailcore_page", "kind": "changed", "key": {"id": EVENTS_PAGE}, "values": {"numchild": ANY}}
    made = {"table": "wagtailcore_revision", "kind": "added", "many": True, "values": {"object_str": title}}
    fields = {"title": title, "day": f"{day:%d %B %Y}".lstrip("0"), "place": place, "fee": str(fee)}
    return Goal(f"{slug(title)}-{day}", fields, facts, plan, [parent, made])


def _event(world: World, rng: random.Random) -> Goal:
    event = rng.choice(world["events"])
    day = date.fromisoformat(event["day"]) + timedelta(days=rng.randint(1, 90))
    place = rng.choice(_NEW_PLACES)
    says = f"The published event is on {day} in {place}"
    key = {"page_ptr_id": event["id"]}
    values = {"date": day.isoformat(), "place": place}
    fact = {"says": says, "change": {"table": "magazine_eventpage", "kind": "changed", "key": key, "values": values}}
    plan = [
        *find(event),
        {"do": "write", "field": "date", "text": day.isoformat()},
        {"do": "write", "field": "place", "text": place},
        *publish(),
        done(),
    ]
    fields = {"title": event["title"], "day": f"{day:%d %B %Y}".lstrip("0"), "place": place}
    return Goal(f"{event['id']}-{day}-{slug(place)}", fields, [fact], plan, [edited(event)])


_AS = ("editor", "/admin/")
TEMPLATES = (
    Template(
        "retitle",
        _retitle,
        (
            "Change the title of the article “{title}” to “{new}” and publish it.",
            "Give the article “{title}” the new title “{new}”, and publish the change.",
            "The article “{title}” should be called “{new}” on the site.",
            "Please publish “{title}” under the new title “{new}”.",
            "Rename the article “{title}” to “{new}”, so that readers see the new title.",
        ),
        *_AS,
    ),
    Template(
        "draft",
        _draft,
        (
            "Save a draft of the article “{title}” with the title “{new}”. Do not publish it.",
            "Change the title of the article “{title}” to “{new}” in a draft, without publishing it.",
            "Propose “{new}” as the title of the article “{title}”: save it as a draft only.",
            "Please make a draft of “{title}” that is called “{new}”. Readers should not see it yet.",
            "The article “{title}” may get the title “{new}” later. Save that as a draft, and leave what is public.",
        ),
        *_AS,
    ),
    Template(
        "intro",
        _intro,
        (
            "Change the intro of the article “{title}” to “{intro}” and publish it.",
            "Give the article “{title}” the intro “{intro}” and publish the change.",
            "The published intro of “{title}” should be “{intro}”",
            "Please replace the intro of “{title}” on the site. The new one is “{intro}”",
            "Write “{intro}” as the intro of the article “{title}”, and make it public.",
        ),
        *_AS,
    ),
    Template(
        "body",
        _body,
        (
            "Replace the body of the article “{title}” with “{body}” and publish it.",
            "Change the body of the article “{title}” to “{body}” and publish the change.",
            "The published body of “{title}” should be nothing but “{body}”",
            "Please delete the body of “{title}”, write “{body}” instead, and publish that.",
            "Let the article “{title}” have the body “{body}” on the site.",
        ),
        *_AS,
    ),
    Template(
        "credit",
        _credit,
        (
            "Make {name} the author of the article “{title}” and publish it.",
            "Change the author of “{title}” to {name}, and publish the change.",
            "The article “{title}” is by {name}. Correct its author on the site.",
            "Please publish the article “{title}” with {name} as its author.",
            "Readers should see that {name} wrote “{title}”. Change the author and publish it.",
        ),
        *_AS,
    ),
    Template(
        "publish",
        _publish,
        (
            "Publish the draft “{title}”.",
            "The draft “{title}” is ready. Publish it.",
            "Put the article “{title}” on the site; it is a draft so far.",
            "Please make the draft “{title}” public.",
            "Readers should be able to see the article “{title}”, which was never published.",
        ),
        *_AS,
    ),
    Template(
        "publish_changes",
        _publish_changes,
        (
            "The article “{title}” has changes that are not public. Publish them.",
            "Publish the changes that somebody saved as a draft of the article “{title}”.",
            "There is a draft of the published article “{title}”. Publish that draft.",
            "Please make the draft of the article “{title}” public in place of what readers see now.",
            "Somebody has edited the article “{title}” without publishing it. Publish what they saved.",
        ),
        *_AS,
    ),
    Template(
        "unpublish",
        _unpublish,
        (
            "Unpublish the article “{title}”.",
            "Take the article “{title}” off the site, but do not delete it.",
            "The article “{title}” should not be public any more. Unpublish it.",
            "Please unpublish “{title}”.",
            "Readers should not see the article “{title}” any more, but keep it as a draft.",
        ),
        *_AS,
    ),
    Template(
        "move",
        _move,
        (
            "Move the article “{title}” to the section {section}.",
            "The article “{title}” belongs in {section}. Move it there.",
            "Put the article “{title}” below {section}.",
            "Please move “{title}” into {section}.",
            "The parent page of the article “{title}” should be {section}.",
        ),
        *_AS,
    ),
    Template(
        "create",
        _create,
        (
            "Create and publish an event page “{title}” below Events: date {day}, place {place}, fee £{fee}.",
            "Publish a new event “{title}” in Events. It is on {day}, the place is {place} and the fee £{fee}.",
            "Publish a new event. Title: {title}. Date: {day}. Place: {place}. Fee: £{fee}.",
            "There will be an event “{title}” on {day} (place: {place}, fee: £{fee}). Put it on the site, in Events.",
            "Please make an event page with the title “{title}”, the date {day}, the place {place} and a fee of "
            "£{fee}, and publish it in Events.",
        ),
        *_AS,
    ),
    Template(
        "event",
        _event,
        (
            "The {title} is on {day} now, and its place is {place}. Change the event and publish it.",
            "Change the date of the event {title} to {day} and its place to {place}, and publish that.",
            "Publish a new date and place for the event {title}: {day}, {place}.",
            "Please move the event {title} to {day}, with the place {place}, and publish the change.",
            "Readers should see that the event {title} takes place on {day} at the place {place}.",
        ),
        *_AS,
    ),
)
