"""Ways through Label Studio that the plans of several templates share; they begin on the list of projects."""

from __future__ import annotations

from typing import Any

from webdojo.envs.apps.goal import Step

START = "/projects"
"""Where all episodes begin."""
CARD = ".lsf-project-card__title-text"
CELL = ".lsf-table__cell"
FILTERS = "[aria-label=Filters]"
TOTALS = ".lsf-tabs-dm__extra span"
_VALUE: Step = {"do": "write", "css": ".lsf-input-dm", "enter": True}
"""What a filter wants; without Enter the list may be filtered by the first letters."""


def done(answer: str = "Done") -> Step:
    return {"do": "done", "answer": answer}


def click(css: str, text: str = "") -> Step:
    step = {"do": "click", "css": css}
    return {**step, "text": text} if text else step


def see(css: str, text: str = "") -> Step:
    return {**click(css, text), "do": "see"}


def testid(name: str) -> str:
    """The selector of what the application itself names for tests."""
    return f'[data-testid="{name}"]'


UPDATE = testid("bottombar-update-button")
_ADDED = [click(FILTERS), {"do": "click", "text": "Add Filter"}]


def opened(project: dict[str, Any]) -> list[Step]:
    """Open the list of a project's tasks; the list of projects may still be drawn again after a first click."""
    return [{"do": "page", "text": "Settings", "next": project["title"], "css": CARD}]


def settings(project: dict[str, Any], tab: str = "") -> list[Step]:
    """Open the settings of a project."""
    steps = [*opened(project), {"do": "click", "text": "Settings"}]
    return [*steps, click(".lsf-main-menu__item", tab)] if tab else steps


def by_order(task: dict[str, Any]) -> list[Step]:
    """Have the list show the text about an order alone; texts are what it filters by at first."""
    return [*_ADDED, {**_VALUE, "text": task["order"]}]


def _by_column(name: str) -> list[Step]:
    """Add a filter of the list by another column, which is searched for among many."""
    return [
        *_ADDED,
        click(testid("select-trigger-filter:tasks:data.text")),
        {"do": "write", "css": testid("select-search-field"), "text": name},
        click("[role=option][aria-selected=true]", name),
    ]


def by_person(person: dict[str, Any]) -> list[Step]:
    """Have the list show the tasks that a person has annotated."""
    return [
        *_by_column("Annotated by"),
        click(testid("select-trigger")),
        click(testid(f"select-option-{person['id']}")),
    ]


def by_label(label: str) -> list[Step]:
    """Have the list show the tasks with a label."""
    return [*_by_column("Annotation results"), {**_VALUE, "text": label}]


def ordered(column: str) -> list[Step]:
    """Sort the list by a column, the highest or latest first."""
    return [
        {"do": "click", "text": "Order by"},
        click(".lsf-menu-dm__item", column),
        click("[aria-label='Sort descending']"),
    ]


def from_one_into(task: dict[str, Any], project: dict[str, Any]) -> list[Step]:
    """Go back from a task to the list, whose filter stays, and open the text about another order."""
    return [click("a", project["title"]), click(FILTERS), {**_VALUE, "text": task["order"]}, click(CELL, task["order"])]


def listed(text: str) -> Step:
    """Wait until the list has a cell with this text."""
    return see(CELL, text)


def into(task: dict[str, Any]) -> list[Step]:
    """Open the text about an order."""
    return [*by_order(task), click(CELL, task["order"])]


def labelled(label: str) -> list[Step]:
    """Choose a label in a task that nobody has labelled, and submit it; then it can be updated."""
    return [click(f"input[name={label}]"), click(testid("bottombar-submit-button")), see(UPDATE)]


def relabelled(label: str) -> list[Step]:
    """Choose another label, and submit that; then there is nothing more to be updated."""
    return [click(f"input[name={label}]"), click(UPDATE), see(f"{UPDATE}:disabled")]
