"""The page at the root of the site server, where a person finds the sites."""

from __future__ import annotations

from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.design.render import fill
from webdojo.sites.kinds import KINDS

SEEDS = (0, 1, 2, HELDOUT_SEED)
"""Sites that are shown of each kind; any other seed works too."""


def addresses(port: int) -> dict[str, list[str]]:
    """Addresses of a few sites on a port of this machine, by kind."""
    return {kind: [f"http://{host_of(kind, seed)}:{port}/" for seed in SEEDS] for kind in KINDS}


def index_page(port: int) -> str:
    return fill("index.html", sites=addresses(port))
