"""A loss and an advantage of one's own, from a file; and the recipe, which reads all records without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from transformers import PreTrainedModel

from tests.policy.conftest import Images
from tests.trainer.conftest import MakeSamples
from tests.trainer.records import prompt, response, trajectory, turn
from webdojo.errors import ConfigError
from webdojo.policy.model.processor import Processor
from webdojo.recipe import load_recipe
from webdojo.rollout.config import RolloutConfig
from webdojo.trainer.batch import samples_from_groups
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.explain import explain
from webdojo.trainer.learner.learner import Learner

MINE = """
from webdojo.trainer.advantages import Advantage, by_group
from webdojo.trainer.losses import Loss


def ratio_times_advantage(logprobs_T, tokens, bounds):
    return -(logprobs_T - tokens.prox_logprobs).exp() * tokens.advantages


unclipped = Loss(ratio_times_advantage, lambda bounds: "-ρ A_i")
doubled = Advantage(lambda groups: by_group(groups, lambda R: [2 * r for r in R], least=1), "2 R_i")
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


def test_a_step_with_a_loss_and_an_advantage_of_ones_own(
    loaded: tuple[PreTrainedModel, Processor], images: Images, make_samples: MakeSamples, mine: Path
) -> None:
    config = TrainConfig.model_validate({"policy_loss": f"{mine}:unclipped", "advantage": f"{mine}:doubled"})
    group = [trajectory([turn(prompt([1, 2]), response([5]))], reward) for reward in (1.0, 0.5)]
    assert [sample.advantage for sample in samples_from_groups([group], config)] == [2.0, 1.0]
    metrics = Learner(*loaded, images, config).train_policy(make_samples(4), 1.0)
    assert metrics["grad_norm"] > 0
    assert "clip_fraction" not in metrics
    text = explain(config, RolloutConfig())
    assert f"ℓ    = -ρ A_i  ({mine}:unclipped)" in text
    assert f"A_i  = 2 R_i, over valid trajectories  ({mine}:doubled)" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy_loss": "gsp0"}, "unknown loss 'gsp0'; did you mean 'gspo'"),
        ({"policy_loss": "ppo"}, "unknown loss 'ppo'; did you mean 'clip'"),
        ({"advantage": "dr-grpo"}, "unknown advantage 'dr-grpo'; did you mean 'dr_grpo'"),
        ({"normalizer": "dapoo"}, "unknown normalizer 'dapoo'; did you mean 'dapo'"),
        ({"correction": "icepopp"}, "unknown correction 'icepopp'; did you mean 'icepop'"),
        ({"kl_estimator": "k4"}, "unknown KL estimator 'k4'; did you mean 'k"),
        ({"policy_loss": "webdojo.trainer.losses:clip"}, r"is a function, and must be a webdojo.*\.Loss"),
    ],
)
def test_a_wrong_name_is_refused_with_the_nearest(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainConfig.model_validate(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"old_logprobs": "loglinear"}, "is for policy_loss 'decoupled', not"),
        ({"dual_clip": 3.0}, "has no dual clip"),
    ],
)
def test_what_a_loss_of_ones_own_does_not_say_is_not_assumed(
    mine: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        TrainConfig.model_validate({"policy_loss": f"{mine}:unclipped"} | options)


def text(name: str, *overrides: str) -> str:
    """What `webdojo explain` prints of a recipe."""
    recipe = load_recipe(name, list(overrides))
    return explain(recipe.train, recipe.rollout)


def test_an_explanation_says_what_trains_and_how_far_episodes_go() -> None:
    gym = text("webgym")
    assert "ρ" not in gym and "π_prox" not in gym, "a ratio that the loss does not have"
    assert "A_i  = 1[R_i > 0], over valid trajectories\n" in gym
    assert "w    = 1 / 512  (webgym)" in gym
    assert "fixed batches: the next 512 groups that end train, whatever their rewards" in gym
    assert "episodes of at most 30 turns (10 up to difficulty 3, 20 up to difficulty 6)" in gym
    rl = text("openwebrl")
    assert "ρ    = π_θ(k) / π_prox(k)" in rl
    assert "dynamic sampling: as many groups as give 48 whose rewards differ\n" in rl
    assert "iterations 1 to 90: episodes of at most 15 turns\n" in rl
    assert "iterations 91 to 140: episodes of at most 30 turns\n" in rl
    raft = text("asyncwebrl_raft", "train.dynamic_sampling=true", "train.schedule=cosine")
    assert "whose rewards differ, one of them positive" in raft
    assert "lr falls from iteration to iteration" in raft


def test_an_explanation_leaves_none_of_the_usual_questions_open() -> None:
    rl = text("openwebrl")
    assert "std with n - 1" in rl
    assert "invalid trajectories add no term, and count among the 240\n" in rl
    assert "valid trajectories with A_i ≠ 0\n" in rl
    assert "its batch's part of L times (turns of the update / turns of the batch)" in rl
    assert "staleness: none" in rl
    late = text("asyncwebrl")
    assert "a token more than 2 versions older than the weights that would train on it is dropped" in late
    kl = text("webagent_r1", "train.normalizer=dapo", "rollout.sampling.temperature=0.7")
    assert "KL   = π_ref/π - 1 - log(π_ref/π), at temperature 0.7  (k3)\n" in kl
    assert "those with A_i = 0 by the other terms alone" in kl
    assert "count among" not in kl, "the mean over tokens has those of valid trajectories alone"


def test_the_recipe_and_its_explanation_load_no_torch() -> None:
    script = (
        "import sys; from webdojo.recipe import load_recipe; from webdojo.trainer.explain import explain\n"
        "recipe = load_recipe('quickstart'); explain(recipe.train, recipe.rollout)\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
