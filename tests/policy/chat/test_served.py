"""Asking an endpoint which model it serves."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from tests.policy.chat.endpoint import Endpoint
from webdojo.cli.keys import recipe_and_model
from webdojo.errors import ConfigError


def test_the_model_of_an_address_is_the_one_that_is_served_there() -> None:
    with Endpoint(models=["one"]) as endpoint:
        recipe, loaded = recipe_and_model("eval", "quickstart", ["seed=3"], endpoint.url, "")
    assert (recipe.engine.serves(loaded), recipe.engine.name, loaded) == ("one", "chat", "tiny")
    assert recipe.engine.model_dump()["base_url"] == endpoint.url


@pytest.mark.parametrize(
    ("models", "reason"),
    [(["one", "two"], "serves 2 models (one, two)"), ([], "does not say which model it serves (status 404)")],
)
def test_an_address_that_does_not_tell_one_model_asks_for_its_name(models: Sequence[str], reason: str) -> None:
    with Endpoint(models=models) as endpoint:
        wanted = f"{endpoint.url} {reason}: name one by --endpoint {endpoint.url} --model NAME"
        with pytest.raises(ConfigError, match=f"^{re.escape(wanted)}$"):
            recipe_and_model("eval", "quickstart", [], endpoint.url, "")


def test_an_address_where_nobody_listens_says_so() -> None:
    with pytest.raises(ConfigError, match=r"http://127.0.0.1:9/v1 does not answer \(.*\): name one by --endpoint"):
        recipe_and_model("eval", "quickstart", [], "http://127.0.0.1:9/v1", "")


def test_two_addresses_are_one_too_many() -> None:
    with pytest.raises(ConfigError, match="--model http://a/v1 is an address, and --endpoint is one, too"):
        recipe_and_model("eval", "quickstart", [], "http://a/v1", "http://b/v1")
