"""BrowserGym beside us: a virtual environment of its own, and a process an environment, as its users run it.

The processes wait for actions on stdin, so one event loop here starts them all at once and times them like every
other way. A message is one line of JSON; its cost is far below a thousandth of such a step.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from browser_pages import VIEWPORT_PX, Action

VENV = Path("~/.cache/webdojo/bench-browsergym")
REQUIREMENT = "browsergym-core>=0.14,<0.15"
MEMORY_GB = 0.5
"""Of one environment with its two Chromiums: 0.36 to 0.6 were measured."""
_WORKER = Path(__file__).parent / "browsergym_worker.py"
_CLOSE_TIMEOUT_S = 20.0


def prepare(venv: Path) -> str:
    """Return the Python of a virtual environment with BrowserGym, which is made where it is missing.

    Raises:
        subprocess.CalledProcessError: pip cannot install it; its own messages are on stderr.
    """
    venv = venv.expanduser()
    python = venv / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import browsergym.core"], capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", REQUIREMENT], check=True, stdout=sys.stderr)
    return str(python)


def versions(python: str) -> dict[str, str]:
    """What runs there, by package."""
    code = (
        "import json, importlib.metadata as m;"
        "print(json.dumps({p: m.version(p) for p in ('browsergym-core', 'playwright', 'gymnasium')}))"
    )
    found: dict[str, str] = json.loads(subprocess.check_output([python, "-c", code]))
    return found


class BrowserGymHand:
    """One environment in its process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the answer.

        Raises:
            RuntimeError: the environment reports an error, or ended.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps(message).encode() + b"\n")
        await stdin.drain()
        line = await stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            raise RuntimeError(f"BrowserGym: {answer['error']}")
        return answer

    async def step(self, action: Action) -> int:
        point = {"x": action.x_px, "y": action.y_px, "wheel": action.wheel_px}
        return int((await self.ask({"do": "step", **asdict(action), **point}))["shown"])

    async def count(self) -> int:
        return int((await self.ask({"do": "count"}))["count"])

    async def close(self) -> None:
        if self._process.returncode is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


async def open_worker(python: str, options: dict[str, Any], url: str) -> BrowserGymHand:
    """Start a process with an environment at a URL.

    Raises:
        RuntimeError: the environment did not open; its process has ended.
    """
    process = await asyncio.create_subprocess_exec(python, _WORKER, stdin=PIPE, stdout=PIPE, limit=1 << 26)
    hand = BrowserGymHand(process)
    try:
        await hand.ask({"do": "open", "url": url, **options})
    except BaseException:
        await hand.close()
        raise
    return hand


class BrowserGym:
    """`browsergym/openended` with coordinate actions.

    Args:
        python: of the virtual environment that `prepare` made.
        executable: Chromium, for the page and for the chat window that each environment opens beside it.
        delays: keep its defaults (`slow_mo` of the task, `pre_observation_delay`), or set both to 0.
    """

    def __init__(self, python: str, executable: str, delays: bool) -> None:
        self._python = python
        self._options = {"executable": executable, "delays": delays, "viewport": VIEWPORT_PX}
        self._hands: list[BrowserGymHand] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.gather(*(hand.close() for hand in self._hands))

    async def open(self, url: str) -> BrowserGymHand:
        hand = await open_worker(self._python, self._options, url)
        self._hands.append(hand)
        return hand
