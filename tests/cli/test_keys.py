"""Overrides that a command would not read are refused by name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.commands import one_line_error, webdojo
from webdojo.cli import app
from webdojo.cli.keys import measured_by, recipe_and_model, recipe_for
from webdojo.errors import ConfigError
from webdojo.recipe import Recipe


@pytest.mark.parametrize(
    ("command", "override", "advice"),
    [
        ("eval", "train.lr=1", "does not use train.lr, so 'train.lr=1' would do nothing: leave it out"),
        ("eval", "sft={demos: 3}", "does not use sft"),
        ("eval", "rollout.max_steps=3", "use evaluate.max_steps=…"),
        ("eval", "model.path=mine", "use --model"),
        ("act --url", "tasks.path=mine.jsonl", "`webdojo act --url` does not use tasks.path"),
        ("act", "evaluate.runs=2", "`webdojo act` does not use evaluate.runs"),
        ("record", "collect.noise=0.2", "`webdojo record` does not use collect.noise"),
        ("explain", "browser.viewport_px=[320, 320]", "does not use browser.viewport_px"),
        ("browser serve", "env.port=8000", "`webdojo browser serve` does not use env.port"),
    ],
)
def test_a_key_that_the_command_does_not_use_is_an_error(command: str, override: str, advice: str) -> None:
    with pytest.raises(ConfigError, match="does not use") as refused:
        recipe_for(command, "quickstart", ["browser.locale=de-DE"] * (command == "browser serve") + [override])
    assert advice in str(refused.value)


def test_keys_that_the_command_uses_are_taken() -> None:
    given = ["rollout.max_context_tokens=1500", "model.threads=2", "evaluate.max_steps=4", "seed=3"]
    recipe, loaded = recipe_and_model("eval", "quickstart", given, "gpt: 4", "http://127.0.0.1:1/v1")
    assert loaded == "tiny"
    assert (recipe.rollout.max_context_tokens, recipe.evaluate.max_steps, recipe.seed) == (1500, 4, 3)
    assert recipe.engine.model_dump(include={"name", "base_url", "model"}) == {
        "name": "chat",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "gpt: 4",
    }


def test_a_recipe_that_names_an_endpoint_takes_the_name_of_the_model_there() -> None:
    chat = ["engine.name=chat", "engine.base_url=http://127.0.0.1:1/v1", "engine.model=before"]
    recipe, loaded = recipe_and_model("act", "quickstart", chat, "now", "")
    assert (recipe.engine.serves(loaded), loaded) == ("now", "tiny")
    recipe, loaded = recipe_and_model("act", "quickstart", chat, "", "")
    assert (recipe.engine.serves(loaded), loaded) == ("before", "tiny")
    recipe, loaded = recipe_and_model("act", "quickstart", [], "some/folder", "")
    assert (recipe.engine.serves(loaded), loaded) == ("some/folder", "some/folder")


def test_an_unknown_key_stays_the_first_thing_that_is_said() -> None:
    with pytest.raises(ConfigError, match="unknown key"):
        recipe_for("eval", "quickstart", ["train.lrr=1"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "quickstart", "--train.lr=1e-4"], "no option --train.lr; .*: train.lr=1e-4$"),
        (["train", "quickstart", "--lr", "1e-4"], "no option --lr; .*: train.lr=VALUE or sft.lr=VALUE$"),
        (
            ["train", "quickstart", "--learning-rate", "1e-4"],
            "--learning-rate; .* train.lr=VALUE or sft.lr=VALUE$",
        ),
        (["eval", "quickstart", "--model", "tiny", "--max-turns", "3"], "evaluate.max_steps=VALUE"),
        (["eval", "quickstart", "--model", "tiny", "--tasks=3"], "written without dashes: evaluate.tasks=3$"),
    ],
)
def test_a_key_that_is_written_as_an_option(words: list[str], message: str) -> None:
    said = CliRunner().invoke(app, words)
    assert re.search(message, str(said.exception)), said.output


def test_an_option_that_is_misspelt_stays_one() -> None:
    said = CliRunner().invoke(app, ["train", "quickstart", "--resum"])
    assert said.exit_code == 2
    assert "--resume" in said.output


def test_an_evaluation_takes_judge_protocol_and_runs_as_options() -> None:
    def measured(recipe: str, overrides: list[str], **options: Any) -> Recipe:
        name, given = measured_by(recipe, overrides, **({"protocol": "", "judge": "", "runs": None} | options))
        return recipe_for("eval", name, given)

    plain, judged = (
        measured("quickstart", []),
        measured("quickstart", ["reward.max_images=3"], judge="webvoyager", runs=4),
    )
    assert (judged.reward.name, judged.reward.max_images, judged.evaluate.runs) == ("webvoyager", 3, 4)  # type: ignore[attr-defined]
    by_recipe = measured("online_mind2web", [], judge="online_mind2web-webjudge")
    assert by_recipe.reward == recipe_for("eval", "online_mind2web-webjudge", []).reward
    theirs = measured("quickstart", ["env.kinds=[shop]"], protocol="webvoyager")
    assert (theirs.name, theirs.evaluate, theirs.env.name) == (
        "webvoyager",
        recipe_for("eval", "webvoyager", []).evaluate,
        "dojo",
    )
    assert theirs.env == plain.env.model_copy(update={"kinds": ["shop"]})


@pytest.mark.parametrize("given", [["--env", "miniwob"], ["--records", "tasks.jsonl"]])
def test_another_environment_has_none_of_the_recipes_keys(given: list[str]) -> None:
    assert "openenv is not installed" in one_line_error(webdojo("openenv", "serve", *given))
    wrong = webdojo("openenv", "serve", *given, "env.kinds=[shop]")
    assert "unknown key 'env.kinds'" in one_line_error(wrong)
