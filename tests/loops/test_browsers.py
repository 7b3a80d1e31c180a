"""Runs whose browsers are on servers: the same episodes as here, and clear words where it cannot work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

from tests.browser_service.served import served_process
from tests.loops.conftest import SmallRecipe
from webdojo.browser_service.wire import TOKEN_VARIABLE
from webdojo.errors import BrowserError, ConfigError
from webdojo.loops.episodes import open_episodes
from webdojo.loops.log import RunLog
from webdojo.loops.pipeline import Pipeline
from webdojo.loops.rollouts import LocalRollouts
from webdojo.loops.start import evaluate_model, train
from webdojo.policy.model.processor import Processor
from webdojo.policy.scripted import ScriptedActor
from webdojo.progress import Progress
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.sites.oracle import Oracle
from webdojo.store.run import RunStore

TOKEN = "a-secret"


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    """A browser server in a process of its own, and the port on which it looks for the embedded sites."""
    port = free_port()
    options = ("--recipe", "quickstart", "--max-sessions", "8", "--hosts", f"*.localhost:80=127.0.0.1:{port}")
    with served_process(*options, token=TOKEN) as (_, url):
        yield url, port


@pytest.fixture
def remote(server: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Overrides that take a recipe's browsers there."""
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    return [f"browser.servers=[{server[0]}]", f"env.port={server[1]}"]


def evaluated(recipe: Recipe, folder: Path) -> list[dict[str, Any]]:
    """The episodes of an evaluation, in the order of their tasks, without what differs from run to run."""
    evaluate_model(recipe, recipe.model.path, folder, resume=False)
    with RunStore.open(folder, readonly=True) as store:
        episodes = sorted(store.trajectories("eval", 0), key=lambda trajectory: trajectory.task.id)
    for episode in episodes:
        episode.id = episode.group = ""
        episode.began, episode.seconds = 0, {}
        for turn in episode.turns:
            turn.began, turn.seconds, turn.response.seconds = 0, {}, {}
    return [episode.model_dump() for episode in episodes]


def test_an_evaluation_on_a_server_is_the_one_of_this_machine(tmp_path: Path, remote: list[str]) -> None:
    small = ["evaluate.tasks=6", "evaluate.max_steps=4", "rollout.concurrency=1"]
    here = evaluated(load_recipe("quickstart", small), tmp_path / "here")
    there = evaluated(load_recipe("quickstart", [*small, *remote]), tmp_path / "there")
    assert sum(len(episode["turns"]) for episode in here) > 6, "the model did nothing"
    assert there == here


def test_a_run_trains_on_a_server(tmp_path: Path, small_recipe: SmallRecipe, remote: list[str]) -> None:
    result = train(small_recipe(*remote, "sft.demos=0"), tmp_path / "run", resume=False)
    assert result["success_base"]["n"] == result["success_rl"]["n"] == 2
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert store.metrics("rl")[0]["effective_groups"] == 1


def test_a_run_goes_on_with_a_server_after_demonstrations_here(
    tmp_path: Path, small_recipe: SmallRecipe, remote: list[str]
) -> None:
    run = tmp_path / "run"
    train(small_recipe("train.iterations=0", "rollout.max_steps=8"), run, resume=False)
    result = train(small_recipe(*remote, "rollout.max_steps=8"), run, resume=True)
    assert result["success_rl"]["n"] == 2
    with RunStore.open(run, readonly=True) as store:
        assert [checkpoint.meta["phase"] for checkpoint in store.checkpoints.all()] == ["sft", "rl"]


def test_what_cannot_work_leaves_no_run_behind(
    tmp_path: Path, small_recipe: SmallRecipe, remote: list[str], server: tuple[str, int]
) -> None:
    with pytest.raises(ConfigError, match=r"sft\.demos = 2: demonstrations need browsers of this machine"):
        train(small_recipe(*remote), tmp_path / "run", resume=False)
    with pytest.raises(ConfigError, match=r"env\.port is 0.*--hosts '\*\.localhost:80=ADDRESS:PORT'"):
        train(small_recipe(f"browser.servers=[{server[0]}]", "sft.demos=0"), tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["browser.viewport_px=[400,320]"], r"viewport of \[320, 320\], the recipe one of \[400, 320\]"),
        ([f"env.port={free_port()}"], r"does not reach the environment 'dojo': http.*--hosts '\*\.localhost:80="),
    ],
)
async def test_a_server_that_does_not_fit_is_named_before_the_first_episode(
    tmp_path: Path, small_recipe: SmallRecipe, remote: list[str], overrides: list[str], reason: str
) -> None:
    recipe = small_recipe(*remote, *overrides)
    processor = Processor.load(recipe.model.path)
    with RunStore.create(tmp_path / "run", "", {}) as store, pytest.raises(ConfigError, match=reason):
        async with open_episodes(recipe, store, processor):
            pass


async def test_a_wrong_token_is_told_and_a_server_that_is_down_is_passed_over(
    tmp_path: Path,
    small_recipe: SmallRecipe,
    remote: list[str],
    server: tuple[str, int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("webdojo.loops.rollouts.TRY_S", 0.5)
    both = small_recipe(*remote, f"browser.servers=[http://127.0.0.1:9,{server[0]}]")
    processor = Processor.load(both.model.path)
    with RunStore.create(tmp_path / "run", dump_recipe(both), {}) as store, RunLog(store) as log:
        tasks = Pipeline(both, store, log).heldout[:1]
        async with open_episodes(both, store, processor) as runner:
            assert "http://127.0.0.1:9: unreachable" in caplog.text
            visit = await both.env.visit(tasks[0])
            assert isinstance(runner.rollouts, LocalRollouts)
            session = await runner.rollouts.pool.open(visit.start_url, visit.headers)
            assert (await session.observe()).url == f"http://{tasks[0].website}/"
            await session.close()

            bar, actor = Progress("demo", None), ScriptedActor(runner.harness, Oracle)
            with pytest.raises(ConfigError, match="only browsers of this machine let it"):
                await runner.run_tasks(tasks, actor, "demo", 0, both.rollout, bar)
        for given, said in (("wrong", "has another value here"), ("", "is not set here")):
            monkeypatch.setenv(TOKEN_VARIABLE, given)
            with pytest.raises(ConfigError, match=rf"{server[0]} wants its token, and {TOKEN_VARIABLE} {said}"):
                async with open_episodes(both, store, processor):
                    pass


async def test_where_no_server_answers_it_says_what_it_waits_for(
    tmp_path: Path,
    small_recipe: SmallRecipe,
    remote: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("webdojo.loops.rollouts.TRY_S", 0.2)
    down = ["browser.servers=[http://127.0.0.1:9,http://127.0.0.1:10]", "browser.acquire_timeout_s=0.5"]
    recipe = small_recipe(*remote, *down)
    reason = r"0\.5 s .*127\.0\.0\.1:9: unr.*127\.0\.0\.1:10: unr.*: start one with"
    with RunStore.create(tmp_path / "run", "", {}) as store, pytest.raises(BrowserError, match=reason):
        async with open_episodes(recipe, store, Processor.load(recipe.model.path)):
            pass
    assert "waiting up to 0.5 s (browser.acquire_timeout_s) for one of browser.servers" in caplog.text
