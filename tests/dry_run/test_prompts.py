"""Whether prompts fit, and what a harness of one's own does wrong, before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from webdojo.cli import app
from webdojo.dry_run.prompts import RoughCodec, check_prompts, shortest_prompt
from webdojo.errors import ConfigError
from webdojo.loops.models import estimates
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.recipe import load_recipe, recipe_names

SWAPPED = """
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
class Swapped(OpenWebRLConfig):
    def build(self, codec):
        return OpenWebRLHarness(codec, self)
class Broken(OpenWebRLConfig):
    def build(self, codec):
        return Silent(self, codec)
class Silent(OpenWebRLHarness):
    def parse(self, text):
        return text.words
"""


def test_a_context_without_room_for_a_screenshot_is_refused() -> None:
    given = ["rollout.max_context_tokens=2200", "evaluate.sampling.max_tokens=1024"]
    with pytest.raises(
        ConfigError, match=r"2,200 leaves 1,176 tokens .* a screenshot of 1,280 and the protocol; raise"
    ):
        estimates(load_recipe("openwebrl-80gb", given))
    with pytest.raises(ConfigError, match=r"beside rollout\.sampling\.max_tokens 96"):
        estimates(load_recipe("quickstart", ["rollout.max_context_tokens=350", "evaluate.sampling.max_tokens=8"]))


def test_the_bound_is_that_of_the_models_own_tokens() -> None:
    processor = load_processor(model_folder("tiny"))
    needed = shortest_prompt(load_recipe("quickstart"), processor).tokens
    for most, passes in ((needed + 96, True), (needed + 95, False)):
        recipe = load_recipe("quickstart", [f"rollout.max_context_tokens={most}"])
        if passes:
            assert check_prompts(recipe, processor, trains=True) == []
        else:
            with pytest.raises(ConfigError, match=f"the shortest takes {needed}"):
                check_prompts(recipe, processor, trains=True)


def test_screenshots_that_do_not_fit_are_noted() -> None:
    recipe = load_recipe("openwebrl", ["rollout.max_context_tokens=8192", "harness.screenshots_kept=8"])
    (note,) = check_prompts(recipe, RoughCodec(32), trains=False)
    assert note.startswith("the harness keeps 8 screenshots, but a prompt of 4,096 tokens ")
    assert "has room for 2: " in note


@pytest.mark.parametrize("name", recipe_names())
def test_the_prompts_of_every_recipe_fit(name: str) -> None:
    assert check_prompts(load_recipe(name), RoughCodec(28), trains=True) == []


@pytest.mark.parametrize("command", [["train", "--dry-run"], ["train"], ["eval", "--model", "tiny"]])
def test_prompts_are_tried_before_a_run_begins(command: list[str], tmp_path: Path) -> None:
    options = ["--run", str(tmp_path / "run"), "rollout.max_context_tokens=190"]
    done = CliRunner().invoke(app, [command[0], "quickstart", *command[1:], *options])
    assert isinstance(done.exception, ConfigError), done.output
    assert "rollout.max_context_tokens 190 leaves 94 tokens for a prompt" in str(done.exception)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "where"),
    [("Swapped", r"\(swapped.py, line 5\)"), ("Broken", r"\(swapped.py, line 11\): AttributeError: .*'words'")],
)
def test_a_harness_of_ones_own_that_fails_is_named(name: str, where: str, tmp_path: Path) -> None:
    (tmp_path / "swapped.py").write_text(SWAPPED)
    with pytest.raises(ConfigError, match=rf"harness '.*swapped.py:{name}' failed in .*{where}"):
        estimates(load_recipe("quickstart", [f"harness={tmp_path / 'swapped.py'}:{name}"]))
