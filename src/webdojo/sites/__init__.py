"""The embedded web: procedural sites with tasks whose success is checked by code.

A site is a (kind, seed) with a host name of its own (`shop-17.localhost`). Its content, look and
pages are pure functions of that pair; only what a session changes (such as a cart) is state, and no
session sees another's. Seeds of training sites are below `HELDOUT_SEED`, those of held-out ones are
not, so that the two never share a host.
"""

from __future__ import annotations

from webdojo.errors import SiteError

COMPACT_KINDS = ("shop", "wiki")
"""Those whose compact layout stands on the grid that the tiny model was taught to read."""

SMALL_KINDS = ("mail", "tracker", "travel", "news", "forum", "forms", "places", "admin")
"""Those that have sites of their own on that grid (`small/`)."""

LAYOUTS = ("auto", "compact", "grid")
"""`auto` for a window of usual size, `compact` for a small one, and `grid`, where all kinds are on the grid."""

HELDOUT_SEED = 1_000_000

HOSTS = "*.localhost:80"
"""Pattern of the sites' host names, as browsers ask for them."""


def layout_of(kind: str, layout: str) -> str:
    """The layout that the tasks of a site depend on where it is shown in this one; empty: they do not."""
    if kind in COMPACT_KINDS:
        return "auto" if layout == "auto" else "compact"
    return "grid" if layout == "grid" and kind in SMALL_KINDS else ""


def host_of(kind: str, seed: int) -> str:
    """Host name of a site, without a port."""
    if not 0 <= seed < 1_000_000_000:
        raise SiteError(f"site seed {seed} is outside 0..999999999")
    return f"{kind}-{seed}.localhost"
