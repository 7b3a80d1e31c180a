"""Tasks of an editor with what belongs to the site as a whole: authors, categories, images, redirects and forms."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, added, answered, changed, done, removed, shown
from webdojo.envs.apps.wagtail.editor import DIALOG_OPENS
from webdojo.envs.apps.wagtail.visitor import articles
from webdojo.envs.apps.wagtail.world import JOBS
from webdojo.sites.answers.values import text
from webdojo.sites.content.words import ADJECTIVES, slug

_PATHS = ("/spring", "/summer", "/best-of", "/letters", "/team", "/jobs", "/shop", "/map", "/news", "/prizes")
_NEW_CATEGORIES = ("Animals", "Books", "Chess", "Dance", "Elections", "Films", "Games", "Hiking", "Islands", "Jazz")
_NEW_SUBJECTS = ("Stairs", "Market", "Window", "Boat", "Orchard", "Station", "Roof", "Bench")


def _image(world: World, rng: random.Random) -> Goal:
    image = rng.choice(world["images"])
    title = f"{rng.choice(ADJECTIVES)} {rng.choice(_NEW_SUBJECTS)}"
    fact = changed(f"The image is called {title}", "wagtailimages_image", image["id"], title=title)
    plan: list[Step] = [
        {"do": "click", "text": "Images"},
        {"do": "write", "css": "main input[name=q]", "text": image["title"], "enter": True},
        {"do": "click", "text": image["title"], "href": "/admin/images/"},
        {"do": "write", "field": "title", "text": title},
        {"do": "click", "text": "Save"},
        done(),
    ]
    return Goal(f"{image['id']}-{slug(title)}", {"title": image["title"], "new": title}, [fact], plan)


def _to_author(author: dict[str, Any]) -> list[Step]:
    return [
        {"do": "click", "text": "Snippets"},
        {"do": "click", "text": "Authors"},
        {"do": "page", "text": author["name"], "next": "Next"},
        {"do": "click", "text": author["name"]},
    ]


def _job(world: World, rng: random.Random) -> Goal:
    author = rng.choice(world["authors"])
    job = rng.choice([each for each in JOBS if each != author["job"]])
    fact = changed(f"{author['name']} is {job}", "magazine_author", author["id"], job=job)
    plan: list[Step] = [
        *_to_author(author),
        {"do": "write", "field": "job", "text": job},
        {"do": "click", "text": "Save"},
        done(),
    ]
    return Goal(f"{author['id']}-{slug(job)}", {"name": author["name"], "job": job}, [fact], plan)


def _email(world: World, rng: random.Random) -> Goal:
    author = rng.choice(world["authors"])
    facts = [
        shown(f"{author['name']} was shown", author["name"], author["email"]),
        answered(f"The answer is {author['email']}", text(author["email"]), [author["name"]]),
    ]
    plan: list[Step] = [
        *_to_author(author),
        done(author["email"]),
    ]
    return Goal(str(author["id"]), {"name": author["name"]}, facts, plan)


def _category(world: World, rng: random.Random) -> Goal:
    name = rng.choice(_NEW_CATEGORIES)
    fact = added(f"There is a category {name}", "magazine_category", name=name, slug=slug(name))
    plan: list[Step] = [
        {"do": "click", "text": "Snippets"},
        {"do": "click", "text": "Categories"},
        {"do": "click", "text": "Add category"},
        {"do": "write", "field": "name", "text": name},
        {"do": "write", "field": "slug", "text": slug(name)},
        {"do": "click", "text": "Save"},
        done(),
    ]
    return Goal(slug(name), {"name": name, "slug": slug(name)}, [fact], plan)


def _to_redirects(path: str) -> list[Step]:
    return [
        {"do": "click", "text": "Settings"},
        {"do": "click", "text": "Redirects"},
        {"do": "page", "text": path, "next": "Next"},
        {"do": "click", "text": path},
    ]


def _redirect(world: World, rng: random.Random) -> Goal:
    article, path = rng.choice(articles(world, "live")), rng.choice(_PATHS)
    fact = added(f"{path} leads to it", "wagtailredirects_redirect", old_path=path, redirect_page_id=article["id"])
    plan: list[Step] = [
        {"do": "click", "text": "Settings"},
        {"do": "click", "text": "Redirects"},
        {"do": "click", "text": "Add redirect"},
        {"do": "write", "field": "old_path", "text": path},
        {"do": "click", "text": "Choose a page"},
        DIALOG_OPENS,
        {"do": "write", "css": ".modal-dialog input[name=q]", "text": article["title"]},
        {"do": "click", "css": ".modal-dialog a", "text": article["title"]},
        {"do": "click", "text": "Create"},
        done(),
    ]
    return Goal(f"{article['id']}-{path[1:]}", {"title": article["title"], "path": path}, [fact], plan)


def _delete_redirect(world: World, rng: random.Random) -> Goal:
    redirect = rng.choice(world["redirects"])
    fact = removed(f"{redirect['path']} leads nowhere", "wagtailredirects_redirect", redirect["id"])
    plan: list[Step] = [
        *_to_redirects(redirect["path"]),
        {"do": "click", "text": "Actions"},
        {"do": "click", "text": "Delete"},
        {"do": "click", "text": "Yes, delete"},
        done(),
    ]
    return Goal(str(redirect["id"]), {"path": redirect["path"]}, [fact], plan)


def _to_submission(given: dict[str, Any]) -> list[Step]:
    return [
        {"do": "click", "text": "Forms"},
        {"do": "click", "text": "Volunteer"},
        {"do": "page", "css": "td, a", "text": given["name"], "next": "Next"},
    ]


def _day(world: World, rng: random.Random) -> Goal:
    given = rng.choice(world["submissions"])
    facts = [
        shown("What was sent was shown", f"{given['name']} {given['email']} {given['day']}"),
        answered(
            f"The answer is {given['day']}", text(given["day"]), [given["name"]],
            [day for day in world["days"] if day != given["day"]],
        ),
    ]  # fmt: skip
    return Goal(str(given["id"]), {"name": given["name"]}, facts, [*_to_submission(given), done(given["day"])])


def _delete_submission(world: World, rng: random.Random) -> Goal:
    given = rng.choice(world["submissions"])
    fact = removed(f"What {given['name']} sent is gone", "wagtailforms_formsubmission", given["id"])
    plan: list[Step] = [
        *_to_submission(given),
        {"do": "tick", "field": "selected-submissions", "near": given["email"]},
        {"do": "click", "text": "Delete selected submissions"},
        {"do": "click", "text": "Delete"},
        done(),
    ]
    return Goal(str(given["id"]), {"name": given["name"]}, [fact], plan)


_AS = ("editor", "/admin/")
TEMPLATES = (
    Template(
        "image",
        _image,
        (
            "Change the title of the image “{title}” to “{new}”.",
            "Rename the image “{title}” to “{new}”.",
            "The image “{title}” should be called “{new}”.",
            "Please give the image “{title}” the new title “{new}”.",
            "Find the image “{title}” and set its title to “{new}”.",
        ),
        *_AS,
    ),
    Template(
        "job",
        _job,
        (
            "Change the job of the author {name} to {job}.",
            "Set the job of {name}, an author, to {job}.",
            "The author {name} is {job} now. Correct that.",
            "Please edit the author {name}: the job is {job}.",
            "As an author, {name} should have the job {job}.",
        ),
        *_AS,
    ),
    Template(
        "email",
        _email,
        (
            "What is the email address of the author {name}?",
            "Which email has the author {name}?",
            "Look up the email of the author {name}.",
            "Tell me the email address of {name}, one of our authors.",
            "I want to write to our author {name}. What is the email address?",
        ),
        *_AS,
    ),
    Template(
        "category",
        _category,
        (
            "Add a category with the name {name} and the slug {slug}.",
            "Create the category {name}. Its slug is {slug}.",
            "We need a new category: name {name}, slug {slug}.",
            "Please add {name} to the categories, with {slug} as its slug.",
            "There should be a category {name} with the slug {slug}.",
        ),
        *_AS,
    ),
    Template(
        "redirect",
        _redirect,
        (
            "Add a redirect from {path} to the page “{title}”.",
            "Redirect {path} to the article “{title}”.",
            "Make {path} lead to the page “{title}” by a redirect.",
            "Please set up a redirect: from {path}, to the page “{title}”.",
            "Whoever goes to {path} should get to the page “{title}”. Add a redirect.",
        ),
        *_AS,
    ),
    Template(
        "delete_redirect",
        _delete_redirect,
        (
            "Delete the redirect from {path}.",
            "Remove the redirect of the address {path}.",
            "The address {path} should not lead anywhere any more. Delete its redirect.",
            "Please delete the redirect that begins at {path}.",
            "We do not need the redirect from {path} any more, so delete it.",
        ),
        *_AS,
    ),
    Template(
        "day",
        _day,
        (
            "Which day did {name} choose in the form Volunteer?",
            "What day did {name} give when signing up as a volunteer?",
            "Look up on which day {name} wants to be a volunteer.",
            "Tell me the day that {name} sent with the form Volunteer.",
            "{name} has sent the form Volunteer. Which day is it?",
        ),
        *_AS,
    ),
    Template(
        "delete_submission",
        _delete_submission,
        (
            "Delete what {name} sent with the form Volunteer.",
            "Remove the submission of {name} from the form Volunteer.",
            "{name} does not want to be a volunteer any more. Delete that submission of the form.",
            "Please delete {name} from the submissions of Volunteer.",
            "The data that {name} sent with the form Volunteer should be deleted.",
        ),
        *_AS,
    ),
)
