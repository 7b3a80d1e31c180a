"""What a session can do on a catalogue site besides looking: fill in a form that changes an entity or makes one.

In a form with several pages, a page opens when those before it are filled in, and the last one sends everything. What
was filled in so far is a draft of the session (`Overlay.drafts`); it changes nothing that a task asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Any

from webdojo.sites.blocks import Block, Details, Field, Form, Heading, Steps
from webdojo.sites.catalog import Entity, Value, new_slug
from webdojo.sites.site import Overlay, Page, Redirect, Request


@dataclass(frozen=True)
class Step:
    """One page of an action that has several."""

    title: str
    keys: tuple[str, ...]
    """Keys of its fields."""


@dataclass(frozen=True)
class Action:
    """A form and what it does, put together from its key, button and what follows: `Action(…).asked(…).making(…)`.

    With a `collection` the form stands on the pages of its entities and is sent to `/<collection>/<slug>/<key>`;
    without one it has the page `/do/<key>`. With `steps` it has several pages: the first has the address that the form
    would be sent to, the others follow at `…/2`, `…/3`. What was filled in is a draft until the last page is sent.
    """

    key: str
    button: str
    done: str
    """What the page says afterwards; `{name}` is the entity's: `You follow {name} now.`"""
    clauses: tuple[str, ...] = ()
    """How instructions ask for it, as an imperative without a full stop: `reply "{text}" to {name}`.
    `{name}` is the entity, other names are fields; `{new_name}` is the name that an entity is changed to."""
    collection: str = ""
    fields: tuple[Field, ...] = ()
    makes: str = ""
    """Collection of the entity that it makes; empty: it changes the one that it is done to."""
    counts: str = ""
    """Key under which it adds its `amount`, or 1, to how many of the entity were taken: `cart`."""
    after: str = "Done"
    """Heading of the page that follows."""
    sets: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    """Values that it sets besides those of its fields; `{name}` in them is the entity's name."""
    also: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What optional fields add to a clause, by key: `, due on {due}`. Goals need not ask for them."""
    steps: tuple[Step, ...] = ()
    """Its pages if it has several; the last one also shows what was filled in on the others."""
    confirm: str = ""
    """What the browser asks before it is done; `{name}` is the entity's name."""
    framed: bool = False
    """Its form is a separate page, shown in a frame on the entity's page."""
    offered: Callable[[Entity], bool] = lambda entity: True
    """Which entities have it at all."""
    cases: tuple[tuple[str, Value, str], ...] = ()
    """Key and value of an attribute of entities that it cannot be done to, and the reason: `sold out`."""

    def asked(self, *clauses: str, **also: str) -> Action:
        """The action, asked for in these words."""
        return replace(self, clauses=clauses, also=also)

    def with_fields(self, *fields: Field) -> Action:
        """The action with a form to fill in."""
        return replace(self, fields=fields)

    def making(self, collection: str, /, **sets: Value) -> Action:
        """The action that makes an entity of a collection, with these values besides those of its fields."""
        return replace(self, makes=collection, sets=sets)

    def setting(self, **values: Value) -> Action:
        """The action that also sets these values."""
        return replace(self, sets={**self.sets, **values})

    def refusing(self, *cases: tuple[str, Value, str]) -> Action:
        """The action that cannot be done to an entity with one of these (key, value), for the reason that follows."""
        return replace(self, cases=cases)

    def refuses(self, entity: Entity) -> str:
        """Why it cannot be done to an entity; empty: it can."""
        return next((reason for key, value, reason in self.cases if entity.values.get(key) == value), "")

    def offering(self, **options: Sequence[str]) -> Action:
        """The action with the options that a site has for these fields."""
        fields = (replace(each, options=tuple(options.get(each.key, each.options))) for each in self.fields)
        return replace(self, fields=tuple(fields))

    def path(self, entity: Entity | None) -> str:
        """Where its form is sent."""
        return f"/do/{self.key}" if entity is None else f"/{self.collection}/{entity.slug}/{self.key}"

    def step_path(self, entity: Entity | None, step: int) -> str:
        """The path of one of its pages, which its form is sent to; after the last one, the path of what follows."""
        if step == len(self.steps):
            return f"{self.path(entity)}/done"
        return f"{self.path(entity)}/{step + 1}" if step else self.path(entity)

    def fields_of(self, step: int | None) -> tuple[Field, ...]:
        """The fields of a step; None: all."""
        return tuple(each for each in self.fields if step is None or each.key in self.steps[step].keys)

    def error(self, values: Mapping[str, str], step: int | None = None) -> str:
        """What is wrong with the values of all fields, or of those of one step; empty: nothing."""
        for each in self.fields_of(step):
            value = values.get(each.key, "")
            if not value and each.required:
                return f"Please tick: {each.label}." if each.widget == "agree" else f"{each.label} is missing."
            if value and (reason := _mistake(each, value)):
                return f"{each.label} {reason}."
        return ""

    def change(self, values: Mapping[str, str], entity: Entity | None, state: Mapping[str, Any]) -> dict[str, Any]:
        """What changes in the state, by key, for values without an error; a value that the entity has is no change."""
        name = "" if entity is None else entity.name
        filled = {each: values.get(each.key) or each.default.replace("{name}", name) for each in self.fields}
        given: dict[str, Any] = {
            each.key: int(value) if each.widget in ("number", "range") else value
            for each, value in filled.items()
            if value and each.widget != "agree"
        }
        given |= {
            key: value.replace("{name}", name) if isinstance(value, str) else value for key, value in self.sets.items()
        }
        if self.makes:
            about = {} if entity is None else {"about": entity.slug}
            start = f"{self.makes}/{new_slug(self.makes, state)}"
            return {f"{start}/{key}": value for key, value in {**about, **given}.items()}
        assert entity is not None, f"{self.key} changes an entity, so it needs a collection"
        if self.counts:
            key = f"{self.counts}/{entity.slug}"
            return {key: state.get(key, 0) + given.get("amount", 1)}
        known = {"name": entity.name, **entity.values}
        return {
            f"{self.collection}/{entity.slug}/{key}": value for key, value in given.items() if known.get(key) != value
        }


_RULES = {
    "email": (r"[^ ]+@[^ ]+", "is no e-mail address"),
    "time": (r"([01]\d|2[0-3]):[0-5]\d", "must be a time like 14:30"),
    "color": (r"#[0-9a-f]{6}", "must be a colour like #3366cc"),
}
"""Pattern of what fields of these widgets may say, and what is wrong with all else."""


def _mistake(each: Field, value: str) -> str:
    for pattern, reason in (each.rule, _RULES.get(each.widget, ("", ""))):
        if pattern and not re.fullmatch(pattern, value):
            return reason
    match each.widget:
        case "number" | "range":
            if not value.isdecimal() or not each.least <= int(value) <= each.most:
                return f"must be a number from {each.least} to {each.most}"
        case "date" | "calendar":
            try:
                date.fromisoformat(value)
            except ValueError:
                return "must be a date like 2027-03-05"
        case "select" | "suggest" | "radio":
            if value not in each.options:
                return "must be one of those offered"
        case "checks":
            if not set(value.split(", ")) <= set(each.options):
                return "must be of those offered"
    return ""


def step_at(action: Action, rest: list[str]) -> int | None:
    """Index of the page of an action that the rest of a path names by its number; None: there is no such page."""
    pages = [[], *([str(number)] for number in range(2, len(action.steps) + 1))]
    return pages.index(rest) if rest in pages else None


def step_page(
    action: Action,
    entity: Entity | None,
    at: int,
    request: Request,
    overlay: Overlay,
    say: Callable[[str], str],
    home: str,
) -> Page | Redirect:
    """Answer a request for page `at` of an action; `say` gives the site's word for a control, `home` for its home."""
    count = len(action.steps)
    path, error = action.path(entity), ""
    draft = overlay.drafts.get(path, {})
    ready = next((step for step in range(count) if action.error(draft, step)), count - 1)
    if at > ready:
        return Redirect(action.step_path(entity, ready))
    if request.method == "POST":
        draft = {**draft, **{each.key: request.values.get(each.key, "") for each in action.fields_of(at)}}
        error = action.error(draft, at)
        if not error:
            overlay.drafts[path] = draft
            if at == count - 1:
                overlay.state.update(action.change(overlay.drafts.pop(path), entity, overlay.state))
            return Redirect(action.step_path(entity, at + 1))
    above = [] if entity is None else [(entity.name, f"/{action.collection}/{entity.slug}")]
    steps = [(each.title, action.step_path(entity, i) if i <= ready else "") for i, each in enumerate(action.steps)]
    blocks: list[Block] = [Heading(say(action.button), "", ((home, "/"), *above)), Steps(tuple(steps), at)]
    if at == count - 1:
        given = [each for i in range(at) for each in action.fields_of(i) if draft.get(each.key)]
        blocks.append(Details(tuple((each.label, each.show(draft[each.key])) for each in given)))
    button = say(action.button if at == count - 1 else "Continue")
    form = Form(action.step_path(entity, at), button, action.fields_of(at), action.steps[at].title, draft, error)
    return Page("form", say(action.button), {"blocks": [*blocks, form]}, status=422 if error else 200)
