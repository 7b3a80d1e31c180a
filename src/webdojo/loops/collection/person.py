"""A person who does tasks in a window of this machine, and says at a desk how they end.

Invariant: what the person does is done by the session, once it is a response that the harness reads back as the same
call. What the harness cannot say is not done, and the person is told.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from webdojo.agent.harness import Harness
from webdojo.agent.toolcall import brief
from webdojo.browser.actions import point_1000
from webdojo.browser.person.capture import Capture, WindowClosed
from webdojo.browser.person.composer import Pauses
from webdojo.browser.session import BrowserSession
from webdojo.browser.tools import TOOLS, check_call
from webdojo.errors import Discarded, HarnessError, Stopped
from webdojo.loops.collection.teachers import Teacher
from webdojo.policy.scripted import ScriptedActor
from webdojo.types import Task, ToolCall, Trajectory

HELP = """\
In the window do the task; here type, and press Enter:
  an answer       ends the task with it; an empty line ends it without one
  > why           the thought of what you do next
  :drop           forget this attempt and begin the task anew
  :stop           no more tasks, as Ctrl-C; what is recorded stays
  :wait 2         let two seconds pass; so for every tool that needs no point, such as :go_back and :close_tab
A tap on the Control key hovers where the mouse is."""
_ENTER = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})


class Desk(ABC):
    """Where a person reads what is asked, and types what no window can tell."""

    pauses = Pauses()

    def __init__(self) -> None:
        self._lines: deque[tuple[float, str | None]] = deque()
        self._came = asyncio.Event()

    @abstractmethod
    def start(self) -> None:
        """Begin to take lines, in the event loop that runs now."""

    @abstractmethod
    def say(self, text: str) -> None:
        """Show a text."""

    def put(self, line: str | None) -> None:
        """Take a line from the person; None where there will be no more."""
        self._lines.append((time.monotonic(), line))
        self._came.set()

    @property
    def since(self) -> float | None:
        """When the next line was put, by the monotonic clock; None where there is none."""
        return self._lines[0][0] if self._lines else None

    async def wait(self) -> None:
        """Wait until there is a line."""
        while not self._lines:
            self._came.clear()
            await self._came.wait()

    def take(self) -> str | None:
        """The next line; None where there will be no more."""
        _, line = self._lines[0]
        if line is not None:
            self._lines.popleft()
        return line


@dataclass(frozen=True)
class _Step:
    think: str
    calls: Sequence[ToolCall]


class Person:
    """Does one task in the window of its session; a script like that of an oracle (`agent/script.py`)."""

    def __init__(self, task: Task, harness: Harness, desk: Desk, max_tokens: int) -> None:
        self._task, self._harness, self._desk = task, harness, desk
        self._max_tokens = max_tokens
        self._capture: Capture | None = None
        self._think = ""
        self._thoughts: list[str] = []

    async def step(self, session: BrowserSession) -> _Step:
        """The next thing that the person does.

        Raises:
            Discarded, Stopped: the person has said so.
            BrowserError: the browser is lost.
        """
        if self._capture is None:
            self._capture = await Capture.of(session, self._desk.pauses, self._desk.say)
            self._desk.say(f"\n{self._task.instruction} ({self._task.start_url})")
        while True:
            call = await self._next(self._capture)
            if call is not None and (calls := await self._said(call, self._capture, session)):
                self._desk.say(f"{len(self._thoughts) + 1:>3}  {brief(await _starred(calls, self._capture))}")
                think, self._think = self._think, ""
                self._thoughts.append(think)
                return _Step(think, calls)

    async def _next(self, capture: Capture) -> ToolCall | None:
        """What comes first, from the window or from the desk; None for what is no call."""
        try:
            while (typed := self._desk.since) is None:
                doing, typing = asyncio.ensure_future(capture.call()), asyncio.ensure_future(self._desk.wait())
                try:
                    await asyncio.wait({doing, typing}, return_when=asyncio.FIRST_COMPLETED)
                    if doing.done():
                        return doing.result()
                finally:
                    doing.cancel()
                    typing.cancel()
                    await asyncio.gather(doing, typing, return_exceptions=True)
            done = capture.since
            if done is not None and done < typed:
                return await capture.begun_call()
        except WindowClosed:
            raise Discarded("the window was closed") from None
        return self._read(self._desk.take())

    def _read(self, line: str | None) -> ToolCall | None:
        """The call that a line stands for."""
        text = ":stop" if line is None else line.strip()
        match text[:1], text[1:].strip():
            case ":", "stop":
                raise Stopped("the person has stopped")
            case ":", "drop":
                raise Discarded("the person has dropped the attempt")
            case ":", "help":
                self._desk.say(HELP)
            case ":", command:
                try:
                    return commanded(command)
                except HarnessError as error:
                    self._desk.say(str(error))
            case ">", thought:
                self._think = thought
            case _:
                return ToolCall(name="done", arguments={"answer": text})
        return None

    async def _said(self, call: ToolCall, capture: Capture, session: BrowserSession) -> Sequence[ToolCall]:
        """The calls by which the harness says a call; none where it cannot."""
        for calls in ([call], None):
            calls = calls or await _with_its_field(call, capture, session)
            try:
                text, said = self._harness.render(self._think, calls, session.elements.at, self._thoughts)
            except HarnessError:
                continue
            heard = self._harness.parse(text).calls
            if [each.name for each in heard] != [each.name for each in calls[:said]]:  # it can say the like alone
                continue
            if (size := len(self._harness.codec.encode(text))) <= self._max_tokens:
                return calls
            self._desk.say(
                f"{brief(calls)} takes {size} tokens with its thought, and rollout.sampling.max_tokens is "
                f"{self._max_tokens}: not done, say it in fewer words"
            )
            return []
        self._desk.say(f"{brief([call])} is nothing that the harness {self._harness.config.name!r} can say: not done")
        return []


async def _starred(calls: Sequence[ToolCall], capture: Capture) -> Sequence[ToolCall]:
    """Calls as they are shown, with stars for what goes into a password field."""
    field = await capture.field() if any(call.name == "write" for call in calls) else None
    if field is None or not field.secret:
        return calls
    hidden = ToolCall(name="write", arguments={"text": "***"})
    return [hidden if call.name == "write" else call for call in calls]


async def _with_its_field(call: ToolCall, capture: Capture, session: BrowserSession) -> list[ToolCall]:
    """A call that types, after a click on its field, for agents that do both at once; any other call as it is."""
    field = await capture.field() if call.name == "write" or call == _ENTER else None
    if field is None or field.middle_px is None:
        return [call]
    x, y = point_1000(*field.middle_px, session.viewport_px)
    click, held = ToolCall(name="click", arguments={"x": x, "y": y}), {"text": field.value}
    return [click, call] if call != _ENTER else [click, ToolCall(name="write", arguments=held), call]


def commanded(command: str) -> ToolCall:
    """The call of a tool that a command names, with its argument: `wait 2`.

    Raises:
        HarnessError: it names none, or gives it something else.
    """
    name, _, value = command.partition(" ")
    if name not in TOOLS or len(TOOLS[name].arguments) > 1:
        raise HarnessError(f":{name} is nothing that can be typed here; :help says what can")
    read: dict[str, Callable[[str], Any]] = {"integer": int, "number": float, "array": str.split, "string": str}
    arguments = {}
    for argument, schema in TOOLS[name].arguments.items():
        try:
            arguments[argument] = read[schema["type"]](value.strip())
        except ValueError:
            arguments[argument] = value
    call = ToolCall(name=name, arguments=arguments)
    if (wrong := check_call(call)) is not None:
        raise HarnessError(f":{command}: {wrong}")
    return call


def person_teacher(harness: Harness, desk: Desk, max_tokens: int) -> Teacher:
    """A person at a desk; a response may have `max_tokens`."""
    return lambda seed: ScriptedActor(harness, lambda task: Person(task, harness, desk, max_tokens))


def verdict(trajectory: Trajectory) -> str:
    """What the person is told of an attempt that was judged."""
    reward = trajectory.reward
    assert reward is not None
    outcome = "success" if reward.success else "no success" if reward.valid else "not counted"
    return f"{outcome}: {reward.reason}" if reward.reason else outcome
