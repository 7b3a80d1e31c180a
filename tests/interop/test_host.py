"""Episodes that somebody else's policy drives: scored and stored as in our own loop."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.interop.policies import GIVE_UP, host, recipe, solution, until
from webdojo.agent import toolcall
from webdojo.errors import ConfigError, TaskError
from webdojo.interop.host import EpisodeHost, TaskHost
from webdojo.types import Termination, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")
SCROLL = ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def episodes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EpisodeHost]:
    async with host(tmp_path_factory.mktemp("host") / "run", idle_timeout_s=4) as started:
        yield started


async def test_the_oracle_succeeds_and_its_trajectory_is_stored(episodes):
    task = episodes.choose(seed=1)
    turns = await solution(episodes, task)
    stored = episodes.store.trajectories("test")[-1]
    assert (stored.task.id, stored.termination) == (task.id, Termination.COMPLETED)
    assert stored.reward is not None and stored.reward.value == 1
    assert [list(turn.parsed.calls) for turn in stored.turns] == turns
    assert episodes.store.has_screenshots(stored)


async def test_a_wrong_answer_fails_and_the_episode_is_over(episodes):
    hosted = await episodes.begin(episodes.choose(seed=1), id="wrong")
    step = await hosted.act([SCROLL, GIVE_UP])
    assert (step.terminated, step.truncated) == (True, False)
    assert [each.ok for each in step.feedback] == [True, True]
    assert step.reward is not None and (step.reward.value, step.reward.success) == (0, False)
    with pytest.raises(ConfigError, match="the episode is over"):
        await hosted.act([SCROLL])
    with pytest.raises(ConfigError, match="already"):
        await episodes.begin(episodes.choose(seed=1), id="wrong")


async def test_text_is_read_as_the_harness_reads_it_and_format_errors_end_the_episode(episodes):
    hosted = await episodes.begin(episodes.choose(seed=2))
    call = '{"name": "scroll", "arguments": {"direction": "down", "amount": 0.5}}'
    step = await hosted.act(text=f"<think>look</think><tool_call>{call}</tool_call>")
    assert (step.error, step.feedback[0].ok) == ("", True)
    steps = [await hosted.act(text="I would scroll") for _ in range(3)]
    assert [step.terminated for step in steps] == [False, False, True]
    assert "no think end tag" in steps[0].error
    assert steps[-1].termination is Termination.FORMAT_ERROR
    assert steps[-1].reward is not None and steps[-1].reward.value == -1


async def test_the_text_that_the_docs_show_is_read() -> None:
    page = (Path(__file__).parents[2] / "docs" / "interop.md").read_text()
    (text,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    parsed = toolcall.parse(text)
    assert parsed.error is None
    assert parsed.calls == [ToolCall(name="click", arguments={"x": 500, "y": 300})]


async def test_the_limit_of_steps_truncates(episodes):
    hosted = await episodes.begin(episodes.choose(seed=2))
    steps = [await hosted.act([SCROLL]) for _ in range(6)]
    assert [(step.terminated, step.truncated) for step in steps] == [(False, False)] * 5 + [(False, True)]


async def test_an_episode_that_nobody_asks_for_is_given_up_and_counts_for_nothing(episodes):
    await episodes.begin(episodes.choose(seed=3), id="left")
    await until(lambda: episodes.store.has_trajectory("left"))
    stored = episodes.store.trajectory("left")
    assert stored.reward is not None and not stored.reward.valid
    assert (stored.termination, stored.failure) == (Termination.ABORTED, "caller_lost")


async def test_a_task_that_is_not_there_is_named(episodes):
    task = episodes.choose(seed=1)
    with pytest.raises(TaskError, match=f"did you mean '{task.id}'"):
        episodes.choose(f"{task.id}x")


async def test_a_run_folder_goes_on_with_its_own_recipe_alone(tmp_path):
    for _ in range(2):
        async with TaskHost(recipe(), "test", run=tmp_path / "run", tasks=1):
            pass
    with pytest.raises(ConfigError, match=r"^env of the run in .* cannot change half-way"):
        async with TaskHost(recipe("env.kinds=[shop]"), "test", run=tmp_path / "run", tasks=1):
            pass
