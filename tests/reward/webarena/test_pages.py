"""Evidence of live pages in real Chromium, on a site with a log-in, by local and by remote sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from fastapi import FastAPI
from playwright.async_api import Page

from tests.browser_service.served import Served
from tests.reward.webarena.site import PASSWORD, make_app, serving
from tests.rollout.stage import BROWSER, DONE, IMAGES, Stage
from webdojo.browser.config import ServeConfig
from webdojo.browser.interface import Pool, Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser.tab import MOST_TABS
from webdojo.browser_service.client import RemotePool
from webdojo.envs.web import Web
from webdojo.errors import BrowserError, Failure
from webdojo.gym.env import BrowserEnv
from webdojo.gym.spaces import to_action
from webdojo.redact import redact
from webdojo.reward.gate import Scorer
from webdojo.reward.webarena.reward import WebArenaReward
from webdojo.types import Reward, Task, Termination, ToolCall, Trajectory

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUIET = BROWSER.model_copy(update={"serve": ServeConfig(max_sessions=2)})


def tool(name: str, **arguments: Any) -> str:
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<think>on</think><tool_call>{call}</tool_call><|im_end|>"


LOG_IN = tool("click", x=500, y=100)


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return make_app()


@pytest.fixture(scope="module")
def site(app: FastAPI) -> Iterator[str]:
    with serving(app) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(BROWSER, IMAGES) as pool:
        yield pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote() -> AsyncIterator[RemotePool]:
    served = Served(QUIET)
    await asyncio.to_thread(served.__enter__)
    async with RemotePool([served.url], IMAGES) as pool:
        yield pool
    await asyncio.to_thread(served.__exit__)


def target(url: str, locator: str, **required: Any) -> dict[str, Any]:
    return {"url": url, "locator": locator, "required_contents": required}


def task(site: str, *targets: dict[str, Any], start: str = "/", **spec: Any) -> Task:
    evaluator = {"type": "webarena", "sites": {"__SHOPPING__": site}, "eval_types": ["program_html"], **spec}
    evaluator["program_html"] = list(targets)
    return Task(id="t", instruction="Look", start_url=site + start, website="127.0.0.1", evaluator=evaluator)


async def play(
    pool: Pool[Any], task: Task, *lines: str, reward: WebArenaReward | None = None
) -> tuple[Trajectory, Reward]:
    reward = reward or WebArenaReward()
    reward.check(task)
    stage = Stage(pool, "")
    stage.task = task
    trajectory = await stage.play(*lines, reward=reward)
    await Scorer(reward, IMAGES).score(trajectory)
    assert trajectory.reward is not None
    return trajectory, trajectory.reward


async def judged(trajectory: Trajectory, reward: WebArenaReward | None = None) -> bool:
    """A verdict on what is stored of an episode."""
    stored = Trajectory.model_validate_json(trajectory.model_dump_json())
    return (await (reward or WebArenaReward()).score(stored, IMAGES)).success


@pytest.mark.parametrize("where", ["local", "remote"])
async def test_pages_behind_the_log_in_are_read_after_the_agents_own(
    where: str, pool: BrowserPool, remote: RemotePool, app: FastAPI, site: str
) -> None:
    given = task(
        site,
        target(f"{site}/account", "document.querySelector('#who').outerText", exact_match="emma & co"),
        target("last", "", must_include=["<h1>Welcome</h1>", "nobody |OR| welcome"]),
        target(f"{site}/account", "document.querySelector('.qty').outerText", must_include=["12"]),
        target(f"{site}/account", "document.querySelector('#city').value;", exact_match="Pittsburgh"),
        eval_types=["url_match", "program_html"],
        reference_url=f"{site}/welcome",
    )
    app.state.seen.clear()
    trajectory, reward = await play(pool if where == "local" else remote, given, LOG_IN, DONE)
    assert (trajectory.termination, reward.success, reward.value) == (Termination.COMPLETED, True, 1.0), reward
    assert reward.facts == [True] * 5 and len(reward.fact_names) == 5
    assert app.state.seen == ["/", "/login", "/welcome", "/account"], "each page is opened once, and the last one never"
    found = trajectory.evidence["targets"]
    assert [each["url"] for each in found] == [f"{site}/account", f"{site}/welcome", *[f"{site}/account"] * 2]
    assert [found[0]["value"], found[2]["value"], found[3]["value"]] == ["Emma & Co", "12", "Pittsburgh"]
    assert "evidence" in trajectory.seconds and trajectory.final is not None
    assert [tab.url for tab in trajectory.final.tabs] == [f"{site}/welcome"]
    assert await judged(trajectory)


async def test_without_the_log_in_the_same_pages_say_something_else(pool: BrowserPool, site: str) -> None:
    wanted = target(f"{site}/account", "document.querySelector('#who').outerText", exact_match="emma & co")
    trajectory, reward = await play(pool, task(site, wanted), DONE)
    assert (reward.valid, reward.value) == (True, 0.0)
    assert "error" in trajectory.evidence["targets"][0] and "#who" in reward.reason


async def test_what_is_not_there_is_empty_and_published_as_none(pool: BrowserPool, site: str) -> None:
    nothing = task(site, target(f"{site}/members", "document.querySelector('#none')", must_include=["none"]))
    trajectory, reward = await play(pool, nothing, DONE)
    assert trajectory.evidence["targets"] == [{"url": f"{site}/members", "value": None}]
    assert not reward.success and await judged(trajectory, WebArenaReward(strict_compat=True))


async def test_actions_prepare_a_page(pool: BrowserPool, site: str) -> None:
    late = target("last", "document.querySelector('#late').outerText", exact_match="opened")
    late["prep_actions"] = ["document.querySelector('#more').click();"]
    unprepared = target("last", "document.querySelector('#none').outerText", exact_match="")
    unprepared["prep_actions"] = ["document.querySelector('#none').click()"]
    _, reward = await play(pool, task(site, late, unprepared), LOG_IN, tool("goto_url", url=f"{site}/account"), DONE)
    assert reward.facts == [True, True]


async def test_a_lambda_runs_whole_and_published_without_its_first_letters(pool: BrowserPool, site: str) -> None:
    titled = task(site, target("last", "lambda: async () => document.title", exact_match="login"))
    for strict in (False, True):
        reward = WebArenaReward(dialect="webarena_lite", strict_compat=strict)
        _, found = await play(pool, titled, DONE, reward=reward)
        assert (found.valid, found.success) == (True, not strict)


async def test_scripts_of_a_page_do_not_reach_the_judge(pool: BrowserPool, site: str) -> None:
    text = target("last", "document.querySelector('#x').outerText", exact_match="nothing")
    page = target("last", "", must_include=['<p id="x">nothing</p>'])
    _, reward = await play(pool, task(site, text, page, start="/hostile"), DONE)
    assert reward.facts == [True, True]


@pytest.mark.parametrize("where", ["local", "remote"])
@pytest.mark.parametrize(
    ("path", "says"), [("/broken", "HTTP 503"), ("http://10.0.0.1/", "not a public"), ("ftp://x/", "only http")]
)
async def test_a_page_that_cannot_be_opened_is_the_webs_failure(
    where: str, path: str, says: str, pool: BrowserPool, remote: RemotePool, site: str
) -> None:
    if where == "remote" and path.startswith("ftp"):
        says = "url: String should match"
    url = path if ":" in path else site + path
    wanted = target(url, "document.title", exact_match="down")
    trajectory, reward = await play(pool if where == "local" else remote, task(site, wanted), DONE)
    assert (trajectory.termination, reward.valid) == (Termination.ENV_ERROR, False)
    assert says in trajectory.error
    if says[:3] != "url":
        assert trajectory.failure == Failure.PAGE_UNREACHABLE


async def test_only_a_completed_episode_is_looked_at(pool: BrowserPool, app: FastAPI, site: str) -> None:
    wanted = target(f"{site}/members", "", must_include=["amy"])
    app.state.seen.clear()
    stage, words = Stage(pool, ""), tool("wait", seconds=0.1)
    stage.task = task(site, wanted)
    trajectory = await stage.play(words, words, max_steps=2, reward=WebArenaReward())
    assert (trajectory.termination, trajectory.evidence) == (Termination.MAX_STEPS, {})
    assert app.state.seen == ["/"]


async def test_the_role_of_a_member_stands_in_his_row(pool: BrowserPool, site: str) -> None:
    def role(name: str, **required: str) -> dict[str, Any]:
        return target(f"{site}/members", f'func:gitlab_get_project_memeber_role(__page__, "{name}")', **required)

    members = task(site, role("bob", exact_match="Developer"), role("amy", exact_match="guest"))
    members.evaluator["program_html"] += [role("x');alert('", exact_match=""), role("owner", exact_match="")]
    assert (await play(pool, members, DONE))[1].facts == [True] * 4
    # The published rule takes the role with the number of the account.
    found = (await play(pool, members, DONE, reward=WebArenaReward(strict_compat=True)))[0].evidence["targets"]
    assert [each.get("value") for each in found] == [None, "Reporter", None, "Guest"]


async def test_a_posts_page_is_opened_from_a_comment(pool: BrowserPool, site: str) -> None:
    locator = "document.querySelector('.submission__inner').outerText"
    post = target("func:reddit_get_post_url('__last_url__')", locator, must_include=["post 7 of books"])
    trajectory, reward = await play(pool, task(site, post, start="/f/books/7/title/-/comment/9"), DONE)
    assert reward.success and trajectory.evidence["targets"][0]["url"] == f"{site}/f/books/7/"


async def test_the_shop_is_asked_as_its_administrator(pool: BrowserPool, app: FastAPI, site: str) -> None:
    order = "func:shopping_get_latest_order_url()"
    sku = "func:shopping_get_sku_latest_review_{}('B00/1')"
    given = task(
        site,
        target(order, "document.querySelector('#status').outerText", must_include=["order 191", "pending"]),
        target(order, "", must_include=["pending"]),
        target("last", sku.format("author"), exact_match="Emma"),
        target("last", sku.format("rating"), must_include=["80"]),
    )
    app.state.seen.clear()
    trajectory, reward = await play(pool, given, LOG_IN, DONE)
    assert reward.facts == [True] * 4, reward
    assert app.state.seen.count("/rest/V1/orders") == 1, "the answer may change meanwhile"
    assert app.state.seen.count("/rest/default/V1/integration/admin/token") == 1
    assert trajectory.evidence["targets"][2] == {"url": f"{site}/welcome", "value": "Emma"}
    published = await play(pool, given, LOG_IN, DONE, reward=WebArenaReward(strict_compat=True))
    assert published[1].facts == [False, True, True, False]


async def test_a_shop_without_orders_is_a_failure_of_the_agent(
    pool: BrowserPool, app: FastAPI, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.state, "orders", [])
    monkeypatch.setattr(app.state, "reviews", [])
    order = target("func:shopping_get_latest_order_url()", "", must_include=["x"])
    review = target("last", "func:shopping_get_sku_latest_review_rating('B00/1')", must_include=["80"])
    trajectory, reward = await play(pool, task(site, order, review), DONE)
    assert (reward.valid, reward.facts) == (True, [False, False])
    assert trajectory.evidence["targets"][0] == {"url": "", "error": "there is no such page"}


async def test_a_shop_that_does_not_let_us_in_is_no_failure_of_the_agent(pool: BrowserPool, site: str) -> None:
    order = target("func:shopping_get_latest_order_url()", "", must_include=["x"])
    trajectory, reward = await play(pool, task(site, order), DONE, reward=WebArenaReward(shop_password="wrong"))
    assert not reward.valid and trajectory.failure == Failure.PAGE_UNREACHABLE
    assert "the shop did not answer POST /rest/default/V1/integration/admin/token" in trajectory.error


async def test_what_was_typed_into_a_password_field_is_masked(pool: BrowserPool, site: str) -> None:
    typed = target("last", "document.querySelector('input').value", exact_match=PASSWORD)
    lines = (LOG_IN, tool("write", text=PASSWORD), DONE)
    trajectory, reward = await play(pool, task(site, typed, start="/password"), *lines)
    assert reward.success
    assert PASSWORD not in redact(trajectory, trajectory.secrets).model_dump_json()


async def test_a_session_full_of_tabs_is_looked_at_too(pool: BrowserPool, site: str) -> None:
    session = await pool.open(f"{site}/")
    try:
        for _ in range(MOST_TABS - 1):
            await session.act([ToolCall(name="new_tab", arguments={})])
        assert len(session.tabs) == MOST_TABS
        active = session.active
        (read,) = await session.read(["() => document.title"], f"{site}/members")
        assert (read.value, read.error, session.active) == ("members", "", active)
    finally:
        await session.close()


@pytest.mark.parametrize("where", ["local", "remote"])
async def test_scripts_are_run_in_order_and_their_errors_told(
    where: str, pool: BrowserPool, remote: RemotePool, site: str
) -> None:
    both: Pool[Session] = pool if where == "local" else remote
    session = await both.open(f"{site}/members")
    try:
        scripts = [
            "() => 1.5",
            "() => { throw new Error('no') }",
            "() => [null, {a: 'ü\\ud800'}]",
            "() => ) (",
            "() => {}",
            "1",
        ]
        found = await session.read(scripts)
        assert [each.value for each in found] == [
            1.5,
            None,
            [None, {"a": "ü\ud800" if where == "local" else "ü?"}],
            None,
            None,
            None,
        ]
        assert [bool(each.error) for each in found] == [False, True, False, True, False, True]
        assert "no" in found[1].error and "SyntaxError" in found[3].error
        assert await session.read([], "") == []
        with pytest.raises(BrowserError, match="503"):
            await session.read(["() => 1"], f"{site}/broken")
        assert (await session.observe()).url == f"{site}/members", "the session goes on"
    finally:
        await session.close()


async def test_a_page_that_does_not_close_holds_nobody_up(
    pool: BrowserPool, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await pool.open(f"{site}/members")
    try:
        with monkeypatch.context() as hanging:
            hanging.setattr("webdojo.browser.session.EXIT_TIMEOUT_S", 1)
            hanging.setattr(Page, "close", lambda page: asyncio.Event().wait())
            async with asyncio.timeout(30):
                assert [each.value for each in await session.read(["() => 1"], f"{site}/account")] == [1]
        assert (await session.observe()).url == f"{site}/members", "the session goes on"
    finally:
        await session.close()


async def test_the_gymnasium_environment_reads_the_same_evidence(site: str) -> None:
    wanted = target(f"{site}/account", "document.querySelector('#who').outerText", exact_match="emma & co")

    def steps() -> tuple[float, Trajectory]:
        env = BrowserEnv([task(site, wanted)], Web(), WebArenaReward(), browser=BROWSER)
        try:
            env.reset(seed=0)
            env.step(to_action(ToolCall(name="click", arguments={"x": 500, "y": 100})))
            _, value, terminated, _, info = env.step(to_action(ToolCall(name="done", arguments={"answer": "x"})))
            assert terminated
            return value, info["trajectory"]
        finally:
            env.close()

    value, trajectory = await asyncio.to_thread(steps)
    assert value == 1.0
    assert trajectory.evidence == {"targets": [{"url": f"{site}/account", "value": "Emma & Co"}]}
