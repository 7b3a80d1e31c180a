"""A vLLM server: a process that we start, or an address where somebody else runs one.

Invariant: a server that we started is gone, with all its processes, when `stop` returns, when it is
started again, and when this process ends in whatever way (`launch`).
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from webdojo.errors import EngineError, EngineLost

_POLL_S = 0.2
_TERM_S = 10.0
_ERROR_LINE = re.compile(r"\b\w*(?:Error|Exception): .+")


@dataclass(frozen=True)
class Launch:
    """How a server is started."""

    command: Sequence[str]
    env: Mapping[str, str]
    """On top of this process's own environment."""
    log: Path
    """Gets what the server prints."""


class Server:
    """One server.

    Args:
        url: where it answers, such as `http://127.0.0.1:8000`.
        launch: how to start it; None for one that somebody else runs.
        start_timeout_s: how long it may take until it answers.
    """

    def __init__(self, url: str, launch: Launch | None, start_timeout_s: float) -> None:
        self.url = url.rstrip("/")
        self._launch = launch
        self._start_timeout_s = start_timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._changing = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The pid of the server's process, if this process started it."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, after the end of the one before; `wait` waits until it answers."""
        if self._launch is None:
            return
        with self._changing, self._launch.log.open("ab") as log:
            self._kill()
            if self._closed:
                return
            self._process = subprocess.Popen(
                self._launch.command,
                env={**os.environ, **self._launch.env},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Block until the server answers.

        Raises:
            EngineError: it ended, or does not answer in time, or was stopped meanwhile; EngineLost: it was killed.
        """
        deadline = time.monotonic() + self._start_timeout_s
        while not self._answers():
            if self._closed:
                raise EngineError("the engine was closed while its vLLM server started")
            if self._process is not None and (status := self._process.poll()) is not None:
                kind = EngineLost if status < 0 else EngineError  # somebody killed it, or it fails by itself
                raise kind(f"the vLLM server ended with status {status} while it started: {self._reason()}")
            if time.monotonic() > deadline:
                raise EngineError(
                    f"no vLLM server answers at {self.url} after {self._start_timeout_s:g} s"
                    f"{'' if self._launch is None else f' (its log: {self._launch.log})'}; "
                    "raise engine.start_timeout_s if it only needs more time"
                )
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """End the process for good."""
        self._closed = True
        with self._changing:
            self._kill()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=5, trust_env=False).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _kill(self) -> None:
        """End the whole process group: kindly, so that it cleans up, then by force."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        for number, patience_s in ((signal.SIGTERM, _TERM_S), (signal.SIGKILL, _TERM_S)):
            if not _signal_group(process.pid, number):
                break
            deadline = time.monotonic() + patience_s
            while time.monotonic() < deadline:
                process.poll()  # a child that nobody waits for stays in its group
                if not _signal_group(process.pid, 0):
                    break
                time.sleep(_POLL_S / 4)
        process.wait()
        process.stdin.close()

    def _reason(self) -> str:
        """The first line of the log that names an error: those after it follow from it."""
        assert self._launch is not None
        text = self._launch.log.read_text(errors="replace")
        found = _ERROR_LINE.search(text)
        return f"{found[0] if found else 'no reason given'} (its log: {self._launch.log})"


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _signal_group(group: int, number: int) -> bool:
    """False where the group has no process any more."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True
