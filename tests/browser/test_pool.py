"""One browser, many sessions: isolation, start errors, death and recovery."""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from playwright.async_api import Error as PlaywrightError

from tests.browser.conftest import LOCAL
from webdojo.browser import chromium
from webdojo.browser import session as browser_session
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.browser.tab import Tab
from webdojo.errors import BrowserError, Failure, StartError
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")


def chromiums() -> list[psutil.Process]:
    """Live Chromium processes below this one."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "chrom" in process.name().lower() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(holds: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.02)


async def body(session: BrowserSession) -> str:
    return await session.page.inner_text("body")


async def test_sessions_share_no_cookies(pool: BrowserPool, site: str) -> None:
    first, second = await asyncio.gather(pool.open(f"{site}/cookie"), pool.open(f"{site}/"))
    again = ToolCall(name="goto_url", arguments={"url": f"{site}/cookie"})
    await first.act([again])
    await second.act([again])
    assert await body(first) == "who=me"
    assert await body(second) == "none"
    await asyncio.gather(first.close(), second.close())


async def test_headers_go_with_every_request_of_their_session_only(pool: BrowserPool, site: str) -> None:
    first, second = await asyncio.gather(
        pool.open(f"{site}/headers", {"X-Test": "seven"}), pool.open(f"{site}/headers")
    )
    assert (await body(first), await body(second)) == ("seven", "none")
    await asyncio.gather(first.close(), second.close())


async def test_a_site_that_recovers_is_reached_by_retries(pool: BrowserPool, site: str) -> None:
    session = await pool.open(f"{site}/flaky")
    assert await body(session) == "try 3"
    await session.close()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("{site}/broken", "HTTP 503"),
        ("{site}/dead", "ERR_EMPTY_RESPONSE"),
        ("http://127.0.0.1:4/", "the host does not answer"),
        ("http://no-such-host.invalid/", "the host has no address"),
    ],
)
async def test_a_start_url_that_does_not_answer(pool: BrowserPool, site: str, url: str, reason: str) -> None:
    url = url.format(site=site)
    with pytest.raises(StartError, match=f"cannot open {url}: .*{reason}.* \\(3 tries\\)") as caught:
        await pool.open(url)
    assert "\n" not in str(caught.value)
    assert caught.value.failure is Failure.START_FAILED


async def test_a_start_url_that_another_try_does_not_mend(pool: BrowserPool) -> None:
    with pytest.raises(StartError, match=r"cannot open http://127\.0\.0\.1:9/: .*ERR_UNSAFE_PORT[^(]*$"):
        await pool.open("http://127.0.0.1:9/")


@pytest.mark.parametrize(
    ("url", "reason", "failure"),
    [
        ("http://[", "is no address", Failure.START_FAILED),
        ("http://", "names no host", Failure.START_FAILED),
        ("http://site:port/", "is no address", Failure.START_FAILED),
        ("file:///etc/passwd", "only http and https", Failure.START_REFUSED),
        ("chrome://settings", "only http and https", Failure.START_REFUSED),
    ],
)
async def test_a_start_url_that_is_none(pool: BrowserPool, url: str, reason: str, failure: Failure) -> None:
    with pytest.raises(StartError, match=reason) as caught:
        await pool.open(url)
    assert caught.value.failure is failure


async def test_half_a_character_on_a_page_can_be_stored(pool: BrowserPool, site: str) -> None:
    session = await pool.open(f"{site}/")
    await session.page.evaluate(
        """() => { document.title = 'A\\ud800B'; document.querySelector('a').textContent = '\\udc00' }"""
    )
    seen = await session.observe()
    said = (await session.act([ToolCall(name="click", arguments={"x": 5, "y": 20})])).feedback[0]
    assert seen.title == "A?B" and seen.tabs[0].title == "A?B"
    assert seen.model_dump_json() and said.model_dump_json()
    await session.close()


async def test_a_try_that_takes_too_long_is_given_up(site: str) -> None:
    config = BrowserConfig(viewport_px=(300, 300), navigation_timeout_s=0.2, navigation_retries=1, guard=LOCAL)
    async with BrowserPool(config, MemoryImages()) as pool:
        with pytest.raises(StartError, match=r"no answer within 0\.2 s \(browser.navigation_timeout_s\) \(2 tries\)"):
            await pool.open(f"{site}/slow")


async def test_a_start_url_that_is_too_slow() -> None:
    config = BrowserConfig(viewport_px=(300, 300), guard=LOCAL)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with BrowserPool(config, MemoryImages()) as pool:
            pool._config.start_timeout_s = 5  # enough to open a session on a busy machine
            with pytest.raises(StartError, match=r"did not answer within 5 s") as caught:
                await pool.open(f"http://127.0.0.1:{silent.getsockname()[1]}/")
            assert caught.value.failure is Failure.START_TIMEOUT
            assert caught.value.diagnostics["operations"]["start"]["count"] == 1


async def test_a_killed_browser_is_an_error_for_its_sessions_and_the_next_open_starts_another(
    config: BrowserConfig, site: str
) -> None:
    others = {process.pid for process in chromiums()}
    async with BrowserPool(config, MemoryImages()) as pool:
        acting, seeing = await pool.open(f"{site}/"), await pool.open(f"{site}/")
        for process in chromiums():
            if process.pid not in others:
                process.kill()
        with pytest.raises(BrowserError, match="browser died"):
            await acting.act([ToolCall(name="click", arguments={"x": 30, "y": 20})])
        with pytest.raises(BrowserError):
            await seeing.observe()
        await acting.close()
        await seeing.close()
        session = await pool.open(f"{site}/two")
        assert (await session.observe()).url == f"{site}/two"
        await session.close()


async def test_a_session_that_cannot_be_opened_costs_the_others_nothing(pool: BrowserPool, site: str) -> None:
    other = await pool.open(f"{site}/")
    with pytest.raises(BrowserError, match=f"Chromium opened no session for {site}/two: Expected value of header"):
        await pool.open(f"{site}/two", {"X-Test": 7})  # type: ignore[dict-item]
    assert (await other.observe()).url == f"{site}/"
    await other.close()


async def test_a_first_tab_that_closes_at_once_is_an_error(
    pool: BrowserPool, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(tab: Tab) -> None:
        await tab.page.close()
        raise PlaywrightError("Target page, context or browser has been closed")

    monkeypatch.setattr(Tab, "attach", gone)
    with pytest.raises(BrowserError, match="a new tab closed before it could be used"):
        await pool.open(f"{site}/")


async def test_leaving_the_pool_leaves_no_process(config: BrowserConfig, site: str) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    async with BrowserPool(config, MemoryImages()) as pool:
        await pool.open(f"{site}/")  # never closed
        assert chromiums()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = {p.pid for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE}
        if left <= before:
            break
        await asyncio.sleep(0.05)
    assert left <= before


async def test_a_cancelled_open_leaves_no_context_and_no_slot_taken(config: BrowserConfig, site: str) -> None:
    quiet = config.model_copy(update={"warm_sessions": 0})
    async with BrowserPool(quiet, MemoryImages()) as pool:
        opening = asyncio.create_task(pool.open(f"{site}/slow"))
        await until(lambda: len(pool.browsers[0]._browser.contexts) == 1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await until(lambda: len(pool.browsers[0]._browser.contexts) == 0)
        assert sum(browser.load for browser in pool.browsers) == 0


async def test_sessions_go_to_the_least_loaded_browser(config: BrowserConfig, site: str) -> None:
    two = config.model_copy(update={"browsers": 2, "sessions_per_browser": 2})
    async with BrowserPool(two, MemoryImages()) as pool:
        sessions = [await pool.open(f"{site}/two") for _ in range(4)]
        assert [browser.load for browser in pool.browsers] == [2, 2]
        await sessions[1].close()  # the first in the second browser
        sessions.append(await pool.open(f"{site}/two"))
        assert [browser.load for browser in pool.browsers] == [2, 2]


async def test_a_full_pool_lets_wait_and_then_says_so(config: BrowserConfig, site: str) -> None:
    one = config.model_copy(update={"browsers": 1, "sessions_per_browser": 1, "acquire_timeout_s": 1})
    async with BrowserPool(one, MemoryImages()) as pool:
        first = await pool.open(f"{site}/two")
        waiting = asyncio.create_task(pool.open(f"{site}/"))
        await asyncio.sleep(0.3)
        await first.close()
        second = await waiting
        assert (await second.observe()).url == f"{site}/"
        with pytest.raises(BrowserError, match=r"none of the 1 browser sessions .* within 1 s") as caught:
            await pool.open(f"{site}/")
        assert caught.value.failure is Failure.ACQUIRE_TIMEOUT
        await second.close()
        await (await pool.open(f"{site}/")).close()


async def test_a_warm_session_is_as_fresh_as_any(config: BrowserConfig, site: str) -> None:
    async with BrowserPool(config.model_copy(update={"warm_sessions": 1}), MemoryImages()) as pool:
        await until(lambda: len(pool.browsers[0]._browser.contexts) == 1)
        first = await pool.open(f"{site}/cookie", {"X-Test": "seven"})
        await until(lambda: len(pool.browsers[0]._browser.contexts) == 2)
        second = await pool.open(f"{site}/cookie")
        assert await body(second) == "none"
        await first.act([ToolCall(name="goto_url", arguments={"url": f"{site}/headers"})])
        await second.act([ToolCall(name="goto_url", arguments={"url": f"{site}/headers"})])
        assert (await body(first), await body(second)) == ("seven", "none")


async def test_a_browser_that_hosted_enough_is_replaced_when_its_last_session_ends(
    config: BrowserConfig, site: str
) -> None:
    recycled = config.model_copy(update={"browsers": 1, "recycle_after": 2})
    async with BrowserPool(recycled, MemoryImages()) as pool:
        (old,) = pool.browsers
        first, second = await pool.open(f"{site}/two"), await pool.open(f"{site}/two")
        await first.close()
        await until(lambda: old.retiring)
        third = await pool.open(f"{site}/two")
        assert [browser.load for browser in pool.browsers] == [1, 1]
        assert (await second.observe()).url == f"{site}/two"
        await second.close()
        await until(lambda: old not in pool.browsers)
        assert (await third.observe()).url == f"{site}/two"


async def test_a_browser_that_holds_too_much_memory_is_replaced(config: BrowserConfig, site: str) -> None:
    async with BrowserPool(config.model_copy(update={"recycle_memory_mb": 1}), MemoryImages()) as pool:
        (old,) = pool.browsers
        session = await pool.open(f"{site}/two")
        assert await old.memory_mb() > 10
        await session.close()
        await until(lambda: old not in pool.browsers)


async def test_a_forgotten_session_ends_by_itself(
    config: BrowserConfig, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_session, "_SESSION_TIMEOUT_S", 1.5)
    async with BrowserPool(config, MemoryImages()) as pool:
        session = await pool.open(f"{site}/two")
        await until(lambda: not any(browser.load for browser in pool.browsers))
        with pytest.raises(BrowserError, match=r"past its limit of 1\.5 s") as caught:
            await session.observe()
        assert caught.value.failure is Failure.SESSION_TIMEOUT
        with pytest.raises(BrowserError, match="past its limit"):
            await session.act([ToolCall(name="click", arguments={"x": 30, "y": 20})])


async def test_a_hung_browser_is_ended_and_replaced(
    config: BrowserConfig, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "_CHECK_EVERY_S", 0.2)
    monkeypatch.setattr(chromium, "_HANG_S", 2.0)
    async with BrowserPool(config, MemoryImages()) as pool:
        (hung,) = pool.browsers
        session = await pool.open(f"{site}/two")
        hung._processes[0].suspend()
        with pytest.raises(BrowserError) as caught:
            await session.observe()
        assert caught.value.failure is Failure.BROWSER_DIED
        assert caught.value.diagnostics["browser"]["alive"] is False
        await session.close()
        again = await pool.open(f"{site}/two")
        assert hung not in pool.browsers
        assert (await again.observe()).url == f"{site}/two"
        assert not hung._processes[0].is_running() or hung._processes[0].status() == psutil.STATUS_ZOMBIE


async def test_all_that_playwright_disables_is_disabled_beside_render_document(pool: BrowserPool) -> None:
    command = pool.browsers[0]._processes[0].cmdline()
    prefix = "--disable-features="
    playwrights, obeyed = (set(part.removeprefix(prefix).split(",")) for part in command if part.startswith(prefix))
    assert playwrights <= obeyed
    assert "RenderDocument" in obeyed


async def test_a_failure_tells_what_led_to_it(config: BrowserConfig, site: str) -> None:
    async with BrowserPool(config, MemoryImages()) as pool:
        session = await pool.open(f"{site}/two")
        await session.act([ToolCall(name="goto_url", arguments={"url": f"{site}/missing"})])
        await session.page.evaluate("() => { console.error('out of mugs') }")
        with pytest.raises(PlaywrightError):
            await session.page.goto("chrome://crash")
        with pytest.raises(BrowserError) as caught:
            await session.observe()
        found = caught.value.diagnostics
        assert caught.value.failure is Failure.TAB_CRASHED
        assert found["requests"]["2xx"] >= 1 and found["requests"]["4xx"] >= 1
        assert found["operations"]["goto_url"]["count"] == 1 and found["operations"]["goto_url"]["p50_s"] > 0
        assert "out of mugs" in found["console_errors"]
        assert any("session.py" in line for line in found["traceback"])
        assert found["browser"]["alive"] is True and found["browser"]["memory_mb"] > 10
        assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("victim", ["python", "driver"])
async def test_a_killed_parent_leaves_no_process(config: BrowserConfig, site: str, victim: str, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import asyncio, sys, psutil\n"
        "from webdojo.browser.pool import BrowserPool\n"
        "from webdojo.browser.config import BrowserConfig\n"
        "from webdojo.store.images import MemoryImages\n"
        "async def main():\n"
        "    async with BrowserPool(BrowserConfig.model_validate_json(sys.argv[1]), MemoryImages()) as pool:\n"
        "        await pool.open(sys.argv[2])\n"
        "        print(*(p.pid for p in psutil.Process().children(recursive=True)), flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, str(script), config.model_dump_json(), f"{site}/two", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert parent.stdout is not None
        children = [psutil.Process(int(pid)) for pid in (await parent.stdout.readline()).split()]
        assert len(children) > 3
        (driver,) = [child for child in children if "node" in child.name()]
        if victim == "python":
            parent.kill()
            left = children
        else:
            driver.kill()
            left = [child for child in children if child != driver]
        await until(lambda: not any(running(child) for child in left), seconds=15)
    finally:
        if parent.returncode is None:
            parent.kill()
        await parent.wait()


async def test_after_a_killed_driver_the_next_session_opens_and_nothing_stays_behind(
    config: BrowserConfig, site: str, tmp_path: Path
) -> None:
    script, temporary = tmp_path / "kill.py", tmp_path / "temporary"
    script.write_text(
        "import asyncio, sys, psutil\n"
        "from webdojo.browser.pool import BrowserPool\n"
        "from webdojo.browser.config import BrowserConfig\n"
        "from webdojo.errors import BrowserError\n"
        "from webdojo.store.images import MemoryImages\n"
        "async def main():\n"
        "    async with BrowserPool(BrowserConfig.model_validate_json(sys.argv[1]), MemoryImages()) as pool:\n"
        "        session = await pool.open(sys.argv[2])\n"
        "        psutil.Process().children()[0].kill()\n"
        "        try:\n"
        "            await session.observe()\n"
        "        except BrowserError as error:\n"
        "            print(error.failure)\n"
        "        print((await (await pool.open(sys.argv[2])).observe()).title)\n"
        "asyncio.run(main())\n"
    )
    temporary.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(script), config.model_copy(update={"browsers": 1}).model_dump_json(), f"{site}/two"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    output, errors = await process.communicate()
    assert output.decode().splitlines() == ["browser_died", "rows"], errors.decode()
    assert "never retrieved" not in errors.decode()
    assert list(temporary.iterdir()) == []
