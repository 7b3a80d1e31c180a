"""Training that is started again when it dies: `webdojo train --max-restarts N`.

A small parent, which holds no model, runs the training as its child. Invariants: a child does not outlive its parent;
what asks the parent to stop reaches the child, and nothing is started after it; the exit code is the last child's, as a
shell would give it.
"""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from webdojo.errors import WebdojoError
from webdojo.store.files import write_atomic
from webdojo.store.run import DATABASE, RunStore

BACK_OFF_S = 1.0
"""Before a restart; twice as long for each further one without progress."""
LONGEST_BACK_OFF_S = 60.0
FINAL = (0, WebdojoError.exit_code, 128 + signal.SIGINT)
"""Exit codes that no restart would change: done, an error for the user, interrupted."""

logger = logging.getLogger(__name__)


def command(*arguments: str) -> list[str]:
    """`webdojo ARGUMENTS`, for `supervise`."""
    return [sys.executable, "-m", "webdojo.cli.supervision.supervised", *arguments]


def supervise(first: Sequence[str], again: Sequence[str], run: Path, max_restarts: int) -> int:
    """Train until the run is finished or cannot go on; call it from the main thread.

    `first` is the command that begins the training, `again` the one that resumes it; `max_restarts` counts those in a
    row, without a further valid episode or a further iteration between them. Returns the exit code of the last child;
    128 and the signal's number where a signal ended it.
    """
    child = _Child()
    with ExitStack() as handlers:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` wants it
                previous = signal.signal(number, child.stop)
                handlers.callback(signal.signal, number, previous)
        restarts, reached = 0, _progress(run)
        now = first
        while True:
            code = child.run(now)
            before, reached = reached, _progress(run)
            # An error before there is a run is the user's, whatever it is.
            if child.asked or code in FINAL or (reached is None and code < 128):
                return code
            why = f"was killed by {signal.Signals(code - 128).name}" if code > 128 else f"ended with exit code {code}"
            if reached != before:
                restarts = 0
            if restarts == max_restarts:
                logger.error("the training %s; no progress since %d restarts before: giving up", why, restarts)
                return code
            wait_s = min(LONGEST_BACK_OFF_S, BACK_OFF_S * 2**restarts)
            restarts += 1
            logger.warning("the training %s; restart %d of %d in %g s", why, restarts, max_restarts, wait_s)
            if reached is not None:
                now = again
                _note(run, why)
            if child.stopping.wait(wait_s):
                return 128 + child.asked


class _Child:
    """The training as a process, one after the other."""

    def __init__(self) -> None:
        self.asked = 0
        """The last signal that asked to stop; 0 before any has."""
        self.stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, words: Sequence[str]) -> int:
        """Run a command to its end, in a session of its own, so that Ctrl-C comes to it from here alone, and once."""
        with subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) as self._process:
            if self.asked:  # before there was a process to hand it on to
                self._process.terminate()
            code = self._process.wait()
        return code if code >= 0 else 128 - code

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: hand it on, and let nothing be started after it."""
        self.asked = number
        self.stopping.set()
        if self._process is not None:
            self._process.send_signal(number)


def _progress(run: Path) -> tuple[int, int] | None:
    """Valid episodes and the last finished iteration, none of which ever becomes less; None before there is a run."""
    if not (run / DATABASE).is_file():
        return None
    with RunStore.open(run, readonly=True) as store:
        valid = sum(row.valid is True for row in store.rows())
        # The warm start's has no iteration, and counts before the first one.
        finished = max((found.meta.get("iteration", 0) for found in store.checkpoints.all()), default=-1)
    return valid, finished


def _note(run: Path, why: str) -> None:
    with RunStore.open(run, readonly=True) as store:
        info = store.info
    restart = {"created": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "because": f"the training {why}"}
    info["restarted"] = [*info.get("restarted", []), restart]
    write_atomic(run / "info.json", json.dumps(info, indent=2).encode())
