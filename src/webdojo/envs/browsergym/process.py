"""Workers: processes of the Python that has BrowserGym, each of which holds one task at a time (`worker.py`).

A worker that ends, or does not answer in time, is killed with all its processes, and the next episode starts another.
One that was asked and not heard, because its episode was cancelled, is killed too: no answer reaches a later question.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).with_name("worker.py")
_LINE_BYTES = 1 << 26
"""Longest answer."""
_TOLD_BYTES = 4000
"""What is kept of what a worker has printed last."""
_READY_S = 120.0
"""How long a worker may take to import BrowserGym and the modules with its tasks."""


class WorkerLost(Exception):
    """A worker has ended, or did not answer in time."""


class TaskFailed(Exception):
    """The task's own code has raised an error; the message is that error."""


class Worker:
    """One process; `start` makes one. It is asked one thing at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._printed = b""
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, python: str, modules: Sequence[str]) -> Worker:
        """Start a worker, which imports the modules.

        Raises:
            TaskFailed: one of them cannot be imported.
            WorkerLost: it has ended, or imports for minutes.
        """
        self = cls(
            await asyncio.create_subprocess_exec(
                *(python, str(_SCRIPT), *modules),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LINE_BYTES,
                start_new_session=True,  # Ctrl+C ends it in order, with us
            )
        )
        try:
            await self._answer("start", _READY_S)
        except BaseException:
            await self.kill()
            raise
        return self

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(self, do: str, timeout_s: float, **given: Any) -> dict[str, Any]:
        """Give a command of `worker.py`, and wait for its answer.

        Raises:
            TaskFailed: the command has failed; the worker goes on.
            WorkerLost: the worker has ended, or was killed because it did not answer within `timeout_s`.
        """
        assert self._process.stdin is not None
        try:
            with suppress(ConnectionError):  # it has ended, which its answer tells
                self._process.stdin.write(json.dumps({"do": do, **given}).encode() + b"\n")
                await self._process.stdin.drain()
            return await self._answer(do, timeout_s)
        except TaskFailed:
            raise
        except BaseException:
            await self.kill()
            raise

    async def _answer(self, do: str, timeout_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(timeout_s):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise WorkerLost(f"the worker did not answer {do!r} within {timeout_s:g} s{self._words()}") from None
        if not line:
            await self.kill()
            raise WorkerLost(f"the worker ended at {do!r} with exit code {self._process.returncode}{self._words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise TaskFailed(answer["error"])
        return answer

    def _words(self) -> str:
        """The last lines that it has printed, for an error."""
        lines = self._printed.decode(errors="replace").strip().splitlines()[-3:]
        return f": {' / '.join(lines)}" if lines else ""

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        while some := await self._process.stderr.read(_TOLD_BYTES):
            self._printed = (self._printed + some)[-_TOLD_BYTES:]

    async def kill(self) -> None:
        """End it with all its processes, and wait until it is gone."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.shield(self._process.wait())
        await asyncio.shield(self._listening)


class Workers:
    """The workers of an environment: as many as episodes run at once, each of which has one to itself."""

    def __init__(self, python: str, modules: Sequence[str]) -> None:
        self._python, self._modules = python, modules
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()

    async def take(self) -> Worker:
        """One that nobody has; raises as `Worker.start`."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            await self.drop(worker)
        worker = await Worker.start(self._python, self._modules)
        self._all.add(worker)
        return worker

    def give(self, worker: Worker) -> None:
        """Give one back that is ready for another episode."""
        self._idle.append(worker)

    async def drop(self, worker: Worker) -> None:
        """Give one back that is not."""
        self._all.discard(worker)
        await worker.kill()

    async def close(self) -> None:
        """End all."""
        self._idle.clear()
        await asyncio.gather(*map(self.drop, list(self._all)))
