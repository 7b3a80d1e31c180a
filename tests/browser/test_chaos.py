"""200 sessions while browsers and renderers are killed: each ends well or by a name, and nothing stays behind."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import psutil
import pytest

from tests.browser.test_pool import chromiums, running, until
from webdojo.browser import session as browser_session
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.errors import BrowserError, Failure
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

SESSIONS = 200
AT_ONCE = 8
STEPS = (
    ToolCall(name="click", arguments={"x": 30, "y": 450}),
    ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5}),
    ToolCall(name="click", arguments={"x": 30, "y": 20}),
)


def role(process: psutil.Process) -> str:
    """`renderer`, `gpu-process`, …; `browser` for the main process; empty for one that is gone."""
    try:
        flags = [part for part in process.cmdline() if part.startswith("--type=")]
        return flags[0].removeprefix("--type=") if flags else "browser" if running(process) else ""
    except psutil.NoSuchProcess:
        return ""


async def killer(rng: random.Random, killed: Counter[str], others: set[int]) -> None:
    while True:
        await asyncio.sleep(rng.uniform(0.5, 1.5))
        kind = rng.choices(["renderer", "browser", "gpu-process"], [6, 2, 1])[0]
        victims = [process for process in chromiums() if process.pid not in others and role(process) == kind]
        if victims:
            rng.choice(victims).kill()
            killed[kind] += 1


async def test_chaos(config: BrowserConfig, site: str) -> None:
    rng = random.Random(7)
    killed: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    others = {process.pid for process in chromiums()}
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    limit = asyncio.Semaphore(AT_ONCE)
    several = config.model_copy(update={"browsers": 2, "sessions_per_browser": AT_ONCE // 2, "recycle_after": 40})

    explained = 0

    async def episode(pool: BrowserPool) -> str:
        nonlocal explained
        async with limit:
            try:
                session = await pool.open(f"{site}/")
            except BrowserError as error:
                print(repr(error), error.diagnostics)
                return error.failure
            try:
                for step in STEPS:
                    await session.act([step])
                    await session.observe()
            except BrowserError as error:
                explained += bool(error.diagnostics["operations"])
                return error.failure
            finally:
                await session.close()
            return "success"

    async with BrowserPool(several, MemoryImages()) as pool:
        chaos = asyncio.create_task(killer(rng, killed, others))
        ends.update(await asyncio.gather(*(episode(pool) for _ in range(SESSIONS))))
        chaos.cancel()
        assert sum(browser.load for browser in pool.browsers) == 0, "a slot is lost"
        calm = await asyncio.gather(*(pool.open(f"{site}/two") for _ in range(AT_ONCE)))
        await asyncio.gather(*(session.observe() for session in calm))
        assert len(pool.browsers) <= 2

    print(f"killed {dict(killed)}; sessions ended in {dict(ends)}")
    assert ends.total() == SESSIONS
    assert killed["renderer"] and killed["browser"], killed
    assert ends["success"] >= SESSIONS // 4, "the pool did not recover between the kills"
    assert set(ends) - {"success"} <= {Failure.TAB_CRASHED, Failure.BROWSER_DIED, Failure.START_FAILED}
    assert explained, "nothing was hit in mid-session"
    left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    await until(lambda: not any(running(process) for process in left))


async def test_a_page_that_hangs_holds_up_its_own_session_only(
    config: BrowserConfig, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_session, "EXIT_TIMEOUT_S", 5.0)
    brief = config.model_copy(update={"browsers": 1, "action_timeout_s": 2})
    async with BrowserPool(brief, MemoryImages()) as pool:
        hung, calm = await pool.open(f"{site}/hang"), await pool.open(f"{site}/")
        result = await hung.act([ToolCall(name="click", arguments={"x": 30, "y": 20})])
        assert "timed out after 2 s" in result.feedback[0].text
        assert (await hung.observe()).url == f"{site}/hang"
        assert (await calm.observe()).url == f"{site}/"
        await hung.close()
        assert (await calm.observe()).url == f"{site}/"
        assert sum(browser.load for browser in pool.browsers) == 1
        await calm.close()
