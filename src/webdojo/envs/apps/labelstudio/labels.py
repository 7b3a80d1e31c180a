"""Tasks about labels: to give, to change and to remove them."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Fact, Goal, Template, World, added, changed, removed
from webdojo.envs.apps.labelstudio.questions import customer, draw, name_of, tasks_of, who_labelled
from webdojo.envs.apps.labelstudio.steps import (
    START,
    by_order,
    click,
    done,
    from_one_into,
    into,
    labelled,
    opened,
    relabelled,
    testid,
)
from webdojo.envs.apps.labelstudio.world import LABELLED, NEW, SKIPPED

ME = 1
"""Who has logged in."""
_OK = click(testid("dialog-ok-button"))


def _chosen(label: str) -> dict[str, Any]:
    """A result that has this label."""
    return {"type": "contains", "values": [f'"choices": ["{label}"]']}


def _has_label(task: dict[str, Any], label: str) -> Fact:
    says = f"The text about order {task['order']} is labelled {label}"
    return added(
        says, "task_completion", task_id=task["id"], completed_by_id=ME, was_cancelled=0, result=_chosen(label)
    )


def _label(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, NEW)
    label = rng.choice(project["labels"])
    plan = [*opened(project), *into(task), *labelled(label), done()]
    fields = {"project": project["title"], "order": task["order"], "label": label}
    return Goal(f"{task['order']}-{label}", fields, [_has_label(task, label)], plan)


def _two(world: World, rng: random.Random) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Two tasks of a project that nobody has labelled, and a label."""
    project = rng.choice(world["projects"])
    return project, rng.sample(tasks_of(world, project, NEW), 2), rng.choice(project["labels"])


def _both(world: World, rng: random.Random) -> Goal:
    project, (first, second), label = _two(world, rng)
    plan = [
        *opened(project), *into(first), *labelled(label),
        *from_one_into(second, project), *labelled(label), done(),
    ]  # fmt: skip
    fields = {"project": project["title"], "first": first["order"], "second": second["order"], "label": label}
    facts = [_has_label(first, label), _has_label(second, label)]
    return Goal(f"{first['order']}-{second['order']}-{label}", fields, facts, plan)


def _both_and_customer(world: World, rng: random.Random) -> Goal:
    project, (first, second), label = _two(world, rng)
    plan = [
        *opened(project), *into(first), *labelled(label),
        *from_one_into(second, project), *labelled(label), done(second["customer"]),
    ]  # fmt: skip
    fields = {"project": project["title"], "first": first["order"], "second": second["order"], "label": label}
    facts = [_has_label(first, label), _has_label(second, label), *customer(second)]
    return Goal(f"{first['order']}-{second['order']}-{label}", fields, facts, plan)


def _other_label(world: World, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any], str, Fact]:
    """A task that another person has labelled, another label, and that it was changed to that."""
    project = rng.choice(world["projects"])
    task = rng.choice([task for task in tasks_of(world, project, LABELLED) if task["by"] != ME])
    label = rng.choice([each for each in project["labels"] if each != task["label"]])
    says = f"The text about order {task['order']} is labelled {label}"
    return project, task, label, changed(says, "task_completion", task["id"], result=_chosen(label))


def _relabel(world: World, rng: random.Random) -> Goal:
    project, task, label, fact = _other_label(world, rng)
    plan = [*opened(project), *into(task), *relabelled(label), done()]
    fields = {"project": project["title"], "order": task["order"], "label": label}
    return Goal(f"{task['order']}-{label}", fields, [fact], plan)


def _relabel_and_who(world: World, rng: random.Random) -> Goal:
    project, task, label, fact = _other_label(world, rng)
    name = name_of(world["people"][task["by"] - 1])
    plan = [*opened(project), *into(task), *relabelled(label), done(name)]
    fields = {"project": project["title"], "order": task["order"], "label": label}
    return Goal(f"{task['order']}-{label}", fields, [fact, *who_labelled(world, task)], plan)


def _unlabel(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, LABELLED)
    fact = removed(f"The text about order {task['order']} has no label", "task_completion", task["id"])
    plan = [
        *opened(project),
        *into(task),
        click(".lsf-annotation-button__trigger"),
        click("[class*=option--]", "Delete Annotation"),
        _OK,
        done(),
    ]
    return Goal(task["order"], {"project": project["title"], "order": task["order"]}, [fact], plan)


def _delete(world: World, rng: random.Random) -> Goal:
    project, task = draw(world, rng, LABELLED, SKIPPED, NEW)
    fact = removed(f"There is no text about order {task['order']}", "task", task["id"])
    plan = [
        *opened(project),
        *by_order(task),
        click(f".lsf-select-row:has([aria-label='Select Task {task['id']}'])"),
        click("[aria-label='Tasks Actions']"),
        click(".lsf-menu-dm__item", "Delete Tasks"),
        _OK,
        done(),
    ]
    its_label = {"table": "task_completion", "kind": "removed", "key": {"id": task["id"]}}
    fields = {"project": project["title"], "order": task["order"]}
    return Goal(task["order"], fields, [fact], plan, [its_label])


def _skip(world: World, rng: random.Random) -> Goal:
    """Skip the task that comes first: tasks that others have skipped are offered again."""
    project = rng.choice(world["projects"])
    open_ = [each for each in tasks_of(world, project, NEW, SKIPPED) if each["by"] != ME]
    fact = added(
        f"Task {open_[0]['id']} was skipped", "task_completion",
        task_id=open_[0]["id"], completed_by_id=ME, was_cancelled=1,
    )  # fmt: skip
    plan = [
        *opened(project),
        {"do": "click", "text": "Label All Tasks"},
        click(testid("bottombar-skip-button")),
        done(),
    ]
    return Goal(str(project["id"]), {"project": project["title"]}, [fact], plan)


_AS = ("manager", START)
TEMPLATES = (
    Template(
        "annotate",
        _label,
        (
            "In the project {project}, label the text about order {order} as {label}.",
            "Label the text about order {order} in {project} as {label} and submit it.",
            "Give the text about order {order} the label {label}. It is in the project {project}.",
            "The text about order {order} in {project} should get the label {label}.",
            "Please submit {label} as the label of order {order} in the project {project}.",
        ),
        *_AS,
    ),
    Template(
        "annotate_two",
        _both,
        (
            "In the project {project}, label the texts about the orders {first} and {second} as {label}.",
            "Label two texts of {project} as {label}: those about order {first} and order {second}.",
            "Submit the label {label} for order {first} and for order {second}. Both are in the project {project}.",
            "The orders {first} and {second} in {project} should both be labelled {label}.",
            "Please give the texts about order {first} and order {second} of {project} the label {label}.",
        ),
        *_AS,
    ),
    Template(
        "annotate_and_say",
        _both_and_customer,
        (
            "In {project}, label the texts about the orders {first} and {second} as {label}. Who is the customer of "
            "order {second}?",
            "Label order {first} and order {second} of the project {project} as {label}, and tell me the customer of "
            "order {second}.",
            "Submit the label {label} for the orders {first} and {second} in {project}. Then name the customer of "
            "order {second}.",
            "The orders {first} and {second} in the project {project} are {label}. Label them so, and say which "
            "customer order {second} is from.",
            "Please label two texts of {project} as {label}, order {first} and order {second}. What is the name of "
            "the customer of order {second}?",
        ),
        *_AS,
    ),
    Template(
        "relabel",
        _relabel,
        (
            "Change the label of the text about order {order} in the project {project} to {label}.",
            "Order {order} of {project} should be labelled {label}. Update its annotation.",
            "In {project}, update the annotation of the text about order {order} to {label}.",
            "Please correct the text about order {order} in the project {project}: its label is {label}.",
            "The label of order {order} in {project} is wrong. Make it {label}.",
        ),
        *_AS,
    ),
    Template(
        "relabel_and_say",
        _relabel_and_who,
        (
            "Change the label of order {order} in {project} to {label}, and tell me who had labelled it.",
            "In the project {project}, update the annotation of order {order} to {label}. Whose annotation is it?",
            "Order {order} of {project} should be labelled {label}. Update its annotation and tell me who made it.",
            "Somebody gave order {order} of {project} a wrong label. Make it {label}, and say who that was.",
            "Please correct the label of order {order} in the project {project} to {label}, and name its annotator.",
        ),
        *_AS,
    ),
    Template(
        "unlabel",
        _unlabel,
        (
            "Delete the annotation of the text about order {order} in the project {project}.",
            "In {project}, remove the label of order {order} by deleting its annotation.",
            "The text about order {order} in {project} was labelled by mistake. Delete its annotation.",
            "Please delete the annotation that order {order} of {project} has.",
            "The annotation of order {order} in {project} has to go, and the text has to stay.",
        ),
        *_AS,
    ),
    Template(
        "delete",
        _delete,
        (
            "Delete the task with the text about order {order} from the project {project}.",
            "In {project}, delete the task that is about order {order}.",
            "Remove the task about order {order} from the project {project}, with all that belongs to it.",
            "Please delete the task of {project} whose order is {order}.",
            "Order {order} should not be in the project {project}. Delete its task.",
        ),
        *_AS,
    ),
    Template(
        "skip",
        _skip,
        (
            "Begin to label all tasks of the project {project}, and skip the first one that comes.",
            "In {project}, press Label All Tasks and skip the task that is shown first.",
            "Skip the first task that Label All Tasks brings up in the project {project}, and none after it.",
            "Open the labelling of all tasks in {project}. Skip its first task only.",
            "Please skip one task of {project}: the first that you get with Label All Tasks.",
        ),
        *_AS,
    ),
)
