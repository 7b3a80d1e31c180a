"""Small sites on the grid: of each kind that is not a shop or a wiki."""

from __future__ import annotations

from webdojo.sites.small.goals import MAKERS
from webdojo.sites.small.kinds import SMALL
from webdojo.sites.small.site import SmallSite

KINDS: dict[str, type[SmallSite]] = {
    kind: type(f"Small{kind.title()}", (SmallSite,), {"kind": kind, "content": content, "makers": MAKERS})
    for kind, content in SMALL.items()
}
"""The small sites by kind; they have the same hosts as the large ones."""
for _kind in KINDS.values():
    _kind.beside = KINDS[_kind.content.partner]
