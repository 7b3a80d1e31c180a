"""A goal that leads through a box of another site on the page of an article to that site, in a new tab."""

from __future__ import annotations

import random
from functools import lru_cache

from webdojo.sites import host_of
from webdojo.sites.goal import Goal, done, fact, place, visit
from webdojo.sites.instructions.references import refer
from webdojo.sites.site import Site
from webdojo.sites.travel import Travel


def partner_of(site: Site) -> str:
    """Host of the travel agency whose box stands on the pages of a newspaper's articles; empty: there is none."""
    return host_of("travel", site.seed) if random.Random(f"{site.host}-partner").random() < 0.5 else ""


def from_partner(site: Site, facts: int, rng: random.Random) -> Goal | None:
    """Open what a travel agency offers in its box."""
    it = refer(site.main, facts - 2, rng) if facts >= 2 and partner_of(site) else None
    if it is None:
        return None
    partner = _agency(site.seed)
    offer = rng.choice(partner.embedded())
    path, box = f"/{partner.main.slug}/{offer.slug}", f"the {partner.look.brand} box"
    cores = (
        f"open {offer.name} from {box} that stands on the page of {it.phrase}",
        f"go to the page of {it.phrase} and open {offer.name} in {box} there",
        f"find {box} with {offer.name} on the page of {it.phrase}, and open that offer",
    )
    checks = (
        *it.facts,
        fact(f"The page of {it.entity.name} was shown", visited=[place(it.path)]),
        fact(f"The page of {offer.name} is shown at the end", site=partner.host, url=place(path)),
    )
    there = {"site": partner.host}
    plan = [*it.plan, {**visit(path), **there}, {**done(f"This is {offer.name}."), **there}]
    return Goal("partner", f"{it.key}-{offer.slug}", {}, checks, plan, cores=cores)


@lru_cache(maxsize=64)
def _agency(seed: int) -> Travel:
    return Travel(seed)
