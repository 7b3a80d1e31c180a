"""The world of the shop and its tasks, as far as they need no shop."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.oscar import Oscar
from webdojo.envs.apps.oscar.world import make_world
from webdojo.envs.apps.verdict import check
from webdojo.sites import HELDOUT_SEED

SHOP = Oscar()


def names(world: dict[str, Any]) -> Iterator[str]:
    """All that names something in a world, and what reviews say."""
    yield from (product["title"] for product in world["products"])
    yield from (person["email"] for person in world["customers"])
    yield from (person["last"] for person in world["customers"])
    yield from (order["number"] for order in world["orders"])
    yield from (text for review in world["reviews"] for text in (review["title"], review["body"]))


def test_the_same_seed_gives_the_same_world() -> None:
    assert make_world(5) == make_world(5)
    assert make_world(5) != make_world(6)


def test_training_and_heldout_worlds_share_nothing() -> None:
    train = {name for seed in range(8) for name in names(make_world(seed))}
    heldout = {name for seed in range(HELDOUT_SEED, HELDOUT_SEED + 8) for name in names(make_world(seed))}
    assert len(train) > 1000
    assert not train & heldout


@pytest.mark.parametrize("seed", [0, HELDOUT_SEED])
def test_a_world_has_hundreds_of_records_and_one_of_each_name(seed: int) -> None:
    world = make_world(seed)
    assert sum(len(world[kind]) for kind in ("products", "customers", "orders", "reviews")) == 480
    for kind, name in (("products", "title"), ("products", "slug"), ("customers", "last"), ("orders", "number")):
        assert len({each[name] for each in world[kind]}) == len(world[kind])
    assert len({(each["product"], each["customer"]) for each in world["reviews"]}) == len(world["reviews"])
    mine = [order for order in world["orders"] if order["customer"] == 2]
    assert len(mine) == 12


@pytest.mark.parametrize("template", SHOP.templates.values(), ids=lambda template: template.name)
def test_a_template_draws_tasks_that_can_be_judged(template) -> None:
    for seed in (3, HELDOUT_SEED + 3):
        rng = random.Random(1)
        world = SHOP.world(seed)
        tasks = [template.task("oscar", SHOP.host(seed), seed, world, rng, bool(seed > 3)) for _ in range(10)]
        assert len({task.id for task in tasks}) > 1
        for task in tasks:
            check(task)
            assert task.metadata["plan"][-1]["do"] == "done"
            assert "{" not in task.instruction
    assert len(set(template.phrasings)) == 5


def test_a_seed_has_hundreds_of_tasks() -> None:
    tasks = Apps(train_seeds=1).tasks("train", 400, 0)
    assert len({task.id for task in tasks}) == 400
    assert {task.metadata["template"] for task in tasks} == set(SHOP.templates)
    assert {task.difficulty for task in tasks} == {1, 2, 3}
