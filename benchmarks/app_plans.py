"""Plans for tasks of applications that end wrongly, and what a task is about: all drawn from the tasks themselves.

| way | what is done |
|---|---|
| `spoiled` | the task, and then another one of the same user, which changes one more thing |
| `spoiled_before` | that other one first |
| `mixed` | the way to another task's record, and there what this task asks for |
| `echoed` | a search, or an address, that has what the task asks to find; nothing is looked at |
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from webdojo.types import Task

Plan = list[dict[str, Any]]


def plan_of(task: Task) -> Plan:
    return list(task.metadata["plan"])


def with_plan(task: Task, plan: Plan, **metadata: Any) -> Task:
    """The task, which its script now does by this plan."""
    return task.model_copy(update={"metadata": {**task.metadata, "plan": plan, **metadata}})


def changes_something(task: Task) -> bool:
    """Whether the database has to change."""
    return any("change" in fact for fact in task.evaluator["facts"])


def asks_to_look(task: Task) -> bool:
    """Whether something has to be shown."""
    return any("change" not in fact and "answer" not in fact for fact in task.evaluator["facts"])


def same_goal(task: Task, other: Task) -> bool:
    """Whether two tasks ask for the same, perhaps in other words."""
    return task.website == other.website and task.evaluator["facts"] == other.evaluator["facts"]


def siblings(task: Task, pool: Collection[Task]) -> list[Task]:
    """Tasks of the same template in the same world that ask for something else."""
    return [
        other
        for other in pool
        if other.website == task.website
        and other.metadata["template"] == task.metadata["template"]
        and not same_goal(task, other)
    ]


def subjects(task: Task, pool: Collection[Task]) -> set[str]:
    """What in the plan of a task is not in those of all its siblings: the names of what it is about."""
    own, others = _texts(plan_of(task)), [_texts(plan_of(other)) for other in siblings(task, pool)]
    return {text for text in own if any(text not in other for other in others)}


def _texts(plan: Plan) -> set[str]:
    return {
        str(value).strip('#"').casefold()
        for step in plan
        if step["do"] != "done"
        for key, value in step.items()
        if key in ("text", "href", "path", "near", "option")
    }


def spoiled(task: Task, pool: Sequence[Task], rng: random.Random) -> Iterator[tuple[str, Task]]:
    """The task, and one more change before or after it; of the same record where there is such a task."""
    role = task.metadata["role"]
    more = [
        other
        for other in pool
        if other.website == task.website
        and changes_something(other)
        and not same_goal(task, other)
        and (other.metadata["role"] == role or not role)
    ]
    if not more:
        return
    about = subjects(task, pool)
    near = [other for other in more if about & subjects(other, pool)]
    for way, found in (("spoiled", near or more), ("spoiled_before", more)):
        other = rng.choice(found)
        *steps, done = plan_of(task)
        extra = plan_of(other)[:-1]
        first = [{"do": "go", "path": _start(other)}, *extra, {"do": "go", "path": _start(task)}, *steps]
        then = [*steps, {"do": "go", "path": _start(other)}, *extra]
        plan = [*(then if way == "spoiled" else first), done]
        yield way, with_plan(task, plan, role=role or other.metadata["role"])


def _start(task: Task) -> str:
    return urlsplit(task.start_url).path


def mixed(task: Task, pool: Sequence[Task], rng: random.Random) -> Iterator[tuple[str, Task]]:
    """The first steps of a sibling's plan, and the rest of the task's own, at every point where both differ on either
    side of it."""
    plan = plan_of(task)
    alike = [plan_of(other) for other in siblings(task, pool) if len(plan_of(other)) == len(plan)]
    alike = [each for each in alike if [step["do"] for step in each] == [step["do"] for step in plan]]
    if not alike or not changes_something(task):
        return
    other = rng.choice(alike)
    apart = [at for at, (mine, its) in enumerate(zip(plan[:-1], other[:-1], strict=True)) if mine != its]
    for at in apart[:-1]:
        yield "mixed", with_plan(task, [*other[: at + 1], *plan[at + 1 :]])


def echoed(task: Task, pool: Sequence[Task], rng: random.Random) -> Iterator[tuple[str, Task]]:
    """A task that is not so in this world, since it wants one record to be shown with what another one has, and agents
    who write that into a search field or into the address, and then answer with it."""
    others = [
        other
        for other in siblings(task, pool)
        if plan_of(other)[-1] != plan_of(task)[-1] and len(other.evaluator["facts"]) == len(task.evaluator["facts"])
    ]
    looks = [fact for fact in task.evaluator["facts"] if "answer" not in fact]
    if not others or not looks or any(len(fact.get("shown", ())) < 2 for fact in looks):
        return
    other = rng.choice(others)
    false = task.model_copy(update={"evaluator": {**task.evaluator, "facts": _facts_of_both(task, other)}})
    texts = " ".join(text for fact in false.evaluator["facts"] for text in fact.get("shown", ()))
    done = plan_of(other)[-1]
    yield "echoed_in_address", with_plan(false, [{"do": "go", "path": f"/{quote(texts)}"}, done])
    searches = [plan_of(each)[0] for each in pool if each.start_url == task.start_url and plan_of(each)[0].get("enter")]
    if searches:
        yield "echoed_in_search", with_plan(false, [{**searches[0], "text": texts}, done])


def _facts_of_both(task: Task, other: Task) -> list[dict[str, Any]]:
    """The facts of a task, with what the other one finds as what it finds."""
    facts = []
    for mine, its in zip(task.evaluator["facts"], other.evaluator["facts"], strict=True):
        if "shown" in mine:
            facts.append({**mine, "shown": [*mine["shown"][:-1], its["shown"][-1]]})
        else:
            facts.append(its)
    return facts
