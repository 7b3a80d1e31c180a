"""Which ends of an episode are not the agent's doing, as far as the screen itself tells.

Invariant: an agent cannot excuse itself. A page that is blocked or dead is its own doing where it left the last good
page by a tab of its own, or by an address outside of the task's site; else failing episodes could be made invalid.
"""

from __future__ import annotations

import re

from webdojo.types import Observation, Task, Trajectory, Turn

TABS = ("new_tab", "switch_tab", "close_tab")
_SITE = re.compile(r"\s*(?:https?://)?([^/?#\s]+)", re.IGNORECASE)
"""Host and port of an address as people write it."""


def not_the_agents_doing(trajectory: Trajectory) -> tuple[str, str] | None:
    """Cause and reason where the episode ended on a page that no agent could have used; None otherwise."""
    final = trajectory.final
    if final is None or _is_good(final):
        return None
    good = [n for n, turn in enumerate(trajectory.turns) if _is_good(turn.observation)]
    since = trajectory.turns[good[-1] :] if good else []
    if any(_leaves(turn, trajectory.task) for turn in since):
        return None
    if final.blocked:
        return "blocked", f"the site blocks robots: {final.blocked}"
    return "dead_page", f"the episode ended on {final.url}: {final.dead}"


def _is_good(seen: Observation) -> bool:
    return not (seen.blocked or seen.dead)


def _leaves(turn: Turn, task: Task) -> bool:
    """Whether a call of the turn may lead away from the task's site."""
    own = {task.website, site_of(task.start_url)}
    return any(
        call.name in TABS or (call.name == "goto_url" and site_of(str(call.arguments.get("url"))) not in own)
        for call in turn.parsed.calls
    )


def site_of(address: str) -> str:
    """Host and port of an address; empty where it has none."""
    found = _SITE.match(address)
    return found[1].lower() if found else ""
