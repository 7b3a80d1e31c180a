"""The embedded web as an environment: its tasks are those of `make_tasks`, and each visit has its own state."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import nullcontext

import httpx
import pytest
from pydantic import ValidationError

from webdojo.browser.config import BrowserConfig
from webdojo.envs import dojo
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Visit
from webdojo.errors import ConfigError, TaskError
from webdojo.recipe import Recipe, load_recipe
from webdojo.reward.rules import Rules
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.kinds import parse_host
from webdojo.sites.taskgen import make_tasks

SHOP = make_tasks(["shop"], [3], 1, seed=0)[0]


# --- tasks ------------------------------------------------------------------------------------


def test_tasks_are_those_of_the_sites() -> None:
    env = Dojo(kinds=["shop", "wiki", "mail"], difficulties=[1, 2], train_sites=20, heldout_sites=10, layout="compact")
    sites = random.Random("training sites").sample(range(HELDOUT_SEED), 20)
    assert env.tasks("train", 50, 3) == make_tasks(env.kinds, sites, 50, 3, [1, 2], "compact")
    heldout = range(HELDOUT_SEED, HELDOUT_SEED + 10)
    assert env.tasks("eval", 50, 3) == make_tasks(env.kinds, heldout, 50, 3, [1, 2], "compact")


def test_the_same_seed_gives_the_same_tasks() -> None:
    env = Dojo()
    drawn = env.tasks("train", 40, 3)
    assert drawn != env.tasks("train", 40, 4)
    dojo._tasks_of.cache_clear()
    assert drawn == env.tasks("train", 40, 3)


def test_train_and_heldout_never_share_a_host() -> None:
    env = Dojo()
    train = {task.website for task in env.tasks("train", 2000, 0)}
    heldout = {task.website for task in env.tasks("eval", 2000, 0)}
    assert len(train) > 300
    assert len(heldout) > 150
    assert not train & heldout


def test_host_names_of_training_sites_vary_as_those_of_heldout_ones_do() -> None:
    """Every digit but the first, at its place in the number: none is new at evaluation."""
    numbers = [parse_host(task.website)[1] for task in Dojo().tasks("train", 2000, 0)]
    assert all({n // 10**place % 10 for n in numbers} == set(range(10)) for place in range(6))


def test_training_draws_difficulties_in_the_ratio_of_the_recipe_and_evaluation_alike() -> None:
    env = Dojo(difficulties=[1, 2, 3], difficulty_sampling={1: 0, 3: 4})
    assert Counter(task.difficulty for task in env.tasks("train", 500, 0)) == {2: 100, 3: 400}
    assert Counter(task.difficulty for task in env.tasks("eval", 300, 0)) == {1: 100, 2: 100, 3: 100}
    assert list(env.difficulty_levels()) == [2, 3]


def test_webgym_draws_easy_medium_and_hard_tasks_as_25_to_5_to_1() -> None:
    drawn = Counter((task.difficulty - 1) // 3 for task in load_recipe("webgym-dojo").draw("train", 1860))
    assert [25 * drawn[level] / drawn[0] for level in range(3)] == pytest.approx([25, 5, 1], rel=0.02)


def test_evaluation_may_have_one_task_a_site() -> None:
    env = Dojo(kinds=["shop", "wiki", "mail"], heldout_sites=20, heldout_one_per_site=True)
    tasks = env.tasks("eval", 59, 0)
    assert len({task.website for task in tasks}) == len(tasks) == 59
    assert tasks == env.tasks("eval", 59, 0)
    with pytest.raises(TaskError, match="61 tasks on as many sites need 21 of kind 'shop', and there are 20"):
        env.tasks("eval", 61, 0)


def test_a_run_is_checked_by_one_task_and_the_number_of_all() -> None:
    env = Dojo(kinds=["shop", "wiki", "mail"], heldout_sites=20, heldout_one_per_site=True)
    assert env.samples("eval", 59, 0) == env.tasks("eval", 59, 0)[:1]
    recipe = Recipe(name="r", env=env)
    for tasks in (59, 61):
        recipe = recipe.model_copy(update={"evaluate": recipe.evaluate.model_copy(update={"tasks": tasks})})
        told = pytest.raises(TaskError, match="61 tasks on as many sites") if tasks == 61 else nullcontext()
        with told:
            recipe.check(trains=False, demonstrates=False)


def test_difficulties_are_known_without_drawing_tasks() -> None:
    env = Dojo(kinds=["shop", "mail"], difficulties=[2, 4, 7])
    assert list(env.difficulty_levels()) == [2, 4, 7]
    assert list(env.difficulty_levels()) == sorted({task.difficulty for task in env.tasks("train", 200, 0)})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kinds": ["mall"]}, "unknown kind of site 'mall'"),
        ({"difficulties": [10]}, r"difficulties \[10\]: each kind needs one"),
        ({"difficulties": [1, 2], "difficulty_sampling": {1: 0, 2: 0}}, r"difficulties \[\]: each kind needs one"),
    ],
)
def test_asking_for_what_does_not_exist_is_an_error(options, says) -> None:
    for ask in (lambda env: env.tasks("train", 1, 0), lambda env: env.difficulty_levels()):
        with pytest.raises(TaskError, match=says):
            ask(Dojo(**options))


@pytest.mark.parametrize(
    "options", [{"layout": "wide"}, {"perturbations": 4}, {"kinds": []}, {"difficulties": []}, {"port": 99999}]
)
def test_options_are_checked(options) -> None:
    with pytest.raises(ValidationError):
        Dojo(**options)


def test_a_task_that_is_not_of_this_web_is_refused() -> None:
    with pytest.raises(TaskError, match="is of kind 'bank', and the embedded web has shop, wiki, travel"):
        Dojo().check(SHOP.model_copy(update={"kind": "bank"}))
    with pytest.raises(TaskError, match=r"is about the 'auto' layout.*would show 'compact'"):
        Dojo(layout="compact").check(SHOP)
    Dojo().check(SHOP)
    Dojo().check(SHOP.model_copy(update={"kind": ""}))


def test_it_knows_the_kind_of_its_own_addresses() -> None:
    env = Dojo()
    assert env.kind_of("http://shop-7.localhost/cart") == env.kind_of("http://shop-7.localhost:80/") == "shop"
    for url in ("http://shop-7.localhost:8000/", "https://shop-7.localhost/", "http://example.org/", "about:blank"):
        assert env.kind_of(url) == ""


def test_it_has_a_verdict_and_an_oracle() -> None:
    assert isinstance(Dojo().reward, Rules)
    assert Dojo().oracle is not None


def test_servers_elsewhere_need_a_port_that_stays() -> None:
    with pytest.raises(ConfigError, match=r"env\.port is 0.*--hosts '\*\.localhost:80=ADDRESS:PORT'"):
        Dojo().check_browser(BrowserConfig(servers=["http://10.0.0.7:8400"]))
    Dojo(port=8123).check_browser(BrowserConfig(servers=["http://10.0.0.7:8400"]))


# --- visits -----------------------------------------------------------------------------------


def get(env: Dojo, visit: Visit, path: str = "/") -> httpx.Response:
    (address,) = env.hosts.values()
    headers = {**visit.headers, "Host": visit.task.website}
    return httpx.get(f"http://{address}{path}", headers=headers)


async def test_visits_are_kept_apart_and_forgotten() -> None:
    async with Dojo() as env:
        assert list(env.hosts) == ["*.localhost:80"]
        one, other = await env.visit(SHOP), await env.visit(SHOP)
        assert one.start_url == SHOP.start_url
        assert get(env, one).status_code == 200
        assert set(await env.state(one)) == {SHOP.website}
        assert await env.state(other) == {}
        assert not await env.is_over(one)
        await env.leave(one)
        assert await env.state(one) == {}
        with pytest.raises(TaskError, match="is of kind 'bank'"):
            await env.visit(SHOP.model_copy(update={"kind": "bank"}))


async def test_a_page_of_somebody_else_gets_no_headers() -> None:
    async with Dojo() as env:
        visit = await env.visit(SHOP.model_copy(update={"kind": "", "start_url": "http://a.example/"}))
        assert (visit.headers, visit.start_url) == ({}, "http://a.example/")
        await env.leave(visit)


async def test_the_layout_is_that_of_the_environment() -> None:
    compact = make_tasks(["shop"], [3], 1, seed=0, layout="compact")[0]
    pages = []
    for env, task in ((Dojo(), SHOP), (Dojo(layout="compact"), compact)):
        async with env:
            pages.append(get(env, await env.visit(task)).text)
    assert pages[0] != pages[1]


async def test_the_seed_of_a_visit_draws_its_perturbations() -> None:
    async with Dojo(perturbations=3) as env:
        drawn = [(await env.visit(SHOP, seed)).headers for seed in ("a", "a", "b")]
        plain = (await env.visit(SHOP)).headers

    def without_id(headers: dict[str, str]) -> list[tuple[str, str]]:
        ids = {value for value in headers.values() if len(value) == 32}
        return sorted((key, value) for key, value in headers.items() if value not in ids)

    assert without_id(drawn[0]) == without_id(drawn[1]) != without_id(drawn[2])
    assert without_id(plain) != without_id(drawn[0])


async def test_it_starts_again_after_it_was_closed() -> None:
    env = Dojo()
    for _ in range(2):
        async with env:
            assert get(env, await env.visit(SHOP)).status_code == 200
    with pytest.raises(AssertionError, match="the environment has not started"):
        _ = env.hosts


def test_a_split_that_is_none_is_refused_and_gives_no_held_out_tasks() -> None:
    with pytest.raises(TaskError, match="split 'evl' is none of train, eval"):
        Dojo().tasks("evl", 3, 0)  # type: ignore[arg-type]
