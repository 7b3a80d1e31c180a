"""What an environment is: tasks, and for each episode a visit to the place where its task can be done.

A recipe names one in its `env` section. To write one, derive `Environment`, give it options as fields, and write
`tasks`; everything else has a default that fits a web site which is there already and keeps no state of an episode.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self
from uuid import uuid4

from pydantic import PrivateAttr

from webdojo.agent.script import ScriptMaker
from webdojo.browser.config import BrowserConfig, StorageState, read_storage_state
from webdojo.browser.interface import Session
from webdojo.errors import WebdojoError
from webdojo.plugins import Plug, one_line_errors
from webdojo.reward.function import RewardFunction
from webdojo.types import Task

logger = logging.getLogger("webdojo")

Split = Literal["train", "eval"]
"""Which tasks: those that training draws from, or those that policies are measured on."""


@dataclass
class Visit:
    """One episode's stay in an environment: what its browser session begins with."""

    task: Task
    """`Environment.enter` may put one with another instruction here, which the episode's trajectory then has."""
    start_url: str
    """`browser.interface.BLANK` where `Environment.enter` opens the first page."""
    headers: dict[str, str] = field(default_factory=dict)
    """Sent with every request of the session."""
    storage_state: StorageState | None = None
    """Cookies and local storage to begin with; None: the recipe's (`browser.storage_state`)."""
    id: str = field(default_factory=lambda: uuid4().hex)
    """Unique, also where an episode runs anew, so that state kept by it starts afresh."""
    answer: str | None = None
    """What the agent has answered in the turn that `Environment.is_over` is asked about; None: nothing."""


class Environment(Plug):
    """Where episodes happen. An async context manager: `start` and `close` around everything that runs in it.

    Whatever its methods raise during an episode, other than ConfigError and TaskError, ends that episode as
    `env_error` or `start_error`: it is invalid and trains nothing.
    """

    is_there_already: ClassVar[bool] = False
    """Whether it serves nothing, so that the guard of the browsers alone says which of its addresses may be reached."""
    endless: ClassVar[bool] = False
    """Whether `tasks` gives as many as it is asked for, so that a plan need not draw them to count them."""
    leaves_blocked_pages: ClassVar[bool] = False
    """Whether an episode is given up, as invalid, that is on a page which turns robots away and stays there."""

    @abstractmethod
    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        """Its tasks, with unique ids, in a fixed order.

        Args:
            split: which ones.
            n: at most so many; an environment without an end gives exactly `n`.
            seed: of every random choice; the same arguments give the same tasks.

        Raises:
            TaskError: there are none, or they cannot be read.
            Missing: only the user can bring them, and has not.
        """

    def samples(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        """The tasks by which a run with these arguments of `tasks` is checked before it begins: all, or some that
        stand for all.

        Raises:
            TaskError, Missing: as `tasks`.
        """
        return self.tasks(split, n, seed)

    def difficulty_levels(self) -> Collection[int]:
        """Difficulties that its training tasks have.

        Raises:
            TaskError: as `tasks`.
        """
        return sorted({task.difficulty for task in self.tasks("train", 10_000, 0)})

    @property
    def reward(self) -> RewardFunction | None:
        """Its own verdict on an episode, for `reward: {name: env}`; None: it has none."""
        return None

    @property
    def oracle(self) -> ScriptMaker | None:
        """Makes the script that does a task, for demonstrations; None: nobody knows how."""
        return None

    @property
    def hosts(self) -> Mapping[str, str]:
        """Where hosts are served, past the guard: `{"shop-*.localhost:80": "127.0.0.1:8000"}`; read after `start`."""
        return {}

    @property
    def fixed_port(self) -> int:
        """Port of this machine that its options name for what it serves, so that a run has one such environment only;
        0: none."""
        return 0

    def check(self, task: Task) -> None:
        """Find out, before it runs, whether a task can be done here.

        Raises:
            TaskError: it cannot; the message says why.
        """

    def kind_of(self, url: str) -> str:
        """`Task.kind` of a task that somebody gives at an address; empty where it serves no such page.

        Raises:
            TaskError: the address would be one of its own, and there is no such site.
        """
        return ""

    def own_task(self, instruction: str, url: str) -> Task | None:
        """Its own task with this instruction at an address, by which an episode can be judged; None: it knows none."""
        return None

    def check_browser(self, config: BrowserConfig) -> None:
        """Find out whether the browsers of a recipe can be used here, such as those of other machines
        (`browser.servers`), which have to reach its hosts.

        Raises:
            ConfigError: they cannot; the message says what to set.
        """

    async def start(self) -> None:
        """Start what serves it."""

    async def close(self) -> None:
        """Stop what `start` has started."""

    async def admit(self, task: Task) -> None:
        """Wait until an episode may begin; this time does not count towards its limit.

        Raises:
            StartError: it may not begin at all.
        """

    async def visit(self, task: Task, seed: str = "") -> Visit:
        """Begin a visit for an episode.

        Args:
            seed: of whatever is drawn for this visit, such as perturbations.
        """
        return self.plain_visit(task)

    async def enter(self, visit: Visit, session: Session) -> None:
        """Do what is needed in the open session before the agent looks at it for the first time."""

    async def state(self, visit: Visit) -> dict[str, Any]:
        """What the visit has changed and seen so far, as plain JSON; kept as `Trajectory.state`."""
        return {}

    async def is_over(self, visit: Visit) -> bool:
        """Whether the environment has ended the episode by itself; asked after every turn."""
        return False

    async def leave(self, visit: Visit) -> None:
        """End the visit and forget its state."""

    @staticmethod
    def plain_visit(task: Task) -> Visit:
        """A visit to the task's start URL, with the task's storage state.

        Raises:
            ConfigError: the file of the storage state cannot be read.
        """
        state = read_storage_state(task.storage_state, f"storage_state of task {task.id!r}")
        return Visit(task, task.start_url, storage_state=state)

    async def __aenter__(self) -> Self:
        with one_line_errors(self, "environment"):
            await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it; what that raises is logged, so that it hides neither an error nor an interrupt."""
        try:
            with one_line_errors(self, "environment"):
                await self.close()
        except WebdojoError as failed:
            logger.warning("%s", failed)


class LocalEnvironment(Environment):
    """An environment that a server of `webdojo.sites` serves on this machine, with a state for each visit."""

    _server: Any = PrivateAttr(default=None)

    @abstractmethod
    def make_server(self) -> Any:
        """A server that has not started yet; raises TaskError if what it serves is not installed."""

    async def start(self) -> None:
        """Serve the sites; raises SiteError if the port is taken, or the address is not this machine's."""
        self._server = self.make_server()
        self._server.__enter__()

    async def close(self) -> None:
        server, self._server = self.server, None
        server.__exit__()

    @property
    def server(self) -> Any:
        assert self._server is not None, "the environment has not started"
        return self._server

    @property
    def hosts(self) -> Mapping[str, str]:
        return self.server.hosts

    async def visit(self, task: Task, seed: str = "") -> Visit:
        self.check(task)
        visit = self.plain_visit(task)
        visit.headers = self.headers(visit, seed)
        return visit

    def headers(self, visit: Visit, seed: str) -> dict[str, str]:
        """What tells the server whose visit a request belongs to."""
        return self.server.headers(visit.id)

    async def state(self, visit: Visit) -> dict[str, Any]:
        """What the visit changed and saw, by host."""
        return self.server.state(visit.id)

    async def leave(self, visit: Visit) -> None:
        self.server.end(visit.id)
