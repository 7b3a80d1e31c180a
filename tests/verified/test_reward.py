"""WebArena-Verified's library judges episodes in real Chromium by their answers and their requests.

`make test-verified` makes the environment that this runs in; elsewhere it is skipped.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, RedirectResponse

from tests.reward.webarena.site import serving
from tests.rollout.stage import BROWSER, IMAGES, Stage
from webdojo.browser.pool import BrowserPool
from webdojo.envs.web import load
from webdojo.reward.gate import Scorer
from webdojo.reward.webarena.verified import WebArenaVerified
from webdojo.types import Task, Trajectory

pytest.importorskip("webarena_verified", reason="not installed here: make test-verified")
pytestmark = pytest.mark.asyncio(loop_scope="module")

BIO = "/user/MarvelsGrantMan136/edit_biography"


def form(text: str) -> str:
    return f"""<!doctype html><title>bio</title><body style="margin:0"><form method=post action={BIO}>
    <input type=hidden name="user_biography[biography]" value="{text}">
    <button style="display:block;width:320px;height:100px">Save</button></form>"""


def make_app() -> FastAPI:
    app = FastAPI()

    @app.get("/")
    async def home() -> HTMLResponse:
        return HTMLResponse("<!doctype html><title>home</title>home")

    @app.get("/right")
    async def right() -> HTMLResponse:
        return HTMLResponse(form("I am a robot"))

    @app.get("/wrong")
    async def wrong() -> HTMLResponse:
        return HTMLResponse(form("I am human"))

    @app.post(BIO)
    async def save() -> RedirectResponse:
        return RedirectResponse("/", 302)

    return app


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving(make_app()) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(BROWSER.model_copy(update={"record_har": True}), IMAGES) as pool:
        yield pool


def tool(name: str, **arguments: Any) -> str:
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<think>on</think><tool_call>{call}</tool_call><|im_end|>"


def says(task_type: str, status: str = "SUCCESS", data: Any = None) -> str:
    answer = {"task_type": task_type, "status": status, "retrieved_data": data, "error_details": None}
    return tool("done", answer=json.dumps(answer))


def task(tmp_path: Path, number: int, placeholder: str, site: str, path: str = "") -> Task:
    """A row of WebArena-Verified as a task of the environment."""
    row = {
        "task_id": number,
        "intent": "x",
        "start_urls": [f"{placeholder}{path}"],
        "sites": [placeholder.strip("_").lower()],
        "intent_template_id": 1,
        "eval": [{"evaluator": "AgentResponseEvaluator"}],
    }
    file = tmp_path / "verified.json"
    file.write_text(json.dumps([row]))
    (only,) = load(file, {placeholder: site})
    return only


async def play(pool: BrowserPool, task: Task, *lines: str) -> Trajectory:
    reward = WebArenaVerified()
    reward.check(task)
    stage = Stage(pool, "")
    stage.task = task
    trajectory = await stage.play(*lines, reward=reward)
    trajectory = Trajectory.model_validate_json(trajectory.model_dump_json())
    await Scorer(reward, IMAGES).score(trajectory)
    assert trajectory.reward is not None and trajectory.reward.valid, trajectory.reward
    return trajectory


@pytest.mark.parametrize(
    ("answer", "success"),
    [
        (says("retrieve", data=["Catso", "Dibbins", "Anglebert", "Michelle Davis"]), True),
        (says("retrieve", data=["Catso", "Dibbins"]), False),
        (says("retrieve", "NOT_FOUND_ERROR"), False),
        (tool("done", answer="Catso, Dibbins, Anglebert, Michelle Davis"), False),
    ],
)
async def test_an_answer_is_judged(pool: BrowserPool, site: str, tmp_path: Path, answer: str, success: bool) -> None:
    trajectory = await play(pool, task(tmp_path, 21, "__SHOPPING__", site), answer)
    assert trajectory.reward is not None
    assert (trajectory.reward.success, trajectory.reward.facts) == (success, [success])


@pytest.mark.parametrize(("path", "sent"), [("/right", True), ("/wrong", False), ("", False)])
async def test_what_a_page_sent_is_judged(pool: BrowserPool, site: str, tmp_path: Path, path: str, sent: bool) -> None:
    given = task(tmp_path, 399, "__REDDIT__", site, path)
    trajectory = await play(pool, given, tool("click", x=500, y=100), says("mutate"))
    assert trajectory.reward is not None
    assert (trajectory.reward.success, trajectory.reward.facts) == (sent, [True, sent])
    assert trajectory.reward.fact_names == ["AgentResponseEvaluator", "NetworkEventEvaluator"]


async def test_a_library_that_fails_is_no_failure_of_the_agent(pool: BrowserPool, site: str, tmp_path: Path) -> None:
    given = task(tmp_path, 100_000, "__SHOPPING__", site)
    stage = Stage(pool, "")
    stage.task = given
    trajectory = await stage.play(says("retrieve"), reward=WebArenaVerified())
    await Scorer(WebArenaVerified(), IMAGES).score(trajectory)
    assert trajectory.reward is not None and not trajectory.reward.valid
    assert "webarena-verified failed" in trajectory.error
