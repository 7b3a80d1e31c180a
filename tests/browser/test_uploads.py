"""Files that agents give to pages, on real Chromium: what the page has got, and what the agent is told."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.conftest import Handler, rows, served
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.errors import ConfigError
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

HAVE = "prices.csv, note.txt"
READ = "Promise.all([...{}.files].map(async f => `${{f.name}} ${{f.type}} ${{await f.text()}}`))"
"""What a script of the page reads of the files that it was given."""
FIELDS = rows(
    "<input type=file aria-label=Photo style='display:block;width:400px'>",
    "<input type=file multiple aria-label=Photos style='display:block;width:400px'>",
    '<button onclick=\'const i = document.createElement("input"); i.type = "file"; '
    f"i.onchange = async () => {{ out.textContent = await {READ.format('i')} }}; i.click()'>Import</button><p id=out>",
    "<input aria-label=Title>",
    "<a href=/fields>Again</a>",
)
FRAME = "<!doctype html><style>body{{margin:0}}iframe{{display:block;border:0;width:500px;height:500px}}</style>"


class UploadHandler(Handler):
    other = ""

    def do_GET(self) -> None:
        self.answer(200, FIELDS if self.path == "/fields" else f"{FRAME}<iframe src={self.other}/fields></iframe>")


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with served(UploadHandler) as found:
        UploadHandler.other = found.replace("127.0.0.1", "localhost")  # another site, so a process of its own
        yield found


@pytest.fixture(scope="module")
def files() -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in HAVE.split(", ")]
        for path, text in zip(paths, ("a,1", "Hello, Å"), strict=True):
            path.write_text(text, "utf-8")
        yield [str(path) for path in paths]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["screenshot", "begin_frame"])
async def pool(config: BrowserConfig, files: list[str], request: pytest.FixtureRequest) -> AsyncIterator[BrowserPool]:
    if request.param == "begin_frame" and "headless" not in find_chromium(BrowserConfig()):
        pytest.skip("only the headless shell draws on demand")
    guard = config.guard.model_copy(update={"private_hosts": ["127.0.0.1", "localhost"]})
    changed = {"capture": request.param, "browsers": 1, "uploads": files, "guard": guard}
    async with BrowserPool(config.model_copy(update=changed), MemoryImages()) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="module")
async def session(pool: BrowserPool, origin: str) -> AsyncIterator[BrowserSession]:
    session = await pool.open(f"{origin}/fields")
    yield session
    await session.close()


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def row(number: int) -> ToolCall:
    return call("click", x=30, y=100 * number + 30)


async def say(session: BrowserSession, *calls: ToolCall) -> str:
    """Feedback of the last call; the page is seen after each."""
    for each in calls:
        said = (await session.act([each])).feedback[-1].text
        await session.observe()
    return said


async def given(session: BrowserSession, label: str) -> object:
    """What the field with a label holds, as a script of the page reads it."""
    return await session.page.evaluate(READ.format(f"document.querySelector('[aria-label={label}]')"))


async def test_a_file_goes_into_the_field_that_asked_for_it(session: BrowserSession) -> None:
    assert (await say(session, row(0))).endswith(f"the page asks for a file: write the name of one: {HAVE}")
    said = await say(session, call("write", text="photo.png"))
    assert said == f'write failed: there is no file "photo.png" for the page; files: {HAVE}'
    said = await say(session, call("write", text=" note.txt "))
    assert said.startswith('write "note.txt" as the file that the page asked for'), said
    assert await given(session, "Photo") == ["note.txt text/plain Hello, Å"]
    # It has got what it asked for: the next text is for a field again.
    assert await say(session, row(3), call("write", text="prices.csv")) == 'write "prices.csv" into <input> "Title"'
    assert await given(session, "Photo") == ["note.txt text/plain Hello, Å"]


async def test_several_files_go_into_a_field_for_several_only(session: BrowserSession) -> None:
    assert "write the name of one, or several, a line each: " in await say(session, row(1))
    await say(session, call("write", text="prices.csv\nnote.txt"))
    assert await given(session, "Photos") == ["prices.csv text/csv a,1", "note.txt text/plain Hello, Å"]
    said = await say(session, row(0), call("write", text="prices.csv\nnote.txt"))
    assert said == "write failed: the page takes one file"
    assert await given(session, "Photo") == []


async def test_a_script_that_asks_by_a_field_that_nobody_sees_gets_its_file(session: BrowserSession) -> None:
    assert "the page asks for a file" in await say(session, row(2))
    assert (await say(session, call("write", text="prices.csv"))).endswith("asked for: page changed")
    assert await session.page.inner_text("#out") == "prices.csv text/csv a,1"


async def test_a_frame_of_another_site_gets_its_file(session: BrowserSession, origin: str) -> None:
    await session.act([call("goto_url", url=f"{origin}/frame")])
    # Frames of other processes are heard of late; what asks is told as long as it asks.
    assert "the page asks for a file" in await say(session, row(2), call("wait", seconds=0.3))
    await say(session, call("write", text="note.txt"))
    assert await session.page.frames[1].inner_text("#out") == "note.txt text/plain Hello, Å"


@pytest.mark.parametrize("otherwise", [row(4), row(3), call("press_keys", keys=["Escape"]), call("new_tab")])
async def test_what_else_is_done_leaves_the_page_without_a_file(session: BrowserSession, otherwise: ToolCall) -> None:
    await say(session, row(0), call("wait", seconds=0), otherwise)
    said = await say(session, call("write", text="note.txt"))
    assert "asked for" not in said
    assert await session.tabs[0].page.evaluate("document.querySelector('input').files.length") == 0


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["/no/such.csv"], "browser.uploads has '/no/such.csv', which is no file on this machine"),
        (["one/a.csv", "two/a.csv"], "browser.uploads has two files named 'a.csv'"),
        (["large.bin"], "large.bin', which is larger than 50 MB"),
    ],
)
async def test_files_that_cannot_be_offered_are_named(tmp_path: Path, paths: list[str], said: str) -> None:
    for path in paths:
        if not path.startswith("/"):
            (tmp_path / path).parent.mkdir(exist_ok=True)
            with (tmp_path / path).open("wb") as file:
                file.truncate(51_000_000 if path.endswith(".bin") else 1)
    with pytest.raises(ConfigError, match=said):
        BrowserPool(BrowserConfig(uploads=[str(tmp_path / path) for path in paths]), MemoryImages())
