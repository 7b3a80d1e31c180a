"""OpenEnv's own server and clients around our environments, in real Chromium.

`make test-interop` makes the environment that this runs in; elsewhere it is skipped.
"""

from __future__ import annotations

import asyncio
import base64
import io
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from tests.interop.policies import GIVE_UP, host, solution, until
from webdojo.interop.host import EpisodeHost
from webdojo.types import Task

pytest.importorskip("openenv", reason="not installed here: make test-interop")
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]
DOCS = Path(__file__).parents[3] / "docs" / "interop.md"
SCROLL = {"name": "scroll", "arguments": {"direction": "down", "amount": 0.5}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[EpisodeHost, str]]:
    from webdojo.interop.openenv.server import serve

    episodes = host(tmp_path_factory.mktemp("openenv") / "run")
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = serve(
        episodes,
        address="127.0.0.1",
        port=0,
        max_sessions=3,
        idle_timeout_s=60,
        on_listening=listening.set_result,
    )
    server = asyncio.create_task(serving)
    waiting: set[asyncio.Future[Any]] = {server, listening}
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if server in done:
        server.result()
    yield episodes, listening.result()
    server.cancel()
    await asyncio.gather(server, return_exceptions=True)


@pytest.fixture
def task(served) -> Task:
    return served[0].choose(seed=1)


async def test_a_scripted_policy_succeeds_over_openenvs_client(served, task):
    from webdojo.interop.openenv.client import WebdojoEnv
    from webdojo.interop.openenv.models import WebdojoAction

    episodes, url = served
    turns = await solution(episodes, task)
    async with WebdojoEnv(base_url=url) as env:
        result = await env.reset(seed=0, task=task.id, episode_id="scripted")
        shown = result.observation
        picture = Image.open(io.BytesIO(base64.b64decode(shown.screenshot)))
        assert picture.size == shown.viewport_px == (320, 320)
        assert (shown.instruction, shown.url, result.done) == (task.instruction, task.start_url, False)
        assert {tool["function"]["name"] for tool in shown.tools} >= {"click", "done"}
        for calls in turns:
            result = await env.step(WebdojoAction(calls=list(calls)))
        state = await env.state()
    shown = result.observation
    assert (result.reward, result.done, shown.terminated, shown.truncated) == (1.0, True, True, False)
    assert (shown.success, shown.valid, shown.termination) == (True, True, "completed")
    assert (state.episode_id, state.step_count, state.task_id) == ("scripted", len(turns), task.id)
    stored = episodes.store.trajectory("scripted")
    assert [list(turn.parsed.calls) for turn in stored.turns] == turns
    assert stored.reward is not None and stored.reward.success


async def test_failure_truncation_and_format_errors_are_told_to_the_generic_client(served, task):
    from openenv import GenericEnvClient

    async with GenericEnvClient(base_url=served[1]) as env:
        await env.reset(task=task.id)
        failed = await env.step({"calls": [SCROLL, GIVE_UP.model_dump()]})
        assert (failed.reward, failed.done, failed.observation["terminated"]) == (0.0, True, True)
        assert [each["ok"] for each in failed.observation["feedback"]] == [True, True]
        with pytest.raises(RuntimeError, match="the episode is over"):
            await env.step({"calls": [SCROLL]})
        await env.reset(task=task.id)
        wrong = await env.step({"text": "I would scroll"})
        assert "no think end tag" in wrong.observation["error"]
        for _ in range(5):
            last = await env.step({"calls": [SCROLL]})
        assert (last.done, last.observation["terminated"], last.observation["truncated"]) == (True, False, True)


async def test_what_is_no_action_and_no_reset_is_refused_in_one_line(served, task):
    import httpx
    from openenv import GenericEnvClient

    async with GenericEnvClient(base_url=served[1]) as env:
        with pytest.raises(RuntimeError, match="seed = 'x' of reset must be a whole number"):
            await env.reset(seed="x")
        await env.reset(task=task.id)
        with pytest.raises(RuntimeError, match="calls or text, and this one has neither"):
            await env.step({})
        silent = await env.step({"calls": []})
        assert silent.observation["error"] == "no tool call; call at least one"
    async with httpx.AsyncClient(base_url=served[1]) as http:
        refused = await http.post("/step", json={"action": {"calls": []}})
    assert (refused.status_code, refused.json()["detail"][:27]) == (400, "no episode is under way in ")


async def test_sessions_run_side_by_side_and_one_too_many_is_refused(served, task):
    from openenv import GenericEnvClient

    clients = [GenericEnvClient(base_url=served[1]) for _ in range(3)]
    try:
        results = await asyncio.gather(*(client.reset(task=task.id) for client in clients))
        assert len({result.observation["screenshot"] for result in results}) == 1
        await clients[0].step({"calls": [GIVE_UP.model_dump()]})
        going_on = await clients[1].step({"calls": [SCROLL]})
        assert not going_on.done
        with pytest.raises(Exception, match=r"CAPACITY|capacity|1000|closed"):
            await GenericEnvClient(base_url=served[1]).reset()
    finally:
        await asyncio.gather(*(client.close() for client in clients))


async def test_the_episode_of_a_client_that_is_gone_is_given_up(served, task):
    import websockets

    episodes, url = served
    connection = await websockets.connect(f"ws{url.removeprefix('http')}/ws")
    await connection.send(f'{{"type": "reset", "data": {{"task": "{task.id}", "episode_id": "gone"}}}}')
    await connection.recv()
    connection.transport.abort()
    await until(lambda: episodes.store.has_trajectory("gone"))
    stored = episodes.store.trajectory("gone")
    assert stored.failure == "caller_lost"
    assert stored.reward is not None and not stored.reward.valid


async def test_the_example_of_the_docs_gives_up(served):
    block = re.search(r"^## OpenEnv$.*?^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    script = block[1].replace("http://127.0.0.1:8000", served[1])
    pipe = asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=pipe, stderr=pipe)
    said, errors = await running.communicate()
    assert running.returncode == 0, errors.decode()
    assert said.decode().splitlines()[-1] == "0.0 completed"
