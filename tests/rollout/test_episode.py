"""Episodes in real Chromium, with scripted words in the place of a model."""

import asyncio
import json
import re
from typing import Any

import pytest

from tests.rollout.stage import BAD, DONE, IMAGES, NEXT, Stage
from webdojo.browser.interface import Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.dojo import Dojo
from webdojo.envs.web import WebArena
from webdojo.errors import ConfigError, EngineError, EngineLost, EngineTimeout, Failure, TaskError
from webdojo.recipe import load_recipe
from webdojo.reward.function import RewardFunction
from webdojo.trainer.batch import samples_from_groups
from webdojo.types import FinishReason, ImageSegment, ImageSource, Reward, Termination, Trajectory

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def stage(pool: BrowserPool, site: str) -> Stage:
    return Stage(pool, site)


async def test_completed_episode_holds_all_that_happened(stage, site):
    trajectory = await stage.play(NEXT, DONE)
    assert (trajectory.termination, trajectory.answer, trajectory.error) == (Termination.COMPLETED, "7", "")
    assert (trajectory.id, trajectory.group, trajectory.reward) == ("g-0", "g", None)
    assert [turn.observation.url for turn in trajectory.turns] == [f"{site}/start", f"{site}/next"]
    assert trajectory.final is not None
    assert trajectory.final.url == f"{site}/next"
    assert [turn.text for turn in trajectory.turns] == [NEXT, DONE]
    assert [len(turn.feedback) for turn in trajectory.turns] == [1, 1]
    assert trajectory.versions == [3]
    phases = [{"generate", "act", "ready", "observe"}, {"generate", "act", "ready"}]
    assert [set(turn.seconds) for turn in trajectory.turns] == phases
    assert 0 < trajectory.turns[0].seconds["ready"] <= trajectory.turns[0].seconds["act"]
    assert trajectory.turns[1].seconds["ready"] == 0, "`done` waits for nothing"
    assert trajectory.began < trajectory.turns[0].began < trajectory.turns[1].began
    assert trajectory.turns[1].began < trajectory.began + trajectory.seconds["total"]
    for turn, prompt in zip(trajectory.turns, stage.actor.prompts, strict=True):
        assert turn.prompt == prompt
        assert prompt.images == [turn.observation.screenshot]
        assert IMAGES.get(turn.observation.screenshot)[:2] == b"\xff\xd8"
    assert set(trajectory.seconds) == {"start", "generate", "act", "observe", "close", "total"}
    assert stage.actor.session.page.is_closed()


async def test_feedback_and_words_come_back_in_the_next_prompt(stage):
    trajectory = await stage.play(NEXT, DONE)
    text = "".join(
        "[image]" if isinstance(segment, ImageSegment) else stage.codec.decode(list(segment.ids))
        for segment in trajectory.turns[1].prompt.segments
    )
    assert (
        f"{NEXT}\n<|im_start|>user\n<tool_response>\n{trajectory.turns[0].feedback[0].text}\n</tool_response>" in text
    )


async def test_max_steps(stage):
    trajectory = await stage.play(NEXT, NEXT, NEXT, max_steps=2)
    assert (trajectory.termination, trajectory.steps, trajectory.answer) == (Termination.MAX_STEPS, 2, None)
    assert trajectory.final is not None


async def test_three_format_errors_in_a_row_end_it(stage):
    trajectory = await stage.play(BAD, BAD, BAD, DONE)
    assert (trajectory.termination, trajectory.steps) == (Termination.FORMAT_ERROR, 3)
    assert [turn.feedback for turn in trajectory.turns] == [[], [], []]
    ids = [i for s in trajectory.turns[1].prompt.segments if not isinstance(s, ImageSegment) for i in s.ids]
    assert "Error: no tool call after the thought" in stage.codec.decode(ids)


async def test_a_good_turn_forgives_the_count_but_not_the_record(stage):
    trajectory = await stage.play(BAD, BAD, NEXT, BAD, BAD, DONE)
    assert (trajectory.termination, trajectory.steps) == (Termination.COMPLETED, 6)
    assert [turn.parsed.error is None for turn in trajectory.turns] == [False, False, True, False, False, True]


async def test_good_calls_before_a_bad_one_run(stage, site):
    mixed = NEXT.replace("<|im_end|>", '<tool_call>{"name": "fly"}</tool_call><|im_end|>')
    trajectory = await stage.play(mixed, DONE)
    assert trajectory.turns[0].parsed.error is not None
    assert len(trajectory.turns[0].feedback) == 1
    assert trajectory.turns[1].observation.url == f"{site}/next"


async def test_done_ends_it_wherever_it_stands(stage, site):
    trajectory = await stage.play(DONE.replace("<|im_end|>", "") + NEXT)
    assert (trajectory.termination, trajectory.answer) == (Termination.COMPLETED, "7")
    assert trajectory.final is not None
    assert trajectory.final.url == f"{site}/start"


async def test_done_alone_reads_the_page_no_more(stage):
    async def look_away(session: BrowserSession) -> str:
        await session.page.close()
        return DONE

    trajectory = await stage.play(look_away)
    assert (trajectory.termination, trajectory.answer) == (Termination.COMPLETED, "7")
    assert trajectory.final == trajectory.turns[0].observation


async def test_done_after_another_call_is_seen(stage, site):
    trajectory = await stage.play(NEXT.replace("<|im_end|>", "") + DONE.partition("</think>")[2])
    assert (trajectory.termination, trajectory.steps) == (Termination.COMPLETED, 1)
    assert trajectory.final is not None
    assert trajectory.final.url == f"{site}/next"


@pytest.mark.parametrize("end", [DONE, '<think>ok</think><tool_call>{"name": "done", "arguments": {}}</tool_call>'])
async def test_the_answer_of_a_success_trains_and_what_changed_nothing_does_not(stage, end):
    idle = NEXT.replace('"y": 100', '"y": 900')
    trajectory = await stage.play(idle, NEXT, end)
    assert trajectory.termination is Termination.COMPLETED
    assert [turn.same_screen for turn in trajectory.turns] == [True, False, False]
    trajectory.reward = Reward(value=1, success=True)
    trained = samples_from_groups([[trajectory]], load_recipe("webgym").train)
    assert [stage.codec.decode(sample.response_ids) for sample in trained] == [NEXT, end]


async def test_generation_length(stage):
    trajectory = await stage.play("<think>and so on and on", NEXT, finish=FinishReason.LENGTH)
    assert (trajectory.termination, trajectory.steps) == (Termination.GENERATION_LENGTH, 1)
    assert trajectory.final == trajectory.turns[0].observation


async def test_a_cut_response_with_a_whole_call_goes_on(stage, site):
    cut = NEXT.replace("<|im_end|>", '<tool_call>{"name": "cli')
    trajectory = await stage.play(cut, DONE, finish=FinishReason.LENGTH)
    assert trajectory.termination is Termination.COMPLETED
    assert trajectory.turns[0].parsed.error is not None
    assert trajectory.turns[1].observation.url == f"{site}/next"


async def test_context_length(stage):
    first = len((await stage.play(DONE)).turns[0].prompt)
    trajectory = await stage.play(NEXT, NEXT, NEXT, max_context_tokens=first + 64)
    assert (trajectory.termination, trajectory.steps) == (Termination.CONTEXT_LENGTH, 1)
    assert (await stage.play(NEXT, max_context_tokens=first + 63)).turns == []


BACK = '<think>away</think><tool_call>{"name": "goto_url", "arguments": {"url": "%s/start"}}</tool_call><|im_end|>'


async def test_a_page_that_turns_robots_away_is_left_unless_the_agent_gets_past_it(stage, site):
    stage.task.start_url = f"{site}/forbidden"
    wait = '<think>hm</think><tool_call>{"name": "wait", "arguments": {"seconds": 0.1}}</tool_call><|im_end|>'
    given_up = await stage.play(wait, wait, DONE)
    assert (given_up.termination, given_up.failure, len(given_up.turns)) == (Termination.ENV_ERROR, Failure.BLOCKED, 1)
    assert given_up.error == f"{site}/forbidden turns robots away: HTTP 403 (access denied)"
    assert given_up.final is not None
    assert given_up.final.blocked, "what a blocklist counts"
    assert (await stage.play(wait, max_steps=1)).failure == Failure.BLOCKED, "it is not the horizon that ended it"
    past = await stage.play(BACK % site, wait, DONE)
    assert (past.termination, len(past.turns)) == (Termination.COMPLETED, 3)


async def test_an_environment_of_ones_own_keeps_its_agents_on_such_a_page(pool, site):
    stage = Stage(pool, site, WebArena())
    stage.task.start_url = f"{site}/forbidden"
    trajectory = await stage.play(DONE.replace("done", "go_back").replace('"answer": "7"', ""), DONE)
    assert (trajectory.termination, len(trajectory.turns)) == (Termination.COMPLETED, 2)


async def test_a_task_brings_its_log_in(stage, site, tmp_path):
    seen: list[str] = []

    async def look(session: BrowserSession) -> str:
        seen.append(await session.page.evaluate("localStorage.who || 'nobody'"))
        return DONE

    file = tmp_path / "state.json"
    file.write_text(json.dumps({"cookies": [], "origins": [{"origin": site, "localStorage": [_ADA]}]}))
    await stage.play(look)
    stage.task.storage_state = str(file)
    with pytest.raises(TaskError, match=r"task 't' begins logged in .* env\.allow_login=true"):
        await stage.play(look)
    stage.env.allow_login = True
    await stage.play(look)
    assert seen == ["nobody", "ada"]
    stage.task.storage_state = str(tmp_path / "missing.json")
    with pytest.raises(ConfigError, match=r"storage_state of task 't' .*missing\.json"):
        await stage.play(look)


_ADA = {"name": "who", "value": "ada"}


async def test_start_error(stage):
    stage.task.start_url = "http://127.0.0.1:9/"
    trajectory = await stage.play(DONE)
    assert (trajectory.termination, trajectory.turns, trajectory.final) == (Termination.START_ERROR, [], None)
    assert "127.0.0.1:9" in trajectory.error
    assert "\n" not in trajectory.error


async def test_timeout(stage):
    async def hang(session: BrowserSession) -> str:
        await asyncio.sleep(60)
        return DONE

    trajectory = await stage.play(NEXT, hang, task_timeout_s=3)
    assert (trajectory.termination, trajectory.steps) == (Termination.TIMEOUT, 1)
    assert "rollout.task_timeout_s=3" in trajectory.error
    assert stage.actor.session.page.is_closed()


async def test_env_error(stage):
    async def crash(session: BrowserSession) -> str:
        cdp = await session.page.context.new_cdp_session(session.page)
        crashed = asyncio.Event()
        session.page.on("crash", lambda page: crashed.set())
        dying = asyncio.create_task(cdp.send("Page.crash"))  # never answered
        await crashed.wait()
        dying.cancel()
        return NEXT

    trajectory = await stage.play(NEXT, crash, DONE)
    assert trajectory.termination is Termination.ENV_ERROR
    assert trajectory.failure == "tab_crashed"
    assert trajectory.diagnostics["requests"]["2xx"] >= 1
    assert trajectory.error
    assert trajectory.final is None
    assert (await stage.play(DONE)).termination is Termination.COMPLETED  # the pool goes on


async def test_the_death_of_the_browser_is_an_env_error(stage):
    async def kill(session: BrowserSession) -> str:
        browser = session.page.context.browser
        assert browser is not None
        await browser.close()
        return NEXT

    trajectory = await stage.play(NEXT, kill, DONE)
    assert trajectory.termination is Termination.ENV_ERROR
    assert (await stage.play(DONE)).termination is Termination.COMPLETED  # in a new browser


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (EngineError("out of memory at 9 requests"), ""),
        (EngineTimeout("no response within 30 s"), Failure.ENGINE_TIMEOUT),
        (EngineLost("the server is gone"), Failure.ENGINE_LOST),
    ],
)
async def test_engine_failure_aborts(stage, error, failure):
    async def fail(session: BrowserSession) -> str:
        raise error

    trajectory = await stage.play(NEXT, fail)
    assert (trajectory.termination, trajectory.error) == (Termination.ABORTED, str(error))
    assert trajectory.failure == failure
    assert trajectory.steps == 1
    assert stage.actor.session.page.is_closed()


async def test_an_error_that_nothing_names_ends_its_episode_alone_and_leaves_its_traceback(stage):
    async def stumble(session: BrowserSession) -> str:
        raise TypeError("type str doesn't define __round__ method")

    trajectory = await stage.play(NEXT, stumble)
    assert (trajectory.termination, trajectory.failure) == (Termination.ENV_ERROR, Failure.UNEXPECTED)
    assert trajectory.error == "TypeError: type str doesn't define __round__ method"
    assert "in stumble" in trajectory.diagnostics["traceback"]
    assert trajectory.steps == 1
    assert stage.actor.session.page.is_closed()


async def test_cancelling_closes_the_session(stage):
    asked = asyncio.Event()

    async def hang(session: BrowserSession) -> str:
        asked.set()
        await asyncio.sleep(60)
        return DONE

    episode = asyncio.create_task(stage.play(hang))
    await asked.wait()
    episode.cancel()
    with pytest.raises(asyncio.CancelledError):
        await episode
    assert stage.actor.session.page.is_closed()


async def test_a_task_that_the_environment_cannot_do_is_an_error_of_the_user(stage):
    stage.env = Dojo()
    stage.task.kind = "bank"
    with pytest.raises(TaskError, match="is of kind 'bank', and the embedded web has shop, wiki, travel"):
        await stage.play(DONE)


class Looks(RewardFunction):
    """Reads the title of the last page, or fails in the way that it is told."""

    name: str = "looks"
    fails_with: str = ""

    async def evidence(self, trajectory: Trajectory, session: Session) -> dict[str, Any]:
        errors = {"ValueError": ValueError("no"), "TimeoutError": TimeoutError(), "ConfigError": ConfigError("set x")}
        if self.fails_with:
            raise errors[self.fails_with]
        assert trajectory.final is not None and trajectory.answer == "7"
        return {"title": (await session.read(["() => document.title"]))[0].value}

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return Reward(value=1.0, success=True)


async def test_a_reward_reads_its_evidence_before_the_session_closes(stage):
    trajectory = await stage.play(NEXT, DONE, reward=Looks())
    assert (trajectory.termination, trajectory.evidence) == (Termination.COMPLETED, {"title": "/next"})
    assert trajectory.seconds["evidence"] > 0 and stage.actor.session.page.is_closed()
    assert (await stage.play(NEXT, NEXT, max_steps=1, reward=Looks())).evidence == {}


@pytest.mark.parametrize("error", ["ValueError", "TimeoutError"])
async def test_evidence_that_cannot_be_read_makes_the_episode_invalid(stage, error):
    trajectory = await stage.play(NEXT, DONE, reward=Looks(fails_with=error))
    assert (trajectory.termination, trajectory.failure) == (Termination.ENV_ERROR, Failure.REWARD_FAILED)
    told = rf"reward 'looks' failed to read its evidence in evidence \(test_episode\.py, line \d+\): {error}"
    assert re.match(told, trajectory.error)
    assert "traceback" in trajectory.diagnostics and trajectory.evidence == {}


async def test_an_error_of_the_user_in_reading_evidence_ends_the_run(stage):
    with pytest.raises(ConfigError, match="set x"):
        await stage.play(NEXT, DONE, reward=Looks(fails_with="ConfigError"))
