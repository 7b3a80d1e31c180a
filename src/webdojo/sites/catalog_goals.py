"""Goals on catalogue sites, of any number of facts: find, read, compare, narrow, count, list, act, and the impossible.

A maker gets the wanted number of facts and gives a goal with exactly so many, or None: those of what is asked, and
those of the description of what it is asked of (`references.py`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.errors import TaskError
from webdojo.sites.actions import Action
from webdojo.sites.answers.values import any_order, in_order, missing, number, refused, winner
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Attribute, Collection, Constraint, Value, fact_name
from webdojo.sites.evidence import answer_of, browsed, counted_elsewhere, narrowed, unit_of, was_shown
from webdojo.sites.goal import Fact, Goal, Plan, done, fact, place, visit
from webdojo.sites.instructions.references import Reference, draw_constraints, joined, named, query_of, quoted, refer
from webdojo.sites.pages import CatalogSite, made
from webdojo.sites.site import href

_TRIES = 300
_MORE = {
    "later": ("year", "since", "founded", "launched"),
    "longer": ("min", "minutes", "days", "months"),
    "larger": ("KB", "stock", "budget"),
    "greater": ("length", "width", "depth", "weight"),
}
"""Words of having more, by keys and units of what one has more of; of all else one has a higher number."""
_NAMES = 5
"""The most names that a list answer has."""


def draw_goal(site: CatalogSite, difficulty: int, rng: random.Random) -> Goal:
    """Draw a goal with so many facts."""
    if (own := site.own_goal(difficulty, rng)) is not None:
        return own
    for _ in range(_TRIES):
        goal = rng.choice((*MAKERS, *site.goals))(site, difficulty, rng)
        if goal is not None:
            assert goal.difficulty == difficulty, (goal, difficulty)
            return goal
    raise TaskError(f"{site.host} has no goal of difficulty {difficulty}")


def _open(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    it = refer(_collection(site, rng), facts - 1, rng)
    if it is None:
        return None
    name = it.entity.name
    shown = f"the page of {it.phrase}" if it.collection.people else it.phrase
    cores = (f"open {shown}", f"go to the page of {it.phrase}", f"bring up {shown}")
    checks = (*it.facts(), fact(f"The page of {name} is shown", url=place(it.path)))
    return Goal("open", it.key, {}, checks, [*it.plan, done(f"This is {name}.")], cores=cores)


def _read(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    it = refer(_collection(site, rng), facts - 2, rng) if facts >= 2 else None
    if it is None:
        return None
    known = {key for key, value in it.entity.values.items() if value != ""} - it.given
    asked = [a for a in it.collection.attributes if a.asked and a.key in known]
    if not asked:
        return None
    attribute = rng.choice(asked)
    value = it.entity.values[attribute.key]
    shown, label = attribute.show(value), attribute.called
    cores = (f"the {label} of {it.phrase}", f"the {label} that the site gives for {it.phrase}")
    told = was_shown(it.entity, attribute)
    checks = (
        *it.facts(seen=told["seen"]),
        told,
        fact(f"The answer is {shown}", answer=answer_of(attribute, value, it.path)),
    )
    plan = [*it.plan, done(f"{attribute.label} is {shown}.", shown)]
    key = f"{it.key}-{attribute.key}"
    return Goal("read", key, {}, checks, plan, cores=cores, form="ask", asks=attribute.asks)


def _compare(site: CatalogSite, facts: int, rng: random.Random, other: CatalogSite | None = None) -> Goal | None:
    """Which of two things has more of something; the second one is of the other site, if there is one."""
    here = _collection(site, rng) if other is None else site.main
    there, host = (here, "") if other is None else (other.main, other.host)
    more = (facts - 3) // 2
    a, b = (refer(here, more, rng), refer(there, facts - 3 - more, rng)) if facts >= 3 else (None, None)
    if a is None or b is None:
        return None
    known = a.entity.values.keys() & b.entity.values.keys()
    numbers = [each for each in here.attributes if each.type == "number" and each.asked and each.key in known]
    attribute = rng.choice(numbers) if numbers else None
    if attribute is None or a.entity.name == b.entity.name:
        return None
    left, right = int(a.entity.values[attribute.key]), int(b.entity.values[attribute.key])
    if left == right:
        return None
    best, label = a.entity if left > right else b.entity, attribute.called
    first, second = (f"on this site {a.phrase}", f"on {host} {b.phrase}") if host else (a.phrase, b.phrase)
    cores = (
        f"the {here.title} of the {here.noun} with the {_more(attribute)} {label}: {first}, or {second}",
        f"the {here.title} of whichever of these two has the {_more(attribute)} {label}: {first}, or {second}",
    )
    elsewhere = {"site": host} if host else {}
    ordered = None if host else {"label": attribute.label, "things": [a.entity.slug, b.entity.slug]}
    here_told, there_told = was_shown(a.entity, attribute, "", ordered), was_shown(b.entity, attribute, host, ordered)
    sides = [[each.entity.name] for each in (a, b)]
    if a.phrase != b.phrase:
        for side, each in zip(sides, (a, b), strict=True):
            side += [each.phrase, each.phrase.replace(f" {here.noun}", " one", 1)]
    if host:
        for side, each, where in zip(sides, (a, b), ("this site", host), strict=True):
            side += [f"on {where} {each.phrase}"]
            side += [f"{what} on {where}" for what in (each.phrase, f"the {here.noun}", "the one")]
    answer = winner(sides, int(right > left), (left, right), unit_of(attribute))
    checks = (
        *_described(a, here_told, "", None if host else b, attribute),
        *_described(b, there_told, host, None if host else a, attribute),
        here_told,
        there_told,
        fact(f"The answer is {best.name}", answer={**answer, "of": f"/{here.slug}", "attribute": attribute.key}),
    )
    note = f"{attribute.label} of {a.entity.name} is {attribute.show(left)}."
    said = f"{attribute.label} is {attribute.show(left)} and {attribute.show(right)}. {best.name} has more."
    then = [{**step, **elsewhere} for step in (*b.plan, done(said, best.name))]
    plan = [*a.plan[:-1], {**a.plan[-1], "note": note}, *then]
    key = f"{a.key}-{host}{b.key}-{attribute.key}"
    return Goal("across" if host else "compare", key, {}, checks, plan, cores=cores, form="ask")


def _described(it: Reference, told: Fact, host: str, other: Reference | None, asked: Attribute) -> Iterator[Fact]:
    """A fact for each condition of the description of one of two things, which is told as `told` says.

    That it is the first of its list must have been found out, if it does not follow that the other of the two, which is
    in that list as well, has more of what is asked for.
    """
    for index, sentence in enumerate(it.says):
        if index or it.first is None or _follows(it, other, asked):
            yield {**told, "says": sentence}
        else:
            yield fact(sentence, site=host, first=it.first)


def _follows(it: Reference, other: Reference | None, asked: Attribute) -> bool:
    if it.first is None or other is None or it.first["label"] != asked.label:
        return False
    given = it.collection.asked(dict(parse_qsl(urlsplit(it.first["of"]).query)))
    return all(each.holds(other.entity) for each in given)


def _across(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """Compare a thing of this site with one of another, of the same split: its seeds are whole blocks."""
    return _compare(site, facts, rng, made(type(site), site.seed ^ 1, site.layout))


def _narrow(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    collection = _collection(site, rng)
    constraints = draw_constraints(collection, facts - 1, rng) if facts >= 2 else None
    if constraints is None:
        return None
    where = href(f"/{collection.slug}", **query_of(constraints))
    phrase = _phrase(collection, constraints)
    cores = (f"show only {phrase}", f"narrow the list down to {phrase}", f"bring up the list of {phrase}")
    checks = (
        *(fact(f"Only {collection.nouns} {c.phrase} are shown", one_of=narrowed(where, c)) for c in constraints),
        fact("No other filter is set", shows=where),
    )
    plan = [visit(where), done(f"These are the {phrase}.")]
    return Goal("narrow", where, {}, checks, plan, cores=cores)


def _count(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    collection = _collection(site, rng)
    constraints = draw_constraints(collection, facts - 2, rng) if facts >= 2 else None
    if not constraints:
        return None
    where = href(f"/{collection.slug}", **query_of(constraints))
    found = len(collection.find(constraints))
    phrase = _phrase(collection, constraints)
    cores = (f"the number of {phrase}", f"the exact count of {phrase}")
    known: list[dict[str, Any]] = [
        {"counted": where},
        {"listed": where},
        *counted_elsewhere(site, collection, constraints),
    ]
    checks = (
        *(fact(f"Only {collection.nouns} {c.phrase} count", one_of=known) for c in constraints),
        fact("The number was shown, or all that count were", one_of=known),
        fact(f"The answer is {found}", answer={**number(found), "of": where}),
    )
    plan = [visit(where), done(f"There are {found}.", str(found))]
    return Goal("count", where, {}, checks, plan, cores=cores, form="ask")


def _names(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """All that meet some filters, or the first three of them in an order."""
    collection = _collection(site, rng)
    ordered = [a for a in collection.attributes if a.least and a.sort] if rng.random() < 0.5 else []
    constraints = draw_constraints(collection, facts - 2 - bool(ordered), rng) if facts >= 3 else None
    if constraints is None:
        return None
    order = rng.choice(ordered).key if ordered else ""
    found = collection.find(constraints, order)
    phrase = _phrase(collection, constraints)
    query, path = query_of(constraints), f"/{collection.slug}"
    where, those = href(path, **query, sort=order), href(path, **query)
    known: list[dict[str, Any]] = [{"listed": those}]
    extra = []
    if order:
        first = found[:4]
        if len(first) < 4 or len({entity.values[order] for entity in first}) < 4:
            return None
        least = collection.by_key[order].least
        found = found[:3]
        cores: tuple[str, ...] = (f"the {collection.title}s of the three {least} {phrase}, {least} first",)
        label = collection.by_key[order].label
        known = [
            {"ordered": {"label": label, "of": those, "things": [each.slug for each in found]}},
            {"listed": those, "seen": [fact_name(each.slug, label) for each in found]},
        ]
        extra = [fact(f"They are the three {least}, in order", one_of=known)]
    elif constraints and 2 <= len(found) <= _NAMES:
        cores = (f"the {collection.title}s of all {phrase}", f"the {collection.title}s of the {phrase}, all of them")
    else:
        return None
    names = [entity.name for entity in found]
    answer = (in_order if order else any_order)(names)
    checks = (
        *(fact(f"They are {c.phrase}", one_of=known) for c in constraints),
        *extra,
        fact("Their names were shown", one_of=known),
        fact(f"The answer is {', '.join(names)}", answer={**answer, "of": those}),
    )
    plan = [visit(where), done(f"There are {len(names)}.", ", ".join(names))]
    return Goal("names", where, {}, checks, plan, cores=cores, form="ask", asks="What are")


def _act(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    action = rng.choice(site.actions) if site.actions else None
    if action is None:
        return None
    fields = _draw_fields(action, facts, rng)
    values = {each.key: _draw_value(each, rng) for each in fields}
    if action.also and not values:
        return None
    state_facts = max(1, len(values))
    if not action.collection:
        if facts != state_facts:
            return None
        it = None
    else:
        it = refer(site.collections[action.collection], facts - state_facts - 1, rng) if facts > state_facts else None
        if it is None or not action.offered(it.entity) or action.refuses(it.entity):
            return None
        if not action.makes and any(it.entity.values.get(key) == value for key, value in values.items()):
            return None
    entity = None if it is None else it.entity
    name = "" if entity is None else entity.name
    state = action.change({key: str(value) for key, value in values.items()}, entity, {})
    given = {key: value for key, value in state.items() if key.rpartition("/")[2] in values} or state
    found = () if it is None else (*it.facts(state=state), fact(f"It was done to {name}", state=state))
    changed = (fact(f"{_label(action, key)} is {value}", state={key: value}) for key, value in given.items())
    way = [] if it is None else it.plan
    plan = [*way, *_forms(action, it, values), done(action.done.format(name=name))]
    cores = asked_for(action, values, it)
    target = action.path(None) if it is None else f"{it.key}/{action.key}"
    key = "-".join((target, *(str(value) for value in values.values())))
    return Goal("act", key, {}, (*found, *changed), plan, state=state, cores=cores)


def _draw_fields(action: Action, facts: int, rng: random.Random) -> list[Field]:
    """The fields that a goal of so many facts says: all that it must, and some of those that it may leave out."""
    stated = [each for each in action.fields if each.askable]
    optional = [each for each in stated if each.key in action.also]
    room = facts - bool(action.collection) - (len(stated) - len(optional))
    count = max(0, min(len(optional), room))
    kept = rng.sample(optional, rng.randint(0, count) if action.collection else count)
    return [each for each in stated if each.key not in action.also or each in kept]


def asked_for(action: Action, values: Mapping[str, Value], it: Reference | None) -> tuple[str, ...]:
    """The wordings of an action that is done to a thing, if there is one, with these values."""
    shown = {each.key: each.show(str(values[each.key])) for each in action.fields if each.key in values}
    if it is not None and "name" in shown:
        shown["new_name"] = shown.pop("name")
    also = _also([action.also[key] for key in values if key in action.also])
    return tuple(_clause(f"{clause}{also}", shown, it) for clause in action.clauses)


def _clause(clause: str, shown: Mapping[str, str], it: Reference | None) -> str:
    """A clause with its values.

    A long description of the thing comes first, if the clause would go on behind it: its last words and what follows
    could be read together, as in `the message with a photo to the Sent folder`.
    """
    if it is None:
        return clause.format(**shown)
    if len(it.says) > 1 and clause.partition("{name}")[2].startswith(" "):
        return f"find {it.phrase}, then {clause.format(**shown, name=f'the {it.collection.noun}')}"
    return clause.format(**shown, name=it.phrase)


def _also(parts: list[str]) -> str:
    """What optional fields add to a clause, as an enumeration; what is to be done besides comes last."""
    besides = [part for part in parts if part.startswith(", and ")]
    *first, last = [part for part in parts if part not in besides] or [""]
    if first and not besides:
        last = f" and {last.removeprefix(', ')}"
    return "".join((*first, last, *besides))


def _forms(action: Action, it: Reference | None, values: Mapping[str, Value]) -> Plan:
    entity = None if it is None else it.entity
    agreed = {each.key: "yes" for each in action.fields if each.widget == "agree"}
    filled = {**{key: str(value) for key, value in values.items()}, **agreed}
    path = action.path(entity)
    if not action.steps:
        form = {"do": "form", "action": path, "at": path, "values": filled, "lands": f"{path}/done"}
        return [form if it is None else {**form, "at": it.path, "via": it.plan[-1]["via"]}]
    above = "" if it is None else it.path
    forms = []
    for i, step in enumerate(action.steps):
        here, lands = action.step_path(entity, i), action.step_path(entity, i + 1)
        given = {key: filled[key] for key in step.keys if key in filled}
        forms.append({"do": "form", "action": here, "at": here, "via": above, "values": given, "lands": lands})
        above = here
    return forms


def _missing(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """What the instruction names is not on the site: the right answer says so."""
    collection = _collection(site, rng)
    one, other = (rng.choice(collection.entities).name.split() for _ in range(2))
    name = rng.choice(collection.absent) if collection.absent else " ".join([*one[:-1], other[-1]])
    if facts != 2:
        return None
    here = [entity.name.lower() for each in site.collections.values() for entity in each.entities]
    if any(all(word in each for word in name.lower().split()) for each in here):
        return None
    cores = (f"open {quoted(name)}", f"go to the page of {quoted(name)}")
    checks = (
        fact(f"{name} was looked for", one_of=[{"searched": name}, *browsed(collection, name)]),
        fact("The answer says that it does not exist", answer=missing(name)),
    )
    plan = [
        {"do": "search", "text": name},
        done(f"Nothing is called {name}.", f"Impossible: there is no {quoted(name)}."),
    ]
    return Goal("missing", name, {}, checks, plan, cores=cores)


def _refused(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """What the instruction asks for cannot be done to that entity: the right answer says so, and why."""
    action = rng.choice(site.actions) if site.actions else None
    if action is None or not action.collection or facts != 2:
        return None
    collection = site.collections[action.collection]
    refusing = [entity for entity in collection.entities if action.offered(entity) and action.refuses(entity)]
    if not refusing:
        return None
    it = named(collection, rng.choice(refusing))
    values = {each.key: _draw_value(each, rng) for each in _draw_fields(action, facts, rng)}
    cores = asked_for(action, values, it)
    name, reason = it.entity.name, action.refuses(it.entity)
    checks = (
        fact(f"The page of {name} was shown", visited=[place(it.path)]),
        fact(f"The answer says that it cannot be done: {reason}", answer={**refused(reason), "thing": it.path}),
    )
    plan = [*it.plan, done(f"It is {reason}.", f"Impossible: {name} is {reason}.")]
    key = "-".join((it.path, action.key, *(str(value) for value in values.values())))
    return Goal("refused", key, {}, checks, plan, cores=cores)


def from_menu(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """Do something by the menu of a right click, which only some kinds have; that it was done proves what is said."""
    action = rng.choice(site.menu)
    it = refer(site.collections[action.collection], facts - 1, rng)
    if it is None or not action.offered(it.entity) or action.refuses(it.entity):
        return None
    state = action.change({}, it.entity, {})
    said = action.done.format(name=it.entity.name)
    checks = (*(fact(sentence, state=state) for sentence in it.says), fact(said.rstrip("."), state=state))
    path = action.path(it.entity)
    at, lands = it.plan[-1]["via"], f"{path}/done"
    menu = {"do": "menu", "item": it.path, "name": it.entity.name, "action": path, "at": at, "lands": lands}
    cores = asked_for(action, {}, it)
    plan = [*it.plan[:-1], menu, done(said)]
    return Goal("menu", f"{it.key}/{action.key}", {}, checks, plan, state=state, cores=cores)


MAKERS: tuple[Callable[[CatalogSite, int, random.Random], Goal | None], ...] = (
    *(_open, _read, _read, _compare, _across, _narrow, _count, _names, _act, _act, _act, _missing, _refused),
)


def _collection(site: CatalogSite, rng: random.Random) -> Collection:
    """Mostly the one that the site is about."""
    return site.main if rng.random() < 0.7 else rng.choice([c for c in site.collections.values() if c.entities])


def _draw_value(each: Field, rng: random.Random) -> Value:
    if each.widget == "checks":
        chosen = rng.sample(each.options, rng.randint(1, min(3, len(each.options))))
        return ", ".join(option for option in each.options if option in chosen)
    if each.widget in ("checkbox", "agree"):
        return "yes"
    if each.widget in ("number", "range"):
        return rng.randint(each.least + (each.widget == "range"), each.most)
    if each.widget in ("date", "calendar"):
        return f"{each.hint or '2027-03'}-{rng.randint(1, 28):02d}"
    return rng.choice(each.options)


def _label(action: Action, key: str) -> str:
    if action.counts:
        return f"The number in the {action.counts}"
    name = key.rpartition("/")[2]
    return next((each.label for each in action.fields if each.key == name), name.capitalize())


def _more(attribute: Attribute) -> str:
    """Having more of it, in a word: a later year, a longer time, a higher rating."""
    return next((more for more, those in _MORE.items() if attribute.key in those or attribute.unit in those), "higher")


def _phrase(collection: Collection, constraints: list[Constraint]) -> str:
    return f"{collection.nouns} {joined(constraints)}".strip()
