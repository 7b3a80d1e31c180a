"""Where the wall time of webdojo's step goes: probe, input, settle, capture.

The session is measured at its seams while a block runs: the execution of actions, `BrowserSession.settle`,
`Tab.screenshot`. What is left of `act` is the probe before the action and the wording of the feedback; what is left
of `observe` is the look at title, size and tabs, as far as the screenshot does not hide it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from webdojo.browser import session
from webdojo.browser.actions import execute
from webdojo.browser.session import BrowserSession
from webdojo.browser.tab import Tab


@contextmanager
def phases() -> Iterator[dict[str, float]]:
    """Seconds by phase, summed over all sessions; complete when the block ends."""
    spent: defaultdict[str, float] = defaultdict(float)

    def timed(name: str, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def run(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return await work(*arguments)
            finally:
                spent[name] += time.perf_counter() - began

        return run

    found: dict[str, float] = {}
    with ExitStack() as stack:
        stack.enter_context(patch.object(session, "execute", timed("input", execute)))
        for owner, method in (
            (BrowserSession, "act"),
            (BrowserSession, "settle"),
            (BrowserSession, "observe"),
            (Tab, "screenshot"),
        ):
            stack.enter_context(patch.object(owner, method, timed(method, getattr(owner, method))))
        yield found
    found |= {
        "probe": spent["act"] - spent["input"] - spent["settle"],
        "input": spent["input"],
        "settle": spent["settle"],
        "capture": spent["screenshot"],
        "look": spent["observe"] - spent["screenshot"],
    }
