"""Sessions on browser servers are like local ones; servers that are full, silent or dead are got over."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.browser.conftest import CONFIG
from tests.browser.test_screenshots import PUT_S, SlowImages, longest_pause
from tests.browser_service.served import Served, served_process
from tests.codec import SmallCodec
from webdojo.agent.harness import HarnessConfig
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.agent.openwebvoyager import OpenWebVoyagerConfig
from webdojo.agent.webgym import WebGymConfig
from webdojo.browser.config import BrowserConfig, ServeConfig
from webdojo.browser.interface import ActResult, Pool, Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser_service.client import RemotePool, RemoteSession
from webdojo.envs.dojo import Dojo
from webdojo.errors import BrowserError, ConfigError, Failure, StartError
from webdojo.policy.scripted import ScriptedActor
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import Actor, SessionT, run_episode
from webdojo.sites.oracle import Oracle
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import ImageRef, Observation, Prompt, Response, Sampling, Task, ToolCall, Trajectory

TOKEN = "a-secret"
CLICK = ToolCall(name="click", arguments={"x": 30, "y": 20})


def config(max_sessions: int = 8) -> BrowserConfig:
    return CONFIG.model_copy(update={"serve": ServeConfig(max_sessions=max_sessions)})


@pytest.fixture(scope="module")
def small() -> Iterator[Served]:
    with Served(config(max_sessions=1), TOKEN) as served:
        yield served


@pytest.fixture(scope="module")
def large() -> Iterator[Served]:
    with Served(config(), TOKEN) as served:
        yield served


class CountingImages(MemoryImages):
    def __init__(self) -> None:
        super().__init__()
        self.puts = 0

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef:
        self.puts += 1
        return super().put(data, width, height, mime)


@pytest_asyncio.fixture
async def pool(small: Served, large: Served) -> AsyncIterator[RemotePool]:
    async with RemotePool([small.url, f"{large.url}/"], MemoryImages(), TOKEN) as pool:
        yield pool


def where(session: RemoteSession) -> str:
    return session._server.url


async def test_a_remote_session_sees_and_does_what_a_local_one_does(large: Served, site: str) -> None:
    async def visit(pool: Pool[Session]) -> list[object]:
        session = await pool.open(f"{site}/", {"X-Test": "seven"})
        seen: list[object] = [session.viewport_px, await session.observe(), await session.snapshot()]
        wrong = ToolCall(name="click", arguments={"x": float("nan"), "y": 20})
        seen.append(await session.act([CLICK, wrong]))
        seen.append(await session.observe())
        seen.append(await session.act([ToolCall(name="done", arguments={"answer": "naïve"}), CLICK]))
        await session.close()
        await session.close()
        return seen

    local_images, remote_images = MemoryImages(), CountingImages()
    async with BrowserPool(CONFIG, local_images) as local, RemotePool([large.url], remote_images, TOKEN) as remote:
        expected, got = await visit(local), await visit(remote)
    assert got == expected
    for observation in (got[1], got[4]):
        shot = observation.screenshot  # type: ignore[attr-defined]
        assert remote_images.get(shot) == local_images.get(shot)
    assert remote_images.puts == 2


async def test_a_slow_store_does_not_hold_up_the_event_loop(large: Served, site: str) -> None:
    images = SlowImages()
    async with RemotePool([large.url], images, TOKEN) as pool:
        session = await pool.open(f"{site}/")
        seen, pause = await longest_pause(session.observe())
        assert images.get(seen.screenshot), "it is there when it is named"
        assert pause < PUT_S / 2


async def test_a_screen_that_stays_is_sent_once(large: Served, site: str) -> None:
    images = CountingImages()
    async with RemotePool([large.url], images, TOKEN) as pool:
        session = await pool.open(f"{site}/two")
        first, second = await session.observe(), await session.observe()
        assert first == second
        assert images.puts == 1
        await session.close()


class FlakyHTTP:
    """Fails the next requests whose path ends so, and counts those that got through."""

    def __init__(self, pool: RemotePool, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failures: list[tuple[str, Exception]] = []
        self.sent: Counter[str] = Counter()
        self._request = pool._http.request
        monkeypatch.setattr(pool._http, "request", self.request)

    async def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        path = url.rpartition("/")[2]
        if self.failures and self.failures[0][0] == path:
            raise self.failures.pop(0)[1]
        self.sent[path] += 1
        return await self._request(method, url, **options)


async def test_a_step_that_never_reached_the_server_is_sent_again(
    pool: RemotePool, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webdojo.browser_service.client._RETRY_AFTER_S", 0.01)
    session = await pool.open(f"{site}/two")
    flaky = FlakyHTTP(pool, monkeypatch)
    flaky.failures = [("act", httpx.ConnectError("refused")), ("act", httpx.ConnectTimeout("late"))]
    (done,) = await asyncio.gather(session.act([CLICK]), return_exceptions=True)
    assert isinstance(done, ActResult), done
    flaky.failures = [("observation", httpx.ReadError("cut")), ("observation", httpx.RemoteProtocolError("half"))]
    (seen,) = await asyncio.gather(session.observe(), return_exceptions=True)
    assert isinstance(seen, Observation), seen
    assert flaky.sent == {"act": 1, "observation": 1}
    flaky.failures = [("act", httpx.ConnectError("refused"))] * 3
    with pytest.raises(BrowserError, match="refused"):
        await session.act([CLICK])
    await session.close()


async def test_a_step_that_may_have_been_taken_is_not_sent_again(
    pool: RemotePool, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await pool.open(f"{site}/two")
    flaky = FlakyHTTP(pool, monkeypatch)
    flaky.failures = [("act", httpx.ReadError("cut"))]
    with pytest.raises(BrowserError, match="cut"):
        await session.act([CLICK])
    assert flaky.sent["act"] == 0
    await session.close()


class Replay:
    """An engine that gives the responses of a recorded episode."""

    def __init__(self, recorded: Trajectory) -> None:
        self._responses = iter([turn.response for turn in recorded.turns])

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        return next(self._responses)


def replaying(recorded: Trajectory) -> Actor[RemoteSession]:
    return lambda task, session: Replay(recorded)


@pytest.mark.parametrize(
    ("agent", "count"),
    [
        (OpenWebRLConfig(tool_schemas="signature"), 6),
        (OpenWebVoyagerConfig(name="openwebvoyager"), 2),  # their calls name elements of the views that they were sent
        (WebGymConfig(name="webgym", mode="marks"), 2),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_trajectories_equal_those_of_the_local_pool(agent: HarnessConfig, count: int) -> None:
    tasks = make_tasks(["shop", "wiki"], [0, 1, 2, 3], count, seed=7, layout="compact")
    harness = agent.build(SmallCodec())
    browser, env = BrowserConfig(viewport_px=(320, 320)), Dojo(layout="compact")

    async def play(task: Task, pool: Pool[SessionT], actor: Actor[SessionT]) -> Trajectory:
        trajectory = await run_episode(
            task,
            env=env,
            pool=pool,
            harness=harness,
            actor=actor,
            config=RolloutConfig(task_timeout_s=60),
            sampling=Sampling(max_tokens=512),
            max_steps=12,
            trajectory_id=task.id,
        )
        await Scorer(Rules(), MemoryImages()).score(trajectory)
        assert all("ready" in turn.seconds for turn in trajectory.turns if "act" in turn.seconds)
        for turn in trajectory.turns:
            turn.began, turn.seconds = 0, {}
        trajectory.began, trajectory.seconds = 0, {}
        return trajectory

    async with env:
        async with BrowserPool(browser, MemoryImages(), dict(env.hosts)) as local:
            oracle = ScriptedActor(harness, Oracle)
            recorded = await asyncio.gather(*(play(task, local, oracle) for task in tasks))
        with Served(browser, TOKEN, dict(env.hosts)) as one, Served(browser, TOKEN, dict(env.hosts)) as other:
            async with RemotePool([one.url, other.url], MemoryImages(), TOKEN) as remote:
                replayed = await asyncio.gather(
                    *(play(task, remote, replaying(again)) for task, again in zip(tasks, recorded, strict=True))
                )
    for again, first in zip(replayed, recorded, strict=True):
        assert first.reward is not None and first.reward.success
        assert again.model_dump() == first.model_dump()


async def test_a_session_begins_with_the_state_that_is_sent(pool: RemotePool, site: str) -> None:
    cookie = {"name": "who", "value": "ada", "domain": "127.0.0.1", "path": "/", "expires": -1}
    state = {"cookies": [cookie | {"httpOnly": False, "secure": False, "sameSite": "Lax"}], "origins": []}
    for given, shown in ((state, "who=ada"), (None, "none")):
        session = await pool.open(f"{site}/cookie", storage_state=given)
        assert shown in [node.name for node in (await session.snapshot()).nodes]
        await session.close()


async def test_start_errors_name_server_and_cause(pool: RemotePool, site: str) -> None:
    for url, reason, failure in [
        (f"{site}/broken", "HTTP 503", Failure.START_FAILED),
        ("http://10.0.0.1/", "not a public", Failure.START_REFUSED),
        ("ftp://x", "start_url", Failure.START_FAILED),
    ]:
        with pytest.raises(StartError, match=rf"^http://127\.0\.0\.1:\d+: .*{reason}") as caught:
            await pool.open(url)
        assert caught.value.failure is failure
        assert ("browser" in caught.value.diagnostics) == url.startswith("http"), "what led to it was not told"


async def test_a_wrong_token_is_named_at_once(large: Served, site: str) -> None:
    async with RemotePool([large.url], MemoryImages(), "wrong") as pool:
        with pytest.raises(BrowserError, match="WEBDOJO_BROWSER_TOKEN"):
            await pool.open(f"{site}/")


@pytest.mark.parametrize("servers", [[], ["10.0.0.7:8400"], ["ftp://a"], ["http://a:port"], ["http://"]])
def test_wrong_servers_are_named(servers: Sequence[str]) -> None:
    with pytest.raises(ConfigError, match=r"write http://host:port|name at least one"):
        RemotePool(servers, MemoryImages())


async def test_the_least_loaded_server_is_first_and_a_full_one_is_left_out(
    pool: RemotePool, small: Served, large: Served, site: str
) -> None:
    sessions = [await pool.open(f"{site}/two") for _ in range(5)]
    assert sorted(where(session) for session in sessions) == sorted([small.url, *[large.url] * 4])
    await asyncio.gather(*(session.close() for session in sessions))
    # Sessions of other clients count too, once the server reports them.
    async with RemotePool([large.url], MemoryImages(), TOKEN) as other:
        taken = [await other.open(f"{site}/two") for _ in range(3)]
        async with RemotePool([small.url, large.url], MemoryImages(), TOKEN) as newcomer:
            assert newcomer.places == 1 + 8 - 3
            assert where(await newcomer.open(f"{site}/two")) == small.url
            assert newcomer.places == 1 + 8 - 3, "its own session is one of them"
        await asyncio.gather(*(session.close() for session in taken))


async def test_who_finds_all_places_taken_waits_for_one(small: Served, site: str) -> None:
    async with (
        RemotePool([small.url], MemoryImages(), TOKEN) as first,
        RemotePool([small.url, "http://127.0.0.1:9"], MemoryImages(), TOKEN, acquire_timeout_s=0.5) as hasty,
        RemotePool([small.url], MemoryImages(), TOKEN, acquire_timeout_s=20) as patient,
    ):
        session = await first.open(f"{site}/two")
        assert (first.places, hasty.places) == (1, 1)
        with pytest.raises(BrowserError, match=r"within 0\.5 s \(.*full, 1 of 1.*; http://127\.0\.0\.1:9: unreachable"):
            await hasty.open(f"{site}/two")
        waiting = asyncio.create_task(patient.open(f"{site}/two"))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        await session.close()
        assert where(await waiting) == small.url


async def test_leaving_the_pool_ends_its_sessions(large: Served, site: str) -> None:
    async with RemotePool([large.url], MemoryImages(), TOKEN) as pool:
        await pool.open(f"{site}/two")
        assert large.service.health.sessions == 1
    assert large.service.health.sessions == 0


async def test_a_cancelled_open_frees_its_place(large: Served, site: str) -> None:
    async with RemotePool([large.url], MemoryImages(), TOKEN) as pool:
        opening = asyncio.create_task(pool.open(f"{site}/slow"))
        await asyncio.sleep(0.2)
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        deadline = time.monotonic() + 3
        while large.service.health.sessions:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        assert pool._servers[0].own == 0


async def test_a_killed_server_ends_its_sessions_and_new_ones_go_elsewhere(large: Served, site: str) -> None:
    options = ["browser.viewport_px=[300,300]", "browser.guard.private_hosts=[127.0.0.1]"]
    with served_process(*options, token=TOKEN) as (process, url):
        async with RemotePool([url, large.url], MemoryImages(), TOKEN, acquire_timeout_s=10) as pool:
            sessions = {where(session): session for session in [await pool.open(f"{site}/two") for _ in range(2)]}
            assert sessions.keys() == {url, large.url}
            acting = asyncio.create_task(sessions[url].act([ToolCall(name="wait", arguments={"seconds": 5})]))
            await asyncio.sleep(0.3)
            process.kill()
            with pytest.raises(BrowserError, match=f"^{url}: unreachable"):
                await acting
            with pytest.raises(BrowserError, match=f"lost before: {url}"):
                await sessions[url].observe()
            await sessions[url].close()
            assert (await sessions[large.url].observe()).url == f"{site}/two"
            fresh = await asyncio.gather(*(pool.open(f"{site}/two") for _ in range(3)))
            assert {where(session) for session in fresh} == {large.url}
            assert pool.places == 8, "a server that is gone has none"
        async with RemotePool([url], MemoryImages(), TOKEN) as lost:
            assert lost.places > 1000, "nobody may be held who could tell that all servers are gone"


async def test_a_drained_server_gets_no_new_sessions(site: str, large: Served) -> None:
    with Served(config(), TOKEN) as leaving:
        async with RemotePool([leaving.url, large.url], MemoryImages(), TOKEN) as pool:
            old = [await pool.open(f"{site}/two") for _ in range(2)]
            leaving.service.drain()
            fresh = [await pool.open(f"{site}/two") for _ in range(2)]
            assert {where(session) for session in fresh} == {large.url}
            for session in old:
                assert (await session.observe()).url == f"{site}/two"


async def test_calls_are_never_sent_twice() -> None:
    """A server that takes the call and dies before it answers may have carried it out."""
    asked: list[str] = []
    health = b'{"draining": false, "sessions": 0, "max_sessions": 9}'

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.split(" HTTP")[0])
        body = health if "/health" in head else b'{"id": "s", "viewport_px": [300, 300]}'
        if "/act" not in head:
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with RemotePool([url], MemoryImages()) as pool:
        session = await pool.open("http://shop-0.localhost/")
        with pytest.raises(BrowserError, match="unreachable"):
            await session.act([CLICK])
    assert asked.count("POST /sessions/s/act") == 1
    server.close()


async def test_a_server_of_another_kind_is_named(site: str) -> None:
    async with RemotePool([site], MemoryImages(), acquire_timeout_s=0.1) as pool:
        with pytest.raises(BrowserError, match="no webdojo browser service"):
            await pool.open(f"{site}/")


async def test_what_is_to_be_masked_comes_with_the_session(pool: RemotePool, site: str) -> None:
    cookie = {"name": "id", "value": "0123456789", "url": site}
    session = await pool.open(f"{site}/login", storage_state={"cookies": [cookie], "origins": []})
    assert session.secrets == {"0123456789"}
    result = await session.act([CLICK, ToolCall(name="write", arguments={"text": "hunter22"})])
    assert result.feedback[1].text == 'write "********" into <input> "Password"'
    assert session.secrets == {"0123456789", "hunter22"}
    await session.close()
