"""Tasks about projects and the own account."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Step, Template, World, added, changed
from webdojo.envs.apps.labelstudio.labels import ME
from webdojo.envs.apps.labelstudio.steps import START, click, done, settings

COLOURS = {"orange": "#FF750F", "yellow": "#ECB800", "green": "#9AC422", "blue": "#617ADA", "purple": "#CC6FBE"}
"""Those of a project that have a plain name."""
_NEW_TITLES = ("Winter letters", "Phone notes", "Guest book", "Chats of the night", "Survey of May", "Old complaints")
_NEW_TEXTS = (
    "Two people label each text.",
    "All of these came by post.",
    "To be finished before the fair.",
    "Kept for the yearly report.",
    "Only texts of regular customers.",
)
_SAVE: Step = {"do": "click", "text": "Save"}


def _changed(project: dict[str, Any], says: str, **values: Any) -> list[Fact]:
    return [changed(f"{project['title']}: {says}", "project", project["id"], **values)]


def _rename(world: World, rng: random.Random) -> Goal:
    project, title = rng.choice(world["projects"]), rng.choice(_NEW_TITLES)
    plan = [*settings(project), {"do": "write", "field": "title", "text": title}, _SAVE, done()]
    facts = _changed(project, f"The project is named {title}", title=title)
    key = f"{project['id']}-{_NEW_TITLES.index(title)}"
    return Goal(key, {"project": project["title"], "title": title}, facts, plan)


def _describe(world: World, rng: random.Random) -> Goal:
    project, body = rng.choice(world["projects"]), rng.choice(_NEW_TEXTS)
    plan = [
        *settings(project),
        {"do": "write", "field": "description", "text": body},
        _SAVE,
        done(),
    ]
    facts = _changed(project, "The project has the description", description=body)
    key = f"{project['id']}-{_NEW_TEXTS.index(body)}"
    return Goal(key, {"project": project["title"], "body": body}, facts, plan)


def _colour(world: World, rng: random.Random) -> Goal:
    project, colour = rng.choice(world["projects"]), rng.choice(list(COLOURS))
    plan = [
        *settings(project),
        click(f".lsf-color[style*='{COLOURS[colour]}']"),
        _SAVE,
        done(),
    ]
    facts = _changed(project, f"The project is {colour}", color=COLOURS[colour])
    return Goal(f"{project['id']}-{colour}", {"project": project["title"], "colour": colour}, facts, plan)


def _sampling(world: World, rng: random.Random) -> Goal:
    project = rng.choice(world["projects"])
    plan = [*settings(project), click("label:has([value='Uniform sampling'])"), _SAVE, done()]
    facts = _changed(project, "Its tasks come at random", sampling="Uniform sampling")
    return Goal(str(project["id"]), {"project": project["title"]}, facts, plan)


def _instruct(world: World, rng: random.Random) -> Goal:
    project, body = rng.choice(world["projects"]), rng.choice(_NEW_TEXTS)
    plan = [
        *settings(project, "Annotation"),
        click("label:has([name=show_instruction])"),
        {"do": "write", "field": "expert_instruction", "text": body},
        _SAVE,
        done(),
    ]
    says = "The instructions are there, and are shown before labelling"
    facts = _changed(project, says, expert_instruction=body, show_instruction=1)
    key = f"{project['id']}-{_NEW_TEXTS.index(body)}"
    return Goal(key, {"project": project["title"], "body": body}, facts, plan)


def _create(world: World, rng: random.Random) -> Goal:
    title, body = rng.choice(_NEW_TITLES), rng.choice(_NEW_TEXTS)
    plan = [
        {"do": "click", "text": "Create"},
        {"do": "write", "field": "name", "text": title},
        {"do": "write", "field": "description", "text": body},
        _SAVE,
        done(),
    ]
    facts = [added("The project is there", "project", title=title, description=body, is_draft=0)]
    key = f"{_NEW_TITLES.index(title)}-{_NEW_TEXTS.index(body)}"
    return Goal(key, {"title": title, "body": body}, facts, plan)


def _phone(world: World, rng: random.Random) -> Goal:
    phone = f"020 7946 0{rng.randint(100, 999)}"
    plan = [
        {"do": "go", "path": "/user/account"},
        {"do": "write", "field": "phone", "text": phone},
        _SAVE,
        done(),
    ]
    facts = [changed("The account has the number", "htx_user", ME, phone=phone)]
    return Goal(phone.replace(" ", ""), {"phone": phone}, facts, plan)


_AS = ("manager", START)
TEMPLATES = (
    Template(
        "rename",
        _rename,
        (
            "Rename the project {project} to “{title}”.",
            "Change the name of the project {project} to “{title}”.",
            "The project {project} should be named “{title}”.",
            "Please give the project {project} the new name “{title}”.",
            "From now on, {project} is “{title}”. Change the name of the project.",
        ),
        *_AS,
    ),
    Template(
        "describe",
        _describe,
        (
            "Set the description of the project {project} to “{body}”",
            "Change the description of {project} so that it says “{body}”",
            "Replace the description of the project {project} by “{body}”",
            "The project {project} needs another description: “{body}”",
            "Please describe the project {project} in these words alone: “{body}”",
        ),
        *_AS,
    ),
    Template(
        "colour",
        _colour,
        (
            "Set the colour of the project {project} to {colour}.",
            "Make the project {project} {colour}.",
            "Change the color of {project} to {colour} in its settings.",
            "Please give the project {project} the colour {colour}.",
            "In the settings of {project}, choose {colour} as its colour.",
        ),
        *_AS,
    ),
    Template(
        "sampling",
        _sampling,
        (
            "Set the task sampling of the project {project} to random.",
            "Change the project {project} so that its tasks come in random order.",
            "Choose random sampling in the settings of {project}.",
            "Tasks of the project {project} should be sampled at random. Change its settings.",
            "Please switch {project} from sequential to random sampling.",
        ),
        *_AS,
    ),
    Template(
        "instruct",
        _instruct,
        (
            "Set the labeling instructions of {project} to “{body}” and have them shown before labeling.",
            "Replace the instructions of the project {project} by “{body}” and turn on that they are shown first.",
            "Change the annotation settings of {project}: the instructions say “{body}” and are shown before labeling.",
            "Everybody who labels {project} should first be shown these instructions: “{body}”",
            "Please make “{body}” the labeling instructions of the project {project}, to be shown before labeling.",
        ),
        *_AS,
    ),
    Template(
        "create",
        _create,
        (
            "Create a project named “{title}” with the description “{body}”",
            "Make a new project. Its name is “{title}”, its description “{body}”",
            "Add a project “{title}” that has the description “{body}”",
            "Start a project with the name “{title}”, and describe it as “{body}”",
            "We need a new project “{title}”. Create it, with “{body}” as its description.",
        ),
        *_AS,
    ),
    Template(
        "phone",
        _phone,
        (
            "Set the phone number of my account to {phone}.",
            "My phone number is {phone}. Save it in my account.",
            "Change the phone number in my personal info to {phone}.",
            "Please put {phone} into my account as the phone number.",
            "Update my personal info: my phone is {phone}.",
        ),
        *_AS,
    ),
)
