"""One process of a cluster, as the process that trains sees it: whether it is up, how busy it is, and its end.

Ray places it, and starts it again wherever there is room when it dies. What it must be told before it can work
(`prepare`) is told after each start; a process that answers no heartbeat is ended, so that it starts anew.
Invariant: a call either returns what the process answered, or raises what the process raised, or `Lost`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError, TaskCancelledError

from webdojo.errors import PASSING, ConfigError, EngineError, WebdojoError, one_line

HEARTBEATS = 4
"""Heartbeats within `cluster.heartbeat_timeout_s`."""
MAX_STARTS = 5
"""A process that dies so many times in a row before it is ready is given up."""
RESTART_S = 0.5
"""Seconds between a death and the next look at whether Ray has started the process again."""

logger = logging.getLogger("webdojo")


class Lost(Exception):
    """The process that was asked is gone, and with it what it was doing."""


@dataclass(eq=False)
class Replica:
    """A process of one role; `Replicas` runs it."""

    name: str
    actor: Any
    """Its handle, which stays the same over restarts. The actor has a method `ping`."""
    prepare: Callable[[Replica], Awaitable[None]]
    """Makes a process that has just started ready for work; raises `Lost`, or an error that no restart mends."""
    heartbeat_timeout_s: float
    busy: int = 0
    """Calls of work that are under way."""
    status: Any = None
    """What the last heartbeat said."""
    starts: int = 0
    """How often it became ready."""
    error: str = ""
    """Why it was given up; empty while it works or is started again."""
    refused: bool = False
    """Whether that is something which only the user can change."""
    up: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever `up` or `error` has changed."""
    _lost: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a call has found that the process is gone."""

    async def call(self, method: str, *args: Any) -> Any:
        """Call a method of the process."""
        reference = getattr(self.actor, method).remote(*args)
        try:
            return await reference
        except asyncio.CancelledError:
            ray.cancel(reference)
            raise
        except TaskCancelledError:
            raise Lost(f"{self.name} gave up a call") from None
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            self._down()
            raise Lost(f"{self.name} is lost: {one_line(error)}") from None

    async def run(self) -> None:
        """Keep the process ready until this is cancelled; return where it is given up."""
        failures = 0
        while not self.error:
            started = False
            try:
                await self.call("ping")
                started = True
                await self._get_ready()
                failures = 0
                await self._watch()
            except Lost as lost:
                if started and self.starts:
                    logger.warning("%s; it is started again", lost)
                failures += started
                if failures == MAX_STARTS:
                    self.error = str(lost)
                await asyncio.sleep(RESTART_S)
            except TimeoutError:
                logger.warning("%s answers nothing for %g s, and is ended", self.name, self.heartbeat_timeout_s)
                self.end()
            except Exception as error:  # of what the recipe names, a model or a plug: no restart mends it
                self._down()
                self.error = str(error) if isinstance(error, WebdojoError) else one_line(error)
                self.refused = isinstance(error, WebdojoError) and error.exit_code != PASSING
        self.changed.set()

    async def _get_ready(self) -> None:
        self._lost.clear()
        await self.prepare(self)
        await self._ask_for_life()
        self.starts, self.up = self.starts + 1, True
        self.changed.set()
        if self.starts > 1:
            logger.info("%s works again", self.name)

    async def _watch(self) -> None:
        """Ask for signs of life until there is none, or until a call finds none."""
        while not self._lost.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self.heartbeat_timeout_s / HEARTBEATS):
                    await self._lost.wait()
            if not self._lost.is_set():
                await self._ask_for_life()
        raise Lost(f"{self.name} died")

    async def _ask_for_life(self) -> None:
        """TimeoutError where it shows no sign of life."""
        async with asyncio.timeout(self.heartbeat_timeout_s):
            self.status = await self.call("ping")

    def end(self) -> None:
        """Kill the process; Ray starts it again."""
        self._down()
        with suppress(RayError):
            ray.kill(self.actor, no_restart=False)

    def _down(self) -> None:
        self.up = False
        self._lost.set()
        self.changed.set()


class Replicas:
    """The processes of one role, in an `async with` block; its end ends them."""

    def __init__(self, members: Iterable[Replica]) -> None:
        self.all = list(members)
        self._keeping: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Replicas:
        """Wait until each is up, or given up; EngineError where none is up, ConfigError where the user has to change
        something."""
        self._keeping = [asyncio.create_task(each.run()) for each in self.all]
        try:
            for each in self.all:
                while not (each.up or each.error):
                    await _next_change([each])
            self._check_alive()
        except BaseException:
            await self.__aexit__()
            raise
        for each in self.all:
            if each.error:
                logger.warning("%s does not start: %s", each.name, each.error)
        return self

    async def __aexit__(self, *error: object) -> None:
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)
        for each in self.all:
            with suppress(RayError):
                ray.kill(each.actor)

    @property
    def up(self) -> list[Replica]:
        return [each for each in self.all if each.up]

    async def least_busy(self) -> Replica:
        """One that is up, after waiting for it if need be; EngineError where none ever will be."""
        while not self.up:
            self._check_alive()
            await _next_change(self.all)
        return min(self.up, key=lambda each: each.busy)

    def _check_alive(self) -> None:
        if all(each.error for each in self.all):
            kind = ConfigError if all(each.refused for each in self.all) else EngineError
            raise kind(f"no process is left: {self.all[0].name}: {self.all[0].error}")


async def _next_change(replicas: Iterable[Replica]) -> None:
    """Wait until one of them comes up or goes down."""
    waits = [asyncio.create_task(each.changed.wait()) for each in replicas]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        for each in replicas:
            each.changed.clear()
