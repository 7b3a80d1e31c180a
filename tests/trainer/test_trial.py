"""What somebody's own loss, advantage or other part of `train` does wrong is one line before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from webdojo.cli import app
from webdojo.errors import ConfigError
from webdojo.recipe import load_recipe
from webdojo.trainer.config import NAMED_PARTS, TrainConfig
from webdojo.trainer.trial import try_parts

BAD = """
from webdojo.trainer.advantages import Advantage, Normalizer
from webdojo.trainer.losses import Correction, KLEstimator, Loss

loss = lambda function: Loss(function, lambda bounds: "m")
scalar = loss(lambda lp, t, c: -((lp - t.prox_logprobs).exp() * t.advantages).mean())
detached = loss(lambda lp, t, c: -lp.detach() * t.advantages)
number = loss(lambda lp, t, c: 0.5)


def misspelt(lp, t, c):
    return lp * t.advantage


raises = loss(misspelt)
too_few = loss(lambda lp, t: lp)
floats = Advantage(lambda groups: [[r - 1 for r in group] for group in groups], "R")
short = Advantage(lambda groups: [[1.0] for group in groups], "R")
nan = Advantage(lambda groups: [[float("nan") for r in group] for group in groups], "R")
words = Normalizer(lambda turn, k: "much", "w")
whole = Correction(lambda log_q, turns: log_q.sum(), "c")
of_means = KLEstimator(lambda lp, ref: (lp - ref).mean(), "k")
"""
TEXT = """
from webdojo.trainer.losses import Loss
loss = Loss(function=lambda lp, t, c: lp, formula="text")
"""


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "bad.py"
    file.write_text(BAD)
    return file


@pytest.mark.parametrize(
    ("key", "name", "message"),
    [
        ("policy_loss", "scalar", r"loss '.*bad.py:scalar' gave a tensor of shape \[\] for 5 tokens, .* shape \[5\]"),
        ("policy_loss", "number", "gave 0.5 for 5 tokens"),
        ("policy_loss", "detached", "gave values without a gradient"),
        (
            "policy_loss",
            "raises",
            r"bad.py:raises' failed in \w+ \(bad.py, line 12\): AttributeError: .*'advantage'",
        ),
        ("policy_loss", "too_few", "failed: TypeError: .* takes 2 positional arguments but 3 were given$"),
        ("advantage", "floats", r"advantage '.*bad.py:floats' failed in .* \(bad.py, line 17\): TypeError"),
        ("advantage", "short", r"advantage '.*bad.py:short' gave \[\[1.0\], \[1.0\]\] for groups of \[4, 4\] members"),
        ("advantage", "nan", "one finite number for each member"),
        ("normalizer", "words", "normalizer '.*bad.py:words' failed: ValueError"),
        ("correction", "whole", r"correction '.*bad.py:whole' gave a tensor of shape \[\]"),
        ("kl_estimator", "of_means", r"KL estimator '.*bad.py:of_means' gave a tensor of shape \[\]"),
    ],
)
def test_a_part_of_ones_own_that_is_wrong_is_named(bad: Path, key: str, name: str, message: str) -> None:
    config = TrainConfig.model_validate({"old_logprobs": "learner", "kl_coef": 0.1, key: f"{bad}:{name}"})
    with pytest.raises(ConfigError, match=message):
        try_parts(config, 4)


def test_all_that_is_built_in_passes() -> None:
    for key, registry in NAMED_PARTS.items():
        for name in registry.built_in:
            for size in (1, 2, 5):
                try_parts(TrainConfig.model_validate({"old_logprobs": "learner", "kl_coef": 0.1, key: name}), size)
    try_parts(TrainConfig(policy_loss="decoupled", old_logprobs="loglinear"), 5)


@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_it_is_refused_before_a_run_begins(bad: Path, tmp_path: Path, options: list[str]) -> None:
    run = tmp_path / "run"
    done = CliRunner().invoke(
        app, ["train", "quickstart", "--run", str(run), f"train.policy_loss={bad}:scalar", *options]
    )
    assert isinstance(done.exception, ConfigError), done.output
    assert len(done.exception.lines) == 1
    assert not run.exists()


def test_a_formula_that_is_no_function_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.py").write_text(TEXT)
    with pytest.raises(ConfigError, match=r"loss '.*text.py:loss' cannot be imported \(text.py, line 3\): .*formula"):
        load_recipe("quickstart", [f"train.policy_loss={tmp_path / 'text.py'}:loss"])


def test_dr_grpo_divides_by_the_longest_response() -> None:
    def k(*overrides: str) -> float:
        return load_recipe("quickstart", ["rollout.sampling.max_tokens=77", *overrides]).train.k

    assert k("train.normalizer=dr_grpo") == 77
    assert k("train.normalizer=dr_grpo", "train.normalizer_k=10") == 10
    assert k("train.normalizer=asyncwebrl") == 10
