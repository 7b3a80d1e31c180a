"""The embedded web: procedural sites with tasks whose success is checked by code.

A site is a (kind, seed) with a host name of its own (`shop-17.localhost`). Its content, look and
pages are pure functions of that pair; only what a session changes (such as a cart) is state, and no
session sees another's. Training sites count up from seed 0, held-out ones from `HELDOUT_SEED`, so
that the two never share a host.
"""

from __future__ import annotations

import re

from webdojo.errors import SiteError

KINDS: dict[str, str] = {
    "shop": "shop:Shop",
    "wiki": "wiki:Wiki",
    "travel": "travel:Travel",
    "tracker": "tracker:Tracker",
    "admin": "admin:Admin",
    "forms": "forms:Forms",
    "forum": "forum:Forum",
    "mail": "mail:Mail",
    "news": "news:News",
    "places": "places:Places",
}
"""Every kind of site, and the class that makes one."""

COMPACT_KINDS = ("shop", "wiki")
"""Those whose compact layout stands on the grid that the tiny model was taught to read."""

HELDOUT_SEED = 1_000_000

_HOST = re.compile(r"^([a-z]+)-(0|[1-9][0-9]{0,8})\.localhost$")


def host_of(kind: str, seed: int) -> str:
    """Host name of a site, without a port.

    Raises:
        SiteError: unknown kind, or a seed outside 0..999,999,999.
    """
    if kind not in KINDS:
        raise SiteError(f"unknown kind of site {kind!r}; kinds are {', '.join(KINDS)}")
    if not 0 <= seed < 1_000_000_000:
        raise SiteError(f"site seed {seed} is outside 0..999999999")
    return f"{kind}-{seed}.localhost"


def parse_host(host: str) -> tuple[str, int]:
    """Kind and seed of a host name (a port after a colon is ignored).

    Raises:
        SiteError: not the host of an embedded site.
    """
    match = _HOST.match(host.partition(":")[0].lower())
    if match is None or match[1] not in KINDS:
        raise SiteError(f"{host!r} is no embedded site; hosts look like shop-17.localhost ({', '.join(KINDS)})")
    return match[1], int(match[2])
