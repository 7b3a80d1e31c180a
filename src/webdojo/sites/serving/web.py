"""All servers that a set of tasks needs, behind one interface."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Self

from webdojo.errors import TaskError
from webdojo.sites import KINDS
from webdojo.sites.miniwob.server import MiniwobServer
from webdojo.sites.perturbations.schedule import NO_PERTURBATIONS, Perturbations
from webdojo.sites.serving.server import SiteServer
from webdojo.tasks import miniwob
from webdojo.types import Task


class EmbeddedWeb:
    """A context manager that serves the kinds of the given tasks, and nothing if no task has a kind.

    Raises:
        TaskError: a kind that no server has, or MiniWoB++ tasks without the package `miniwob`.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.kinds = frozenset(task.kind for task in tasks) - {""}
        unknown = sorted(self.kinds - {*KINDS, miniwob.KIND})
        if unknown:
            raise TaskError(
                f"no server has tasks of kind {unknown[0]!r}; kinds are {', '.join((*KINDS, miniwob.KIND))}"
            )
        self._servers: list[MiniwobServer | SiteServer] = []
        # First, because Chromium takes the first pattern that fits, and the other one's is *.localhost.
        if miniwob.KIND in self.kinds:
            self._servers.append(MiniwobServer())
        if self.kinds & set(KINDS):
            self._servers.append(SiteServer())
        self._running = ExitStack()

    def __enter__(self) -> Self:
        for server in self._servers:
            self._running.enter_context(server)
        return self

    def __exit__(self, *error: object) -> None:
        self._running.close()

    @property
    def hosts(self) -> dict[str, str]:
        """For `BrowserPool`: host patterns and where they are served."""
        return {pattern: address for server in self._servers for pattern, address in server.hosts.items()}

    def headers(
        self, session_id: str, layout: str = "auto", perturbations: Perturbations = NO_PERTURBATIONS
    ) -> dict[str, str]:
        """Headers that a browser context must send with every request.

        Raises:
            SiteError: unknown layout.
        """
        own = (server.headers(session_id, layout, perturbations) for server in self._servers)
        return {name: value for headers in own for name, value in headers.items()}

    def state(self, session_id: str) -> dict[str, Any]:
        """What a visit changed, by host."""
        return {host: state for server in self._servers for host, state in server.state(session_id).items()}

    def end(self, session_id: str) -> None:
        """Forget a visit; unknown ones are ignored."""
        for server in self._servers:
            server.end(session_id)
