"""What an unknown key may stand for."""

from __future__ import annotations

import pytest

from webdojo.errors import ConfigError
from webdojo.recipe import all_keys, load_recipe
from webdojo.recipe_hints import ALIASES, meant

KEYS = all_keys({})


@pytest.mark.parametrize(
    ("wrong", "keys"),
    [
        ("train.learning_rate", ["train.lr", "sft.lr"]),
        ("sft.learning-rate", ["sft.lr", "train.lr"]),
        ("batch_size", ["train.batch_size", "sft.batch_size"]),
        ("train.beta", ["train.kl_coef"]),
        ("kl_coef", ["train.kl_coef"]),
        ("temperature", ["rollout.sampling.temperature", "evaluate.sampling.temperature"]),
        ("train.group_size", ["rollout.group_size"]),
        ("rollout.temprature", ["rollout.sampling.temperature", "evaluate.sampling.temperature"]),
        ("trian.lr", ["train.lr", "sft.lr"]),
        ("trian", ["train"]),
        ("browser.viewport", ["browser.viewport_px"]),
        ("train.zzzz", []),
    ],
)
def test_the_nearest_keys_of_all_sections(wrong: str, keys: list[str]) -> None:
    assert meant(wrong, KEYS) == keys


def test_every_alias_stands_for_keys_that_there_are() -> None:
    assert {key for keys in ALIASES for key in keys} <= set(KEYS)
    aliases = [alias for names in ALIASES.values() for alias in names.split()]
    assert len(aliases) == len(set(aliases))


def test_where_nothing_is_near_no_list_of_keys_follows() -> None:
    with pytest.raises(ConfigError, match="unknown key") as wrong:
        load_recipe("quickstart", ["train.zzzz=1"])
    assert str(wrong.value).endswith(
        "docs/recipes.md explains all keys, and `webdojo train RECIPE --dry-run --full` prints them"
    )
