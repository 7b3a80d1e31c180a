"""Every objective against a derivation of its own: numpy, float64, one token after the other, from the formulas as the
papers and `webdojo explain` print them; values and gradients, with options on and off."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from tests.trainer.records import prompt, trajectory, turn
from webdojo.policy.model.forward import TokenScores
from webdojo.trainer.advantages import ADVANTAGES, NORMALIZERS
from webdojo.trainer.batch import samples_from_groups
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.losses import CORRECTIONS, KL_ESTIMATORS, LOSSES
from webdojo.trainer.objective import objective
from webdojo.types import FinishReason, Response, Trajectory

VERSION = 5
"""Of the weights that learn."""


@dataclass
class Token:
    """Log-probabilities of one token, and the version that sampled it."""

    new: float
    learner: float
    behave: float
    reference: float
    version: int


@dataclass
class Turn:
    tokens: list[Token]
    same_screen: bool


@dataclass
class Member:
    reward: float
    valid: bool
    turns: list[Turn]


def settings(loss: str, rng: random.Random) -> TrainConfig:
    """A random choice of every option that the loss allows."""
    options: dict[str, Any] = {
        "policy_loss": loss,
        "advantage": rng.choice(list(ADVANTAGES.built_in)),
        "normalizer": rng.choice(list(NORMALIZERS.built_in)),
        "normalizer_k": rng.choice([1.0, 7.0]),
        "clip_low": rng.choice([0.1, 0.2]),
        "clip_high": rng.choice([0.2, 0.28]),
        "kl_coef": rng.choice([0.0, 0.3]),
        "kl_estimator": rng.choice(list(KL_ESTIMATORS.built_in)),
        "entropy_coef": rng.choice([0.0, 0.2]),
        "repetition_penalty": rng.random() < 0.5,
        "dual_clip": rng.choice([0.0, 1.3]) if LOSSES.get(loss).dual_clip else 0.0,
        "behav_imp_weight_cap": rng.choice([0.0, 1.2]),
    }
    if LOSSES.get(loss).decoupled:
        options["old_logprobs"] = rng.choice(["learner", "loglinear"])
    else:
        options["old_logprobs"] = rng.choice(["engine", "learner"])
        options["correction"] = (
            rng.choice(list(CORRECTIONS.built_in)) if options["old_logprobs"] == "learner" else "none"
        )
    return TrainConfig.model_validate(options)


def random_groups(rng: random.Random) -> list[list[Member]]:
    def near(value: float, by: float) -> float:
        return float(np.float32(value + rng.gauss(0, by)))

    def token() -> Token:
        new = near(-1.5, 0.5)
        return Token(new, near(new, 0.3), near(new, 0.4), near(new, 0.3), VERSION - rng.randint(0, 2))

    def member() -> Member:
        turns = [
            Turn([token() for _ in range(rng.randint(1, 6))], rng.random() < 0.3) for _ in range(rng.randint(1, 4))
        ]
        return Member(rng.choice([-1.0, 0.0, 0.5, 1.0]), rng.random() < 0.8, turns)

    return [[member() for _ in range(rng.randint(1, 5))] for _ in range(3)]


def advantages(groups: list[list[Member]], config: TrainConfig) -> list[list[float]]:
    """A_i of each trajectory; that of an invalid one is never looked at."""
    if config.policy_loss in ("raft", "bc"):
        return [[float(m.reward > 0) for m in group] for group in groups]
    everyone = np.array([m.reward for group in groups for m in group if m.valid])
    by_group = [np.array([m.reward for m in group if m.valid]) for group in groups]
    above_all = np.concatenate([R - R.mean() if len(R) > 1 else 0 * R for R in by_group])
    return [
        [advantage(m.reward, R, everyone, above_all, config.advantage) for m in g]
        for g, R in zip(groups, by_group, strict=True)
    ]


def advantage(r: float, R: np.ndarray, everyone: np.ndarray, above_all: np.ndarray, name: str) -> float:
    if name == "reinforce":
        return r
    if name == "reinforce_baseline":
        return r - float(everyone.mean())
    if name == "reinforce_plus_plus":
        return (r - float(everyone.mean())) / (spread(everyone) + 1e-6)
    if len(R) < 2:
        return 0.0
    above = r - float(R.mean())
    if name == "grpo":
        return above / (spread(R) + 1e-6)
    if name == "rloo":
        return r - float(R.sum() - r) / (len(R) - 1)
    if name == "reinforce_plus_plus_baseline":
        return above / (spread(above_all) + 1e-6)
    assert name == "dr_grpo"
    return above


def spread(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def prox(k: Token, config: TrainConfig) -> float:
    """log π_prox."""
    if config.old_logprobs == "engine":
        return k.behave
    if config.old_logprobs == "learner":
        return k.learner
    age = VERSION - k.version
    return k.behave + age / (age + 1) * (k.new - k.behave)


def surrogate(ratio: float, A: float, config: TrainConfig) -> tuple[float, float]:
    """-min(ratio · A, clip(ratio) · A), bounded by c where A < 0; and its derivative by log π."""
    held = min(max(ratio, 1 - config.clip_low), 1 + config.clip_high)
    gain, free = min(ratio * A, held * A), ratio * A <= held * A
    if config.dual_clip and A < 0 and config.dual_clip * A > gain:
        gain, free = config.dual_clip * A, False
    return -gain, -ratio * A if free else 0.0


def policy_loss(k: Token, turn: list[Token], A: float, config: TrainConfig) -> tuple[float, float]:
    """ℓ of a token, and its derivative by log π."""
    rho = float(np.exp(k.new - prox(k, config)))
    match config.policy_loss:
        case "clip" | "raft":
            return surrogate(rho, A, config)
        case "gspo":
            return surrogate(float(np.exp(np.mean([o.new - prox(o, config) for o in turn]))), A, config)
        case "cispo":
            held = min(max(rho, 1 - config.clip_low), 1 + config.clip_high)
            return -held * A * k.new, -held * A
        case "bc":
            return -A * k.new, -A
    assert config.policy_loss == "decoupled"
    weight = float(np.exp(prox(k, config) - k.behave))
    if config.behav_imp_weight_cap and weight > config.behav_imp_weight_cap:
        return 0.0, 0.0
    value, slope = surrogate(rho, A, config)
    return weight * value, weight * slope


def correction(k: Token, turn: list[Token], config: TrainConfig) -> float:
    q = np.exp([prox(o, config) - o.behave for o in turn])
    own, product, mean = float(np.exp(prox(k, config) - k.behave)), float(q.prod()), float(np.exp(np.log(q).mean()))
    return {
        "none": 1.0,
        "tis": min(own, 2.0),
        "icepop": own * (0.5 <= own <= 5),
        "mis_token": own * (own <= 2),
        "mis_sequence": product * (product <= 2),
        "mis_geometric": float(mean <= 2),
    }[config.correction]


def divergence(k: Token, config: TrainConfig) -> tuple[float, float]:
    """The KL estimate of a token, and its derivative by log π."""
    away = k.new - k.reference
    return {
        "k1": (away, 1.0),
        "k2": (away**2 / 2, away),
        "k3": (float(np.exp(-away)) - 1 + away, 1 - float(np.exp(-away))),
    }[config.kl_estimator]


def derived(groups: list[list[Member]], config: TrainConfig) -> tuple[float, dict[int, float]]:
    """The loss, and its gradient by log π of each token (by id)."""
    every = sum(len(t.tokens) for g in groups for m in g if m.valid for t in m.turns)
    total, gradient = 0.0, dict[int, float]()
    for group, row in zip(groups, advantages(groups, config), strict=True):
        for m, A in zip(group, row, strict=True):
            for t in m.turns:
                if not m.valid or (config.repetition_penalty and t.same_screen and A > 0):
                    continue
                n, episodes = len(t.tokens), len(groups) * len(group)
                weight = {
                    "openwebrl": 1 / (episodes * n),
                    "webagent_r1": 1 / (episodes * n * len(m.turns)),
                    "length_norm": 1 / (episodes * len(m.turns)),
                    "webgym": 1 / episodes,
                    "asyncwebrl": 1 / (episodes * config.normalizer_k),
                    "dr_grpo": 1 / (episodes * config.normalizer_k),
                    "dapo": 1 / every,
                }[config.normalizer]
                for k in t.tokens:
                    value, slope = policy_loss(k, t.tokens, A, config)
                    factor, (kl, kl_slope) = correction(k, t.tokens, config), divergence(k, config)
                    regular = config.kl_coef * kl - config.entropy_coef * entropy_of(k)
                    total += weight * (factor * value + regular)
                    gradient[id(k)] = weight * (factor * slope + config.kl_coef * kl_slope)
    return total, gradient


def entropy_of(token: Token) -> float:
    """Some entropy that differs from token to token."""
    return float(np.float32(-token.new / 3))


def records(groups: list[list[Member]]) -> list[list[Trajectory]]:
    out = []
    for group in groups:
        members = []
        for m in group:
            turns = []
            for t in m.turns:
                said = Response(
                    ids=[5] * len(t.tokens),
                    logprobs=[k.behave for k in t.tokens],
                    versions=[k.version for k in t.tokens],
                    finish_reason=FinishReason.STOP,
                )
                turns.append(turn(prompt([1]), said).model_copy(update={"same_screen": t.same_screen}))
            members.append(trajectory(turns, m.reward, valid=m.valid))
        out.append(members)
    return out


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("loss", LOSSES.built_in)
def test_the_objective_is_that_of_its_formula(loss: str, seed: int) -> None:
    rng = random.Random(f"{loss}/{seed}")
    config, groups = settings(loss, rng), random_groups(rng)
    turns = {tuple(k.behave for k in t.tokens): t.tokens for group in groups for m in group for t in m.turns}
    samples, scored = [], list[Token]()
    for sample in samples_from_groups(records(groups), config):
        tokens = turns[tuple(sample.old_logprobs)]
        learner = [k.learner for k in tokens] if config.old_logprobs == "learner" else []
        reference = [k.reference for k in tokens]
        samples.append(dataclasses.replace(sample, prox_logprobs=learner, reference_logprobs=reference))
        scored += tokens
    new = torch.tensor([k.new for k in scored], dtype=torch.float64, requires_grad=True)
    entropy = torch.tensor([entropy_of(k) for k in scored], dtype=torch.float64)
    wanted, slopes = derived(groups, config)
    if not samples:
        assert wanted == 0
        return
    found, _ = objective(samples, TokenScores(new, entropy), config, VERSION)
    found.backward()
    assert float(found.detach()) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert new.grad is not None
    assert new.grad.tolist() == pytest.approx([slopes[id(k)] for k in scored], rel=1e-5, abs=1e-6)
    left_out = {id(k) for group in groups for m in group for t in m.turns for k in t.tokens} - set(map(id, scored))
    assert all(slopes.get(token, 0.0) == 0 for token in left_out), "a token with a gradient became no sample"


def test_the_settings_have_every_advantage_normalizer_estimator_and_correction() -> None:
    chosen = [settings(loss, random.Random(f"{loss}/{seed}")) for loss in LOSSES.built_in for seed in range(10)]
    assert {config.advantage for config in chosen} == set(ADVANTAGES.built_in)
    assert {config.normalizer for config in chosen} == set(NORMALIZERS.built_in)
    assert {config.kl_estimator for config in chosen} == set(KL_ESTIMATORS.built_in)
    assert {config.correction for config in chosen} == set(CORRECTIONS.built_in)


@pytest.mark.parametrize("loss", LOSSES.built_in)
def test_ten_settings_have_every_option_on_and_off(loss: str) -> None:
    chosen = [settings(loss, random.Random(f"{loss}/{seed}")) for seed in range(10)]
    for key in ("kl_coef", "entropy_coef", "repetition_penalty"):
        assert {bool(getattr(config, key)) for config in chosen} == {True, False}, key
    if LOSSES.get(loss).dual_clip:
        assert {bool(config.dual_clip) for config in chosen} == {True, False}
    if LOSSES.get(loss).decoupled:
        assert {config.old_logprobs for config in chosen} == {"learner", "loglinear"}
        assert {bool(config.behav_imp_weight_cap) for config in chosen} == {True, False}
    else:
        assert {config.correction == "none" for config in chosen} == {True, False}
        assert {config.old_logprobs for config in chosen} == {"learner", "engine"}
