"""JupyterLab, walked through: CodeMirror 6, kernel, terminal, menus, dialogs, drags, download and upload."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import venv
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.apps.conftest import PRICES, Walk, free_port, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

VERSION = "4.6.6"
CODE = "total = 0\nfor n in range(60):\n    total += n\n    print('line', n)"
CELLS = "[...document.querySelectorAll('.jp-Notebook .jp-Cell .cm-content')].map(cell => cell.innerText)"
DIALOG = "document.querySelector('.jp-Dialog')"
FILES = "[...document.querySelectorAll('.jp-DirListing-itemText')].map(item => item.innerText)"
PROMPT = ".jp-Notebook .jp-Cell:nth-child({}) .jp-InputPrompt"


def listed(name: str) -> str:
    """The selector of a file in the list."""
    return f".jp-DirListing-item:has-text('{name}') .jp-DirListing-itemText"


def item(name: str) -> str:
    """The selector of an item of the open menu."""
    return f".lm-Menu-item:has-text('{name}')"


@pytest.fixture(scope="module")
def python() -> Path:
    """The Python of an environment with JupyterLab (240 MB), which is made once, in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "webdojo"
    folder = cache / f"jupyterlab-{VERSION}-python{sys.version_info.major}.{sys.version_info.minor}"
    program, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([program, "-m", "pip", "install", "-q", f"jupyterlab=={VERSION}"], check=True)
        complete.touch()
    return program


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that JupyterLab shows."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def origin(python: Path, work: Path, tmp_path: Path) -> Iterator[str]:
    port = free_port()
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": work,
        "ServerApp.allow_root": True,
        "IdentityProvider.token": "",
        "FileContentsManager.delete_to_trash": False,
    }
    command: list[str | Path] = [python, "-m", "jupyterlab", "--no-browser"]
    command += [f"--{name}={value}" for name, value in options.items()]
    homes = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {name: str(tmp_path / name.lower()) for name in homes}
    with served(command, f"http://127.0.0.1:{port}/lab", work, environment):
        yield f"http://127.0.0.1:{port}"


async def held(file: Path, text: str) -> None:
    """Wait until the server has written a text to a file."""
    for _ in range(150):
        if file.exists() and text in file.read_text():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{file.name} does not hold {text!r}")


async def test_jupyterlab(walk: Callable[[str], Awaitable[Walk]], origin: str, work: Path) -> None:
    here = await walk(f"{origin}/lab")
    assert "Kernel" in await here.session.page.inner_text("body"), "the first picture shows the application"
    await compute(here)
    await name_and_save(here, origin, work)
    await move_files(here, origin, work)
    await move_cells(here)
    await use_a_terminal(here, work)
    await use_tabs(here, origin)
    await here.end()


async def compute(here: Walk) -> None:
    await here.do("wait", seconds=1, says="waited 1 s.*", soon="document.querySelector('.Toastify__toast')")
    await here.click(
        "button:text-is('No')", 'on <button> "No": page changed', soon="!document.querySelector('.Toastify__toast')"
    )
    says = r'on <div role=button> "Python 3 \(ipykernel\)": page (is now .*/lab/tree/Untitled.ipynb|changed)'
    await here.click(".jp-LauncherCard[title*='Python 3']", says, soon=f"{CELLS}.length == 1")
    await here.click(".jp-Notebook .cm-content", "on <div role=textbox>: (page changed|field is focused)")
    await here.write(CODE, "into <div role=textbox>", f"{CELLS}[0] == {CODE!r}")
    output = "document.querySelector('.jp-OutputArea-output')?.innerText.includes('line 59')"
    await here.press("shift+Enter", says="(<div role=textbox> is focused|page changed)", soon=output)
    x, y = await here.at(".jp-OutputArea-output", down=0.2)
    top = "document.querySelector('.jp-WindowedPanel-outer').scrollTop"
    says = r"scroll down 0.3: this part of the page is now at \d+%"
    await here.do("scroll", direction="down", amount=0.3, x=x, y=y, says=says, then=f"{top} > 0")
    says = "scroll up 5: this part of the page is now at its start"
    await here.do("scroll", direction="up", amount=5, x=x, y=y, says=says, then=f"{top} == 0")


async def name_and_save(here: Walk, origin: str, work: Path) -> None:
    file = 'on <li role=menuitem> "File": page changed'
    opened = "document.querySelector('.lm-Menu').innerText.includes('Download')"
    await here.click(".lm-MenuBar-item:has-text('File')", file, opened)
    await here.click(item("Rename Notebook"), "on <.*: <input> is focused", f"{DIALOG}.innerText.includes('New Name')")
    await here.write("totals.ipynb", "into <input>", "document.activeElement.value == 'totals.ipynb'")
    says = f'on <button> "Rename": page is now {origin}/lab/tree/totals.ipynb'
    await here.click(".jp-Dialog .jp-mod-accept", says, f"!{DIALOG}")
    await here.press("ctrl+s", says="page changed")
    await held(work / "totals.ipynb", "line 59")
    await here.click(".lm-MenuBar-item:has-text('File')", file, opened)
    says = 'on <li role=menuitem> "Download": .*; download of "totals.ipynb" refused'
    await here.click(item("Download"), says, "location.pathname == '/lab/tree/totals.ipynb'")


async def move_files(here: Walk, origin: str, work: Path) -> None:
    asks = "the page asks for a file: write the name of one, or several, a line each: prices.csv"
    await here.click("jp-button[title='Upload Files']", f'on <button> "Upload Files": .*; {asks}')
    no = 'write failed: there is no file "costs.csv" for the page; files: prices.csv'
    await here.do("write", text="costs.csv", says=no)
    says = "as the file that the page asked for: page (is now .*/prices.csv|changed)"
    await here.write("prices.csv", says, soon=f"{FILES}.includes('prices.csv')")
    await held(work / "prices.csv", PRICES)
    await here.click("jp-button[title='New Folder']", 'on <button> "New Folder": <input> is focused')
    await here.write("archive", "into <input>", "document.activeElement.value == 'archive'")
    await here.press("Enter", says="page changed", soon=f"{FILES}.includes('archive')")
    assert (work / "archive").is_dir()
    says = "page (is now .*/archive/prices.csv|changed)"
    await here.drag(
        await here.at(listed("prices.csv")),
        await here.at(listed("archive")),
        says,
        soon=f"!{FILES}.includes('prices.csv')",
    )
    assert (work / "archive" / "prices.csv").read_text() == PRICES
    says = f'on <span.*> "totals.ipynb": page is now {origin}/lab/tree/totals.ipynb'
    await here.click(listed("totals.ipynb"), says, how="double")
    await here.click(
        listed("archive"), 'on <span.*> "archive": page changed', "document.querySelector('.lm-Menu')", how="right"
    )
    says = 'on <li role=menuitem> "Delete.*": page changed'
    await here.click(item("Delete"), says, soon=f"{DIALOG}?.innerText.includes('archive')")
    await here.click(".jp-Dialog .jp-mod-reject", 'on <button> "Cancel": page changed', f"!{DIALOG}")
    assert (work / "archive" / "prices.csv").exists()


async def move_cells(here: Walk) -> None:
    await here.click(PROMPT.format(1), "on <div> .*: page changed")
    await here.click(".lm-MenuBar-item:has-text('Edit')", 'on <li role=menuitem> "Edit": page changed')
    says = 'on <li role=menuitem> "Clear Cell Output": page changed'
    await here.click(item("Clear Cell Output"), says, soon="!document.querySelector('.jp-OutputArea-output')")
    await here.click(".jp-Notebook .jp-Cell:nth-child(2) .cm-content", "on <div role=textbox>: .*")
    await here.write("# Totals", "into <div role=textbox>", f"{CELLS}[1] == '# Totals'")
    listing = "document.querySelector('.jp-Notebook-toolbarCellTypeDropdown select')"
    opened = 'on <select> "Cell type": now open'
    await here.click(".jp-Notebook-toolbarCellTypeDropdown select", opened, f"{listing}.matches(':open')")
    await here.write("Markdown", 'into <select> "Cell type"', soon="document.querySelector('.jp-MarkdownCell')")
    there = await here.at(".jp-Notebook .jp-Cell:nth-child(1)", down=0.02)
    moved = f"{CELLS}.join() == {'# Totals,' + CODE!r}"
    await here.drag(await here.at(PROMPT.format(2)), there, "page changed", soon=moved)
    await here.click(".lm-MenuBar-item:has-text('Kernel')", 'on <li role=menuitem> "Kernel": page changed')
    says = 'on <li role=menuitem> "Restart Kernel….*": page changed'
    await here.click(item("Restart Kernel…"), says, soon=f"{DIALOG}?.innerText.includes('variables will be lost')")
    await here.press("Escape", says="page changed", then=f"!{DIALOG}")


async def use_a_terminal(here: Walk, work: Path) -> None:
    await here.click(".lm-MenuBar-item:has-text('File')", 'on <li role=menuitem> "File": page changed')
    await here.hover(item("New"), 'on <.*> "New": page changed')
    await here.do("wait", seconds=0.5, says="waited 0.5 s.*", then="document.querySelectorAll('.lm-Menu').length == 2")
    typed = "document.activeElement.className == 'xterm-helper-textarea'"
    await here.click(item("Terminal"), 'on <.*> "Terminal": page (is now .*|changed)', soon=typed)
    await here.write("echo $((6*7)) > answer.txt", 'into <textarea> "Terminal input", which does not tell what it took')
    await here.press("Enter", says="(page changed|sent to <textarea> .*, which does not tell what changed)")
    await held(work / "answer.txt", "42")


async def use_tabs(here: Walk, origin: str) -> None:
    await here.do("new_tab", says="new_tab: tab 1 is open", then="location.href == 'about:blank'")
    for name, text in (("api/contents/archive", "prices.csv"), ("api/terminals", "last_activity")):
        url = f"{origin}/{name}"
        then = f"document.body.innerText.includes('{text}')"
        await here.do("goto_url", url=url, says=f"goto_url: page is now {url}", then=then)
    says = f"go_back: page is now {origin}/api/contents/archive"
    await here.do("go_back", says=says, then="document.body.innerText.includes('prices.csv')")
    await here.do(
        "switch_tab", index=0, says="switch_tab: now on tab 0, .*/lab.*", then="document.querySelector('.xterm')"
    )
    await here.do("switch_tab", index=1, says="switch_tab: now on tab 1, .*/archive")
    await here.do(
        "close_tab", says="close_tab: closed; now on tab 0, .*/lab.*", then="document.querySelector('.xterm')"
    )
