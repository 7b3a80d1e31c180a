"""Goals that need the menu of a right click: what it offers is nowhere else on the site."""

from __future__ import annotations

import random

from webdojo.sites.goal import Goal, done, fact
from webdojo.sites.instructions.references import refer
from webdojo.sites.site import Site


def from_menu(site: Site, facts: int, rng: random.Random) -> Goal | None:
    """Do something to a thing where a list shows it. That it was done to this thing proves all that is said of it."""
    action = rng.choice(site.menu)
    it = refer(site.collections[action.collection], facts - 1, rng)
    if it is None or not action.offered(it.entity) or action.refuses(it.entity):
        return None
    state = action.change({}, it.entity, {})
    said = action.done.format(name=it.entity.name)
    checks = (*(fact(sentence, state=state) for sentence in it.says), fact(said.rstrip("."), state=state))
    path = action.path(it.entity)
    menu = {
        "do": "menu",
        "item": it.path,
        "name": it.entity.name,
        "action": path,
        "at": it.plan[-1]["via"],
        "lands": f"{path}/done",
    }
    cores = tuple(clause.format(name=it.phrase) for clause in action.clauses)
    plan = [*it.plan[:-1], menu, done(said)]
    return Goal("menu", f"{it.key}/{action.key}", {}, checks, plan, state=state, cores=cores)
