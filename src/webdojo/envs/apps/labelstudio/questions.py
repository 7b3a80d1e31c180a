"""Questions about projects, tasks and people, whose answers scripts fetch and pages show."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Template, World, answered, fetched, given
from webdojo.envs.apps.labelstudio.steps import (
    CARD,
    START,
    TOTALS,
    by_order,
    by_person,
    click,
    done,
    into,
    listed,
    opened,
    see,
)
from webdojo.envs.apps.labelstudio.world import LABELLED, NEW, SKIPPED, TASKS
from webdojo.sites.answers.values import number, text

LIST = "/api/tasks?"
"""The rows of the list of tasks, with its hidden columns; a single task has no `?` here."""


def tasks_of(world: World, project: dict[str, Any], *states: str) -> list[dict[str, Any]]:
    """The tasks of a project that are in one of these states."""
    return [each for each in world["tasks"] if each["project"] == project["id"] and each["state"] in states]


def name_of(person: dict[str, Any]) -> str:
    return f"{person['first']} {person['last']}"


def draw(world: World, rng: random.Random, *states: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A project, and one of its tasks that are in one of these states."""
    project = rng.choice(world["projects"])
    return project, rng.choice(tasks_of(world, project, *states))


def who_labelled(world: World, task: dict[str, Any]) -> list[Fact]:
    """It was shown who has labelled a task, and the answer says it."""
    names = [name_of(person) for person in world["people"]]
    name = names[task["by"] - 1]
    return [
        fetched("Who has labelled it was shown", given("/api/tasks", {"id": task["id"], "annotators": [task["by"]]})),
        answered(f"The answer is {name}", text(name), rivals=sorted(set(names) - {name})),
    ]


def customer(task: dict[str, Any]) -> list[Fact]:
    """It was shown which customer a text is from, and the answer says it."""
    row = {"id": task["id"], "data": {"customer": task["customer"]}}
    return [
        fetched("The customer was shown", given(LIST, row)),
        answered(f"The answer is {task['customer']}", text(task["customer"])),
    ]


def _customer(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, LABELLED, SKIPPED, NEW)
    fields = {"project": project["title"], "order": task["order"]}
    plan = [*opened(project), *by_order(task), listed(task["customer"]), done(task["customer"])]
    return Goal(task["order"], fields, customer(task), plan)


def _latest(world: World, rng: random.Random) -> Goal:
    project = rng.choice(world["projects"])
    task = max(tasks_of(world, project, LABELLED, SKIPPED), key=lambda each: each["made"])
    plan = [
        *opened(project),
        {"do": "click", "text": "Order by"},
        click(".lsf-menu-dm__item", "Completed"),
        click("[aria-label='Sort descending']"),
        listed(task["customer"]),
        done(task["customer"]),
    ]
    return Goal(str(project["id"]), {"project": project["title"]}, customer(task), plan)


def _who(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, LABELLED)
    fields = {"project": project["title"], "order": task["order"]}
    name = name_of(world["people"][task["by"] - 1])
    plan = [
        *opened(project),
        *into(task),
        see(".lsf-annotation-button__name", name),
        done(name),
    ]
    return Goal(task["order"], fields, who_labelled(world, task), plan)


def _label(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, LABELLED)
    label = task["label"]
    column = (
        f"[{{id: r{task['id']}, type: choices, from_name: label, to_name: text, origin: manual, "
        f"value: {{choices: [{label}]}}}}]"
    )
    facts = [
        fetched(
            "The label was shown",
            given("/api/tasks/", {"id": task["id"], "annotations": [{"result": [{"value": {"choices": [label]}}]}]}),
            given(LIST, {"id": task["id"], "annotations_results": column}),
        ),
        answered(f"The answer is {label}", text(label), rivals=[each for each in project["labels"] if each != label]),
    ]
    fields = {"project": project["title"], "order": task["order"]}
    plan = [*opened(project), *into(task), see(f"input[name={label}]:checked"), done(label)]
    return Goal(task["order"], fields, facts, plan)


def _count(world: World, rng: random.Random) -> Goal:
    """Of people who have skipped no text of the project, so that what was annotated is what was labelled."""
    project = rng.choice(world["projects"])
    skippers = {task["by"] for task in tasks_of(world, project, SKIPPED)}
    labelled = tasks_of(world, project, LABELLED)
    by = rng.choice(sorted({task["by"] for task in labelled} - skippers))
    rows = [{"id": task["id"], "annotators": [by]} for task in labelled if task["by"] == by]
    person = world["people"][by - 1]
    facts = [
        fetched("They were shown", given(LIST, *rows)),
        answered(f"The answer is {len(rows)}", number(len(rows)), [name_of(person), project["title"]]),
    ]
    fields = {"project": project["title"], "person": name_of(person)}
    plan = [*opened(project), *by_person(person), see(TOTALS, f"Tasks: {len(rows)} / {TASKS}"), done(str(len(rows)))]
    return Goal(f"{project['id']}-{by}", fields, facts, plan)


def _finished(world: World, rng: random.Random) -> Goal:
    project = rng.choice(world["projects"])
    count = len(tasks_of(world, project, LABELLED))
    card = {"id": project["id"], "num_tasks_with_annotations": count}
    listed = {"total_annotations": count, "tasks": [{"project": project["id"]}]}
    facts = [
        fetched("The number was shown", given("/api/projects", card), given(LIST, listed)),
        answered(f"The answer is {count}", number(count), [project["title"]]),
    ]
    return Goal(
        str(project["id"]),
        {"project": project["title"]},
        facts,
        [*opened(project), see(TOTALS, f"Submitted annotations: {count}"), done(str(count))],
    )


def _skipped(world: World, rng: random.Random) -> Goal:
    found = {project["id"]: tasks_of(world, project, SKIPPED) for project in world["projects"]}
    project = rng.choice([each for each in world["projects"] if found[each["id"]]])
    skipped = found[project["id"]]
    rows = [{"id": task["id"], "cancelled_annotations": 1} for task in skipped]
    card = {"id": project["id"], "skipped_annotations_number": len(skipped)}
    facts = [
        fetched("The number was shown", given("/api/projects", card), given(LIST, *rows)),
        answered(f"The answer is {len(skipped)}", number(len(skipped)), [project["title"]]),
    ]
    # The list of projects, where an episode begins, has the number.
    return Goal(
        str(project["id"]), {"project": project["title"]}, facts, [see(CARD, project["title"]), done(str(len(skipped)))]
    )


def _email(world: World, rng: random.Random) -> Goal:
    person = rng.choice(world["people"][1:])
    facts = [
        fetched("The address was shown", given("/api/organizations/", {"id": person["id"], "email": person["email"]})),
        answered(f"The answer is {person['email']}", text(person["email"]), [name_of(person)]),
    ]
    plan = [
        click(".lsf-menu-header__trigger"),
        {"do": "click", "text": "Organization"},
        see(".lsf-email", person["email"]),
        done(person["email"]),
    ]
    return Goal(str(person["id"]), {"person": name_of(person)}, facts, plan)


_AS = ("manager", START)
TEMPLATES = (
    Template(
        "customer",
        _customer,
        (
            "Which customer is the text about order {order} in the project {project} from?",
            "In {project}, find the text about order {order}. Who is the customer?",
            "Who is the customer of order {order}? Its text is in the project {project}.",
            "Tell me the customer of the text in {project} that is about order {order}.",
            "Look up order {order} in the project {project} and give me the name of the customer.",
        ),
        *_AS,
    ),
    Template(
        "latest",
        _latest,
        (
            "Which customer is the text from that was completed last in the project {project}?",
            "Of all texts of {project}, one was completed last. Who is its customer?",
            "Sort the tasks of {project} by when they were completed. Which customer has the latest?",
            "Tell me the customer of the task in {project} with the latest time of completion.",
            "In the project {project}, whose text was the last to be completed? Give me the customer.",
        ),
        *_AS,
    ),
    Template(
        "who",
        _who,
        (
            "Who labelled the text about order {order} in the project {project}?",
            "In {project}, who annotated the text about order {order}?",
            "Find out who has labelled order {order} in the project {project}.",
            "The text about order {order} in {project} has a label. Who gave it?",
            "Tell me the full name of the person who annotated order {order} in {project}.",
        ),
        *_AS,
    ),
    Template(
        "label",
        _label,
        (
            "Which label has the text about order {order} in the project {project}?",
            "In {project}, what was the text about order {order} labelled as?",
            "Find the text about order {order} in the project {project} and tell me its label.",
            "How was the text about order {order} labelled? It is in {project}.",
            "Look into {project}: what label did order {order} get?",
        ),
        *_AS,
    ),
    Template(
        "count",
        _count,
        (
            "How many tasks of the project {project} did {person} label?",
            "In {project}, how many tasks were annotated by {person}?",
            "Count the tasks of {project} that {person} has labelled.",
            "Filter the tasks of {project} by who annotated them. How many are by {person}?",
            "Tell me the number of tasks that {person} annotated in the project {project}.",
        ),
        *_AS,
    ),
    Template(
        "finished",
        _finished,
        (
            "How many tasks of the project {project} are labelled?",
            "In {project}, how many tasks have a label already?",
            "Tell me how many submitted annotations the project {project} has.",
            "How far is the project {project}? Give me the number of tasks that are labelled.",
            "What is the number of labelled tasks in {project}?",
        ),
        *_AS,
    ),
    Template(
        "skipped",
        _skipped,
        (
            "How many tasks of the project {project} were skipped?",
            "In {project}, how many annotations were cancelled because the task was skipped?",
            "Tell me the number of skipped tasks in the project {project}.",
            "Count the tasks of {project} that somebody has skipped.",
            "What is the number of tasks that were skipped in {project}?",
        ),
        *_AS,
    ),
    Template(
        "email",
        _email,
        (
            "What is the email address of {person}?",
            "Which email address does {person} have in the organization?",
            "Look up the email address of {person} among the members of the organization.",
            "I have to write to {person}. Give me the email address.",
            "Find {person} in the organization and tell me the email address.",
        ),
        *_AS,
    ),
)
