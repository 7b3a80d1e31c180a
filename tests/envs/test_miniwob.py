"""MiniWoB++ as an environment: the page ends the episode and gives the reward (`tests/tasks/test_miniwob.py` plays)."""

from __future__ import annotations

import httpx
import pytest

from tests.rollout.records import trajectory
from webdojo.envs.miniwob import Miniwob, PageReward
from webdojo.errors import TaskError
from webdojo.reward.gate import Scorer
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.tasks.miniwob import HOST, load, page_names
from webdojo.types import Parsed, Reward, Termination, Trajectory

CLICK = next(task for task in load() if task.metadata["env"] == "click-test")
SHOP = make_tasks(["shop"], [3], 1, seed=0)[0]


def played(raw_reward: float | None, termination: Termination = Termination.COMPLETED, *errors: str) -> Trajectory:
    """An episode on a page that ended with a reward, or did not end."""
    episode = trajectory(CLICK, 0)
    page = {"done": raw_reward is not None, "raw_reward": raw_reward or 0.0}
    episode.reward, episode.termination, episode.state = None, termination, {HOST: page}
    malformed = [episode.turns[0].model_copy(update={"parsed": Parsed(error=error)}) for error in errors]
    episode.turns = malformed + episode.turns
    return episode


async def score(episode: Trajectory) -> Reward:
    await Scorer(Miniwob().reward, MemoryImages()).score(episode)
    assert episode.reward is not None
    return episode.reward


@pytest.mark.parametrize(
    ("raw_reward", "value", "success"),
    [(1.0, 1.0, True), (0.25, 0.25, True), (0.0, 0.0, False), (-1.0, 0.0, False), (None, 0.0, False)],
)
async def test_a_positive_reward_of_the_page_is_a_success(raw_reward, value, success) -> None:
    reward = await score(played(raw_reward))
    assert (reward.value, reward.success, reward.valid) == (value, success, True)


async def test_the_page_needs_neither_done_nor_an_answer_but_turns_without_format_errors() -> None:
    assert (await score(played(1.0))).success
    malformed = await score(played(1.0, Termination.COMPLETED, "no think end tag"))
    assert (malformed.value, malformed.success) == (0, True)
    assert (await score(played(1.0, Termination.FORMAT_ERROR))).value == -1
    assert not (await score(played(1.0, Termination.ENV_ERROR))).valid


async def test_a_visit_that_never_saw_its_page_scores_zero() -> None:
    lost = played(None).model_copy(update={"state": {}})
    reward = await score(lost)
    assert (reward.value, reward.reason) == (0, "the page did not end its episode")


def test_no_page_scores_a_task_of_another_kind() -> None:
    with pytest.raises(TaskError, match=r"is not of MiniWoB\+\+, so no page scores it"):
        PageReward().check(SHOP)
    with pytest.raises(TaskError, match=r"is of kind 'shop', and this environment has MiniWoB\+\+ alone"):
        Miniwob().check(SHOP)
    Miniwob().check(SHOP.model_copy(update={"kind": ""}))


def test_training_and_evaluation_have_seeds_of_their_own() -> None:
    env = Miniwob(seeds=[0, 5], eval_seeds=[7], pages=["click-test", "enter-text"])
    train, held_out = env.tasks("train", 100, 0), env.tasks("eval", 100, 0)
    assert [task.id for task in train] == [f"miniwob:{page}:{s}" for page in env.pages for s in (0, 5)]
    assert [task.id for task in held_out] == ["miniwob:click-test:7", "miniwob:enter-text:7"]
    assert list(env.tasks("train", 3, 0)) == list(train[:3])
    assert len(Miniwob().tasks("eval", 10_000, 0)) == 2 * len(page_names())
    with pytest.raises(TaskError, match=r"no page 'click-tst' \(env\.pages\); it has .*click-test"):
        Miniwob(pages=["click-tst"]).tasks("train", 1, 0)


async def test_visits_are_kept_apart_and_forgotten() -> None:
    async with Miniwob() as env:
        (served,) = [address for pattern, address in env.hosts.items() if pattern == f"{HOST}:80"]
        one, other = await env.visit(CLICK), await env.visit(CLICK)
        assert one.start_url == CLICK.start_url
        assert one.id != other.id
        path = CLICK.start_url.partition(HOST)[2]
        async with httpx.AsyncClient() as client:
            answer = await client.get(f"http://{served}{path}", headers={**one.headers, "Host": HOST})
        assert answer.status_code == 200
        assert set(await env.state(one)) == {HOST}
        assert await env.state(other) == {}
        assert not await env.is_over(one)
        await env.leave(one)
        assert await env.state(one) == {}
        with pytest.raises(TaskError, match="is of kind 'shop'"):
            await env.visit(SHOP)
