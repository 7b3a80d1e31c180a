"""Pages of `docs` that tell how something is done, executed: those of one list of `PAGES` in one shell.

What a page shows must be printed, or stand in the film that is written; `…` in it stands for any text. Ids of episodes
are random, so an id on a page stands for that of the episode of the same task.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [
    ["evaluate-an-endpoint.md", "why-did-it-fail.md"],
    ["data.md", "data-exchange.md"],
    ["trackers.md"],
    ["your-own-algorithm.md"],
]
"""Those of one list are executed in one shell."""
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
ID = re.compile(r"\b[0-9a-f]{12}-0\b")
ROW = re.compile(rf"^ ({ID.pattern})  (.*?)  ", re.MULTILINE)
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "OMP_NUM_THREADS": "1",
    "NO_COLOR": "1",
    "COLUMNS": "120",
}
TIMEOUT_S = 900


class Shell:
    """A bash that keeps what its lines export and start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bash = subprocess.Popen(
            ["bash"], cwd=folder, env=ENVIRONMENT, text=True, stdin=-1, stdout=-1, stderr=-2, start_new_session=True
        )

    def run(self, line: str) -> tuple[int, str]:
        """The exit code of a line, and what it prints."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.write(f"{{\n{line}\n}} < /dev/null; echo @ended $?\n")
        self._bash.stdin.flush()
        printed = ""
        for said in self._bash.stdout:
            if ended := re.fullmatch(r"@ended (\d+)\n", said):
                return int(ended[1]), printed
            printed += said
        raise AssertionError(f"the shell ended in {line!r}:\n{printed}")

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.communicate()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    watchdog = threading.Timer(TIMEOUT_S, shell.kill)
    watchdog.start()
    yield shell
    watchdog.cancel()
    shell.kill()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def with_ids_of(run: Path, page: str, shell: Shell) -> str:
    """The page with the ids that episodes have in this run."""
    _, listed = shell.run(f"webdojo runs episodes {run} --json")
    names = {episode["task"]: episode["name"] for episode in json.loads(listed)["episodes"]}
    for id, task in ROW.findall(page):
        page = page.replace(id, names[task])
    return page


def film_text(printed: str, folder: Path) -> str:
    """The words of the films that a command wrote."""
    films = re.findall(r"^film: (\S+)$", printed, re.MULTILINE)
    return "".join(html.unescape(re.sub(r"<[^>]*>", "\n", (folder / film).read_text())) for film in films)


def is_in(shown: str, text: str) -> bool:
    """Whether a line that a page shows is in a text, whichever episode is an example."""
    pattern = ".*".join(map(re.escape, ID.sub("ID", shown.strip()).split("…")))
    return re.search(pattern, ID.sub("ID", text)) is not None


@pytest.mark.parametrize("pages", PAGES, ids=" ".join)
def test_the_pages_do_what_they_show(shell: Shell, pages: list[str]) -> None:
    port = free_port()
    for name in pages:
        page = (DOCS / name).read_text().replace("8500", str(port))
        if ROW.search(page):
            page = with_ids_of(Path("runs/toy"), page, shell)
        blocks = BLOCK.findall(page)
        for (language, title, text), (_, _, then) in zip(blocks, [*blocks[1:], ("", "", "")], strict=True):
            if title:
                (shell.folder / title).write_text(text)
            elif language == "bash":
                printed = ""
                for line in text.replace("\\\n", "").splitlines():
                    code, said = shell.run(line)
                    fails = then.startswith("error: ") or line.startswith("webdojo act")
                    assert (code != 0) == fails, f"{line}\nexit code {code}\n{said}"
                    printed += said
            else:
                printed += film_text(printed, shell.folder)
                for line in text.splitlines():
                    assert is_in(line, printed), f"{name} shows\n{line}\nand this was printed:\n{printed}"
