"""A goal that leads through a box of another site on the page of an article to that site, in a new tab."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from webdojo.sites.goal import Goal, done, fact, place, visit
from webdojo.sites.instructions.references import refer
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import load_site

if TYPE_CHECKING:
    from webdojo.sites.news import News


def from_partner(site: News, facts: int, rng: random.Random) -> Goal | None:
    """Open what a travel agency offers in its box."""
    it = refer(site.main, facts - 2, rng) if site.partner and facts >= 2 else None
    if it is None:
        return None
    partner = load_site("travel", site.seed)
    assert isinstance(partner, CatalogSite)
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
    return Goal("partner", f"{it.path}-{offer.slug}", {}, checks, plan, cores=cores)
