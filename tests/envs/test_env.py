"""What an environment's own code does to an episode, in real Chromium: its errors cost that episode and no other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from pydantic import PrivateAttr

from tests.rollout.stage import BAD, BROWSER, DONE, IMAGES, NEXT, Stage, serving
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.env import Environment, Split, Visit
from webdojo.errors import ConfigError, SiteError, TaskError
from webdojo.types import FinishReason, Task, Termination

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(BROWSER, IMAGES) as pool:
        yield pool


class Noted(Environment):
    """Keeps what is asked of it, raises where it is told to, and ends an episode after some turns."""

    raises_in: str = ""
    ends_after: int = 99
    _error: Exception = PrivateAttr(default_factory=lambda: ValueError("broken\nhere"))
    _asked: list[str] = PrivateAttr(default_factory=list)
    _turns: dict[str, int] = PrivateAttr(default_factory=dict)

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return []

    def _note(self, method: str) -> None:
        self._asked.append(method)
        if method == self.raises_in:
            raise self._error

    async def visit(self, task: Task, seed: str = "") -> Visit:
        self._note("visit")
        visit = self.plain_visit(task)
        self._turns[visit.id] = 0
        return visit

    async def state(self, visit: Visit) -> dict[str, Any]:
        self._note("state")
        return {"turns": self._turns[visit.id]}

    async def is_over(self, visit: Visit) -> bool:
        self._note("is_over")
        self._turns[visit.id] += 1
        return self._turns[visit.id] >= self.ends_after

    async def leave(self, visit: Visit) -> None:
        del self._turns[visit.id]
        self._note("leave")


def stage(pool: BrowserPool, site: str, **options: Any) -> tuple[Stage, Noted]:
    env = Noted(**options)
    return Stage(pool, site, env), env


async def test_an_environment_is_asked_in_order_and_its_state_is_kept(pool: BrowserPool, site: str) -> None:
    play, env = stage(pool, site)
    trajectory = await play.play(NEXT, DONE)
    assert (trajectory.termination, trajectory.answer) == (Termination.COMPLETED, "7")
    assert env._asked == ["visit", "is_over", "is_over", "state", "leave"]
    assert trajectory.state == {"turns": 2}
    assert not env._turns, "a visit was not ended"


@pytest.mark.parametrize(
    ("method", "termination", "turns"),
    [
        ("visit", Termination.START_ERROR, 0),
        ("is_over", Termination.ENV_ERROR, 1),
        ("state", Termination.ENV_ERROR, 2),
        ("leave", Termination.ENV_ERROR, 2),
    ],
)
async def test_whatever_it_raises_ends_only_its_episode(
    pool: BrowserPool, site: str, method: str, termination: Termination, turns: int
) -> None:
    play, env = stage(pool, site, raises_in=method)
    trajectory = await play.play(NEXT, DONE)
    assert (trajectory.termination, trajectory.steps) == (termination, turns)
    assert trajectory.failure == "environment_failed"
    told = rf".*:Noted' failed in {method} \(test_env\.py, line \d+\): ValueError: broken here"
    assert re.fullmatch(told, trajectory.error)
    assert "in _note" in trajectory.diagnostics["traceback"], "the line that raised is not told"
    assert not env._turns, "its visit was not ended"
    if turns:
        assert play.actor.session.page.is_closed()
    env.raises_in = ""
    assert (await play.play(NEXT, DONE)).termination is Termination.COMPLETED


@pytest.mark.parametrize("method", ["visit", "is_over", "state", "leave"])
@pytest.mark.parametrize("error", [TaskError("no such page"), ConfigError("no key")])
async def test_what_the_user_has_to_change_leaves_the_episode(
    pool: BrowserPool, site: str, method: str, error: Exception
) -> None:
    play, env = stage(pool, site, raises_in=method)
    env._error = error
    with pytest.raises(type(error), match=str(error)):
        await play.play(NEXT, DONE)
    if method != "visit":
        assert play.actor.session.page.is_closed()


async def test_other_errors_of_ours_are_its_own_too(pool: BrowserPool, site: str) -> None:
    play, env = stage(pool, site, raises_in="visit")
    env._error = SiteError("no such site")
    trajectory = await play.play(DONE)
    assert (trajectory.termination, trajectory.failure) == (Termination.START_ERROR, "environment_failed")


async def test_what_failed_first_is_what_is_told(pool: BrowserPool, site: str) -> None:
    play, env = stage(pool, site, raises_in="leave")
    play.task.start_url = "http://127.0.0.1:9/"
    trajectory = await play.play(DONE)
    assert (trajectory.termination, trajectory.failure) == (Termination.START_ERROR, "start_failed")
    assert env._asked == ["visit", "leave"]


async def test_an_environment_ends_an_episode_by_itself(pool: BrowserPool, site: str) -> None:
    play, _ = stage(pool, site, ends_after=2)
    trajectory = await play.play(NEXT, NEXT, NEXT, DONE)
    assert (trajectory.termination, trajectory.steps, trajectory.answer) == (Termination.COMPLETED, 2, None)
    assert trajectory.final is not None
    assert trajectory.final.url == f"{site}/next"
    assert trajectory.state == {"turns": 2}


async def test_the_end_counts_on_the_last_turn_and_in_the_last_of_format_errors(pool: BrowserPool, site: str) -> None:
    play, _ = stage(pool, site, ends_after=2)
    assert (await play.play(NEXT, NEXT, max_steps=2)).termination is Termination.COMPLETED
    play, _ = stage(pool, site, ends_after=3)
    assert (await play.play(BAD, BAD, BAD)).termination is Termination.COMPLETED


@pytest.mark.parametrize(("said", "kept"), [("7", "7"), ("", None)])
async def test_an_answer_on_the_turn_that_ends_it_is_kept(pool: BrowserPool, site: str, said: str, kept: str) -> None:
    play, _ = stage(pool, site, ends_after=1)
    trajectory = await play.play(DONE.replace('"7"', f'"{said}"'))
    assert (trajectory.termination, trajectory.answer) == (Termination.COMPLETED, kept)


async def test_a_turn_that_is_cut_off_is_not_asked_about(pool: BrowserPool, site: str) -> None:
    play, env = stage(pool, site, ends_after=1)
    trajectory = await play.play("<think>and so on", finish=FinishReason.LENGTH)
    assert trajectory.termination is Termination.GENERATION_LENGTH
    assert "is_over" not in env._asked


async def test_a_timeout_and_a_cancellation_end_the_visit(pool: BrowserPool, site: str) -> None:
    asked = asyncio.Event()

    async def hang(session: BrowserSession) -> str:
        asked.set()
        await asyncio.sleep(60)
        return DONE

    play, env = stage(pool, site)
    trajectory = await play.play(NEXT, hang, task_timeout_s=3)
    assert (trajectory.termination, trajectory.state) == (Termination.TIMEOUT, {"turns": 1})
    assert not env._turns
    asked.clear()
    episode = asyncio.create_task(play.play(hang))
    await asked.wait()
    episode.cancel()
    with pytest.raises(asyncio.CancelledError):
        await episode
    assert not env._turns


async def test_it_starts_and_closes_around_what_runs_in_it() -> None:
    asked: list[str] = []

    class Opened(Noted):
        async def start(self) -> None:
            asked.append("start")

        async def close(self) -> None:
            asked.append("close")

    with pytest.raises(KeyError):
        async with Opened() as env:
            assert asked == ["start"]
            assert (env.hosts, env.kind_of("http://a/"), env.reward, env.oracle) == ({}, "", None, None)
            raise KeyError
    assert asked == ["start", "close"]


class Shut(Noted):
    """An app that cannot be stopped, or started."""

    async def start(self) -> None:
        self._note("start")

    async def close(self) -> None:
        raise ProcessLookupError("no such process")


@pytest.mark.parametrize("error", [KeyError("the first error"), asyncio.CancelledError(), None])
async def test_what_its_end_raises_hides_nothing(error: BaseException | None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "webdojo")
    ending = pytest.raises(type(error)) if error is not None else contextlib.nullcontext()
    with ending:
        async with Shut():
            if error is not None:
                raise error
    told = r"environment '.*:Shut' failed in close \(test_env\.py, line \d+\): ProcessLookupError: no such process"
    assert re.fullmatch(told, caplog.messages[-1])


async def test_what_its_start_raises_is_one_line() -> None:
    told = r"environment '.*:Shut' failed in start \(test_env\.py, line \d+\): ValueError: broken here$"
    with pytest.raises(ConfigError, match=told):
        async with Shut(raises_in="start"):
            raise AssertionError("it has not started")


async def test_a_cookie_that_no_browser_takes_is_told_at_once(pool: BrowserPool, site: str) -> None:
    class LoggedIn(Noted):
        async def visit(self, task: Task, seed: str = "") -> Visit:
            visit = await super().visit(task, seed)
            visit.storage_state = {"cookies": [{"name": "who", "value": "ada", "path": "/"}], "origins": []}
            return visit

    env = LoggedIn()
    with pytest.raises(ConfigError, match=r"^storage_state of the visit: cookie 'who' has no domain; a cookie needs"):
        await Stage(pool, site, env).play(DONE)
    assert env._asked == ["visit", "leave"], "it was tried again"


async def test_a_visit_without_more_is_the_tasks_own(tmp_path: Any) -> None:
    task = Task(id="t", instruction="", start_url="http://a.example/", website="a.example")
    one, other = Environment.plain_visit(task), Environment.plain_visit(task)
    assert (one.start_url, one.headers, one.storage_state) == (task.start_url, {}, None)
    assert one.id != other.id
    task.storage_state = str(tmp_path / "none.json")
    with pytest.raises(ConfigError, match=r"storage_state of task 't'"):
        Environment.plain_visit(task)
