"""Several episodes of each task, each with a seed of its own, and how many of them may be invalid.

Browsers and engine are stand-ins, so that an episode takes a millisecond; runner and store are the real ones.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from webdojo.errors import BrowserError, EngineError, Failure, WebdojoError
from webdojo.evaluation.metrics import success
from webdojo.loops.episodes import EpisodeRunner
from webdojo.loops.rollouts import EpisodeSpec
from webdojo.progress import Progress
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.store.run import RunStore
from webdojo.types import ImageSource, Reward, Task, Termination, Trajectory

RECIPE = load_recipe("quickstart", ["rollout.concurrency=4", "seed=7"])
How = tuple[Termination, str]
DONE: How = (Termination.COMPLETED, "")
BLOCKED: How = (Termination.START_ERROR, Failure.BLOCKED)
DEAD: How = (Termination.ABORTED, Failure.ENGINE_TIMEOUT)


class Always(RewardFunction):
    """Every finished episode is a success."""

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return Reward(value=1.0, success=True)


def tasks(n: int) -> list[Task]:
    return [Task(id=f"t{k}", instruction="Do it", start_url="http://a/", website=f"site-{k}") for k in range(n)]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., list[Trajectory]]:
    """Runs tasks in one run folder, where it left off; `how` says how an episode ends, by its task and its number."""
    RunStore.create(tmp_path / "run", dump_recipe(RECIPE), {}).close()

    def go(wanted: list[Task], how: Callable[[Task, int], How] = lambda *_: DONE, **given: Any) -> list[Trajectory]:
        begun = 0

        async def episode(spec: EpisodeSpec, *_: Any) -> Trajectory:
            nonlocal begun
            begun += 1
            termination, failure = how(spec.task, begun)
            await asyncio.sleep(0.001 * (begun % 3))
            return Trajectory(
                id=spec.trajectory_id,
                task=spec.task,
                group=spec.group,
                seed=spec.seed,
                turns=[],
                termination=termination,
                failure=failure,
                answer="yes" if termination is Termination.COMPLETED else None,
            )

        async def work(store: RunStore) -> list[Trajectory]:
            async with Scorer(Always(), store.images) as scorer:
                rollouts = cast(Any, SimpleNamespace(run=episode))
                runner = EpisodeRunner(RECIPE, store, rollouts, harness=cast(Any, None), scorer=scorer)
                bar = Progress("eval", None)
                return await runner.run_tasks(wanted, cast(Any, None), "eval", 0, RECIPE.evaluate, bar, **given)

        with RunStore.open(tmp_path / "run") as store:
            return asyncio.run(work(store))

    return go


def test_each_task_runs_so_often_each_time_with_another_seed(run: Callable[..., list[Trajectory]]) -> None:
    done = run(tasks(3) * 4)
    assert Counter(each.seed for each in done) == {f"7/t{k}/{n}": 1 for k in range(3) for n in (1, 2, 3, 4)}
    assert len({each.id for each in done}) == 12
    assert (success(done).tasks, success(done).runs) == (3, 4)


def test_what_was_invalid_runs_again_and_is_told(
    run: Callable[..., list[Trajectory]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "webdojo")
    run(tasks(3), lambda task, _: (Termination.TIMEOUT, "") if task.id == "t1" else DONE, max_invalid=1)
    assert "again" not in caplog.text
    assert len(run(tasks(3))) == 3
    assert "eval: running 1 task again, whose episodes were invalid" in caplog.text
    caplog.clear()
    run(tasks(3))
    assert "again" not in caplog.text


def test_what_was_cut_off_goes_on_with_the_runs_that_are_left(run: Callable[..., list[Trajectory]]) -> None:
    class Killed(WebdojoError):
        pass

    def dies(task: Task, number: int) -> How:
        if number == 5:
            raise Killed
        return DONE

    for _ in range(2):
        with pytest.raises(Killed):
            run(tasks(3) * 4, dies)
    before: list[int] = []

    def counts(task: Task, number: int) -> How:
        before.append(number)
        return DONE

    done = run(tasks(3) * 4, counts)
    assert 0 < len(before) < 12, "nothing was stored before, or nothing was left"
    assert Counter(each.seed for each in done) == {f"7/t{k}/{n}": 1 for k in range(3) for n in (1, 2, 3, 4)}


def test_an_invalid_run_is_repeated_under_its_own_seed_and_more_runs_may_follow(
    run: Callable[..., list[Trajectory]],
) -> None:
    first = run(tasks(4) * 2, lambda task, number: BLOCKED if number == 2 else DONE)
    (blocked,) = [each.seed for each in first if each.termination is Termination.START_ERROR]
    repeated = run(tasks(4) * 2)
    assert {each.seed: each.reward.success for each in repeated if each.reward}[blocked]
    assert len(repeated) == 8
    assert {each.seed for each in run(tasks(4) * 3)} - {each.seed for each in repeated} == {
        f"7/t{k}/3" for k in range(4)
    }


def test_too_many_invalid_episodes_end_it_as_the_recipe_says(run: Callable[..., list[Trajectory]]) -> None:
    half = lambda task, number: BLOCKED if int(task.id[1:]) % 2 else DONE  # noqa: E731
    with pytest.raises(BrowserError, match="2 of 4 episodes"):
        run(tasks(4), half)
    assert len(run(tasks(4), half, max_invalid=0.5)) == 4
    with pytest.raises(BrowserError, match="2 of 4 episodes"):
        run(tasks(4), half, max_invalid=0.4)


def test_a_benchmark_measures_past_sites_that_turn_robots_away(run: Callable[..., list[Trajectory]]) -> None:
    """30 of them follow one another, which elsewhere says that the web is gone."""
    blocked = lambda task, number: DONE if int(task.id[1:]) < 4 else BLOCKED  # noqa: E731
    found = success(run(tasks(34), blocked, max_invalid=1.0))
    assert (found.n, found.successes, found.valid_n, found.valid_rate) == (34, 4, 4, 1.0)
    assert found.invalid == {"blocked": 30}
    with pytest.raises(BrowserError, match="episodes one after the other"):
        run(tasks(34), blocked, max_invalid=0.99)


def test_a_dead_engine_is_an_error_also_of_a_benchmark(run: Callable[..., list[Trajectory]]) -> None:
    with pytest.raises(EngineError, match="8 episodes one after the other"):
        run(tasks(34), lambda task, number: DONE if number < 4 else DEAD, max_invalid=1.0)


def test_a_dead_engine_is_found_between_sites_that_fail(run: Callable[..., list[Trajectory]]) -> None:
    either = lambda task, number: DONE if number < 4 else BLOCKED if number % 2 else DEAD  # noqa: E731
    with pytest.raises(EngineError, match="8 episodes one after the other"):
        run(tasks(34), either, max_invalid=1.0)


def test_where_nothing_is_valid_there_is_no_number(run: Callable[..., list[Trajectory]]) -> None:
    with pytest.raises(BrowserError, match="3 of 3 episodes"):
        run(tasks(3), lambda task, number: BLOCKED, max_invalid=1.0)
