"""Questions about projects, tasks and people, whose answers scripts fetch and pages show."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Step, Template, World, answered, fetched, given
from webdojo.envs.apps.labelstudio.steps import (
    START,
    TOTALS,
    by_label,
    by_order,
    by_person,
    click,
    done,
    into,
    listed,
    opened,
    ordered,
    see,
)
from webdojo.envs.apps.labelstudio.world import LABELLED, NEW, SKIPPED, TASKS
from webdojo.sites.answers.values import any_order, number, text

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


def results(task: dict[str, Any]) -> str:
    """The hidden column of the list that has the label of a task."""
    return (
        f"[{{id: r{task['id']}, type: choices, from_name: label, to_name: text, origin: manual, "
        f"value: {{choices: [{task['label']}]}}}}]"
    )


def counted(tasks: Sequence[dict[str, Any]]) -> list[Step]:
    """Wait until the list has these tasks alone, and say how many they are."""
    count = str(len(tasks))
    return [see(TOTALS, f"Tasks: {count} / {TASKS}"), listed(tasks[0]["customer"]), done(count)]


def _customer(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, LABELLED, SKIPPED, NEW)
    fields = {"project": project["title"], "order": task["order"]}
    plan = [*opened(project), *by_order(task), listed(task["customer"]), done(task["customer"])]
    return Goal(task["order"], fields, customer(task), plan)


def _latest(world: World, rng: random.Random) -> Goal:
    project = rng.choice(world["projects"])
    task = max(tasks_of(world, project, LABELLED), key=lambda each: each["made"])
    plan = [
        *opened(project),
        *ordered("Completed"),
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
    facts = [
        fetched(
            "The label was shown",
            given("/api/tasks/", {"id": task["id"], "annotations": [{"result": [{"value": {"choices": [label]}}]}]}),
            given(LIST, {"id": task["id"], "annotations_results": results(task)}),
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
    found = [task for task in labelled if task["by"] == by]
    rows = [{"id": task["id"], "annotators": [by]} for task in found]
    person = world["people"][by - 1]
    facts = [
        fetched("They were shown", given(LIST, *rows)),
        answered(f"The answer is {len(rows)}", number(len(rows)), [name_of(person), project["title"]]),
    ]
    fields = {"project": project["title"], "person": name_of(person)}
    plan = [*opened(project), *by_person(person), *counted(found)]
    return Goal(f"{project['id']}-{by}", fields, facts, plan)


def _with_label(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, LABELLED)
    label = task["label"]
    found = [each for each in tasks_of(world, project, LABELLED) if each["label"] == label]
    rows = [{"id": each["id"], "annotations_results": results(each)} for each in found]
    facts = [
        fetched("They were shown", given(LIST, *rows)),
        answered(f"The answer is {len(rows)}", number(len(rows)), [label, project["title"]]),
    ]
    fields = {"project": project["title"], "label": label}
    return Goal(
        f"{project['id']}-{label.lower()}", fields, facts, [*opened(project), *by_label(label), *counted(found)]
    )


def _skipped(world: World, rng: random.Random) -> Goal:
    found = {project["id"]: tasks_of(world, project, SKIPPED) for project in world["projects"]}
    project = rng.choice([each for each in world["projects"] if 0 < len(found[each["id"]]) < 4])
    skipped = found[project["id"]]
    customers = [task["customer"] for task in skipped]
    rows = [{"id": task["id"], "cancelled_annotations": 1, "data": {"customer": task["customer"]}} for task in skipped]
    right = any_order(customers) if len(customers) > 1 else text(customers[0])
    facts = [
        fetched("They were shown", given(LIST, *rows)),
        answered(f"The answer is {', '.join(customers)}", right, [project["title"]]),
    ]
    plan = [
        *opened(project),
        *ordered("Cancelled"),
        *map(listed, customers),
        done(" and ".join(customers)),
    ]
    return Goal(str(project["id"]), {"project": project["title"]}, facts, plan)


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
        "with_label",
        _with_label,
        (
            "How many tasks of the project {project} have the label {label}?",
            "In {project}, how many tasks were labelled as {label}?",
            "Count the tasks of {project} that have got the label {label}.",
            "How often was the label {label} given in the project {project}?",
            "Filter the tasks of {project} by their results. How many are labelled {label}?",
        ),
        *_AS,
    ),
    Template(
        "skipped",
        _skipped,
        (
            "Whose texts in the project {project} were skipped? Name every customer.",
            "In {project}, somebody has skipped texts. Which customers are they from? Name all.",
            "Find the tasks of {project} that were skipped and tell me their customers, all of them.",
            "List the customer of each skipped text in the project {project}.",
            "From which customers are the texts of {project} that somebody has skipped? I need every name.",
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
