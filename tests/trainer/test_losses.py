import dataclasses
import math
from collections.abc import Callable

import pytest
import torch

from webdojo.trainer.losses import CORRECTIONS, KL_ESTIMATORS, LOSSES, Clip, Tokens, clip
from webdojo.trainer.objective import log_linear, policy_stats

BOUNDS = Clip(low=0.2, high=0.28)
CLIP, DECOUPLED = LOSSES.get("clip"), LOSSES.get("decoupled")
TURNS = [0] * 13 + [1] * 1 + [2] * 26


def random_tokens(seed: int) -> tuple[torch.Tensor, Tokens]:
    generator = torch.Generator().manual_seed(seed)
    count = len(TURNS)
    new = -2 * torch.rand(count, generator=generator)
    tokens = Tokens(
        prox_logprobs=new + 0.5 * torch.randn(count, generator=generator),
        behave_logprobs=new + 0.5 * torch.randn(count, generator=generator),
        advantages=torch.randn(count, generator=generator),
        token_weights=torch.rand(count, generator=generator) * (torch.rand(count, generator=generator) < 0.8),
        turns=torch.tensor(TURNS),
    )
    return new, tokens


def tokens_for(name: str, seed: int) -> tuple[torch.Tensor, Tokens]:
    """With the advantages that a loss gets: 1 and 0 where it learns from positives only."""
    new, tokens = random_tokens(seed)
    if LOSSES.get(name).positives_only:
        tokens = dataclasses.replace(tokens, advantages=(tokens.advantages > 0).float())
    return new, tokens


def one(ratio: float, advantage: float) -> tuple[torch.Tensor, Tokens]:
    new = torch.tensor([math.log(ratio)], requires_grad=True)
    zero = torch.zeros(1)
    return new, Tokens(zero, zero, torch.tensor([advantage]), torch.ones(1), torch.zeros(1, dtype=torch.long))


def held(rho: float) -> float:
    return min(max(rho, 0.8), 1.28)


def turn_mean(log_ratios: list[float], k: int) -> float:
    members = [log_ratios[i] for i in range(len(TURNS)) if TURNS[i] == TURNS[k]]
    return sum(members) / len(members)


def formula(name: str, new: list[float], tokens: Tokens, k: int) -> float:
    """The loss of token k, from the definitions."""
    prox, behave, advantages = (t.tolist() for t in (tokens.prox_logprobs, tokens.behave_logprobs, tokens.advantages))
    rho, a = math.exp(new[k] - prox[k]), advantages[k]
    turn = math.exp(turn_mean([n - p for n, p in zip(new, prox, strict=True)], k))
    return {
        "clip": -min(rho * a, held(rho) * a),
        "decoupled": math.exp(prox[k] - behave[k]) * max(-a * rho, -a * held(rho)),
        "gspo": -min(turn * a, held(turn) * a),
        "cispo": -held(rho) * a * new[k],
        "raft": -min(rho, held(rho)) if a else 0.0,
        "bc": -new[k] if a else 0.0,
    }[name]


@pytest.mark.parametrize("name", LOSSES.built_in)
@pytest.mark.parametrize("seed", range(3))
def test_each_policy_loss_equals_its_formula(name: str, seed: int) -> None:
    new, tokens = tokens_for(name, seed)
    expected = [formula(name, new.tolist(), tokens, k) for k in range(len(TURNS))]
    assert LOSSES.get(name).function(new, tokens, BOUNDS).tolist() == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("ratio", "advantage", "gradient"),
    [(1.0, 2.0, -2.0), (1.5, 2.0, 0.0), (0.5, 2.0, -1.0), (0.5, -2.0, 0.0), (1.5, -2.0, 3.0), (1.27, 1.0, -1.27)],
)
def test_gradient_of_clip_stops_only_where_the_clip_binds(ratio: float, advantage: float, gradient: float) -> None:
    new, tokens = one(ratio, advantage)
    clip(new, tokens, BOUNDS).sum().backward()
    assert new.grad is not None
    assert float(new.grad) == pytest.approx(gradient, rel=1e-5)


@pytest.mark.parametrize(("ratio", "loss", "gradient"), [(2.0, 4.0, 4.0), (5.0, 6.0, 0.0)])
def test_dual_clip_bounds_the_loss_of_bad_tokens(ratio: float, loss: float, gradient: float) -> None:
    new, tokens = one(ratio, -2.0)
    out = clip(new, tokens, Clip(0.2, 0.28, dual=3.0))
    out.sum().backward()
    assert float(out.detach()) == pytest.approx(loss)
    assert new.grad is not None
    assert float(new.grad) == pytest.approx(gradient, abs=1e-5)
    assert policy_stats(new, tokens, Clip(0.2, 0.28, dual=3.0), CLIP)["dual_clip_fraction"] == float(ratio > 3)


@pytest.mark.parametrize(("cap", "added"), [(0.0, 3), (5.0, 2), (1.5, 1)])
def test_tokens_that_are_too_far_from_the_policy_that_sampled_them_add_nothing(cap: float, added: int) -> None:
    weights = torch.tensor([1.0, 4.0, math.inf if cap else 100.0])
    new, zero = torch.zeros(3, requires_grad=True), torch.zeros(3)
    tokens = Tokens(zero, -weights.log(), torch.full((3,), -1.0), torch.ones(3), torch.zeros(3, dtype=torch.long))
    bounds = Clip(0.2, 0.28, behave=cap)
    out = LOSSES.get("decoupled").function(new, tokens, bounds)
    out.sum().backward()
    assert out.tolist() == pytest.approx([*weights[:added].tolist(), *[0] * (3 - added)])
    assert new.grad is not None and new.grad.tolist() == out.tolist()
    assert policy_stats(new, tokens, bounds, DECOUPLED)["capped_fraction"] == pytest.approx((3 - added) / 3)


def test_gspo_gives_every_token_of_a_turn_the_gradient_of_the_turns_ratio() -> None:
    new, tokens = random_tokens(1)
    new.requires_grad_()
    LOSSES.get("gspo").function(new, tokens, Clip(0.9, 9.0)).sum().backward()
    ratios = (new - tokens.prox_logprobs).detach()
    for turn in range(3):
        members = tokens.turns == turn
        expected = -ratios[members].mean().exp() * tokens.advantages[members]
        assert new.grad is not None
        torch.testing.assert_close(new.grad[members], expected, rtol=1e-4, atol=1e-5)


def test_cispo_stops_no_gradient_where_clip_would() -> None:
    new, tokens = one(1.5, 2.0)
    LOSSES.get("cispo").function(new, tokens, BOUNDS).sum().backward()
    assert new.grad is not None
    assert float(new.grad) == pytest.approx(-2 * 1.28)


@pytest.mark.parametrize("seed", range(3))
def test_statistics_equal_their_definitions(seed: int) -> None:
    new, tokens = random_tokens(seed)
    stats = policy_stats(new, tokens, BOUNDS, CLIP)
    cut, kl, ratios = [], [], []
    for n, p, a, w in zip(
        *(t.tolist() for t in (new, tokens.prox_logprobs, tokens.advantages, tokens.token_weights)), strict=True
    ):
        if w:
            rho = math.exp(n - p)
            cut.append((a > 0 and rho > 1.28) or (a < 0 and rho < 0.8))
            kl.append(rho - 1 - math.log(rho))
            ratios.append(rho)
    assert stats["clip_fraction"] == pytest.approx(sum(cut) / len(cut))
    assert stats["approx_kl"] == pytest.approx(sum(kl) / len(kl), rel=1e-4)
    assert stats["ratio"] == pytest.approx(sum(ratios) / len(ratios), rel=1e-4)


@pytest.mark.parametrize("name", LOSSES.built_in)
@pytest.mark.parametrize("seed", range(3))
def test_the_clip_fraction_is_that_of_tokens_whose_gradient_is_cut_off(name: str, seed: int) -> None:
    new, tokens = tokens_for(name, seed)
    tokens = dataclasses.replace(tokens, token_weights=torch.ones_like(tokens.token_weights))
    new.requires_grad_()
    LOSSES.get(name).function(new, tokens, BOUNDS).sum().backward()
    assert new.grad is not None
    loss = LOSSES.get(name)
    cut = float(((new.grad == 0) & (tokens.advantages != 0)).float().mean())
    assert policy_stats(new.detach(), tokens, BOUNDS, loss).get("clip_fraction", 0.0) == pytest.approx(cut)
    assert loss.clips is not None or cut == 0
    assert bool(new.grad[tokens.advantages <= 0].any()) != loss.positives_only


def test_no_counted_token_gives_zeros_not_nan() -> None:
    new, tokens = random_tokens(0)
    nothing = Tokens(
        tokens.prox_logprobs, tokens.behave_logprobs, tokens.advantages, tokens.token_weights * 0, tokens.turns
    )
    stats = policy_stats(new, nothing, BOUNDS, CLIP)
    assert stats == {"approx_kl": 0.0, "ratio": 0.0, "clip_fraction": 0.0}


KL_FORMULAS: dict[str, Callable[[float, float], float]] = {
    "k1": lambda n, r: n - r,
    "k2": lambda n, r: (n - r) ** 2 / 2,
    "k3": lambda n, r: math.exp(r - n) - 1 - (r - n),
}


@pytest.mark.parametrize("name", KL_ESTIMATORS.built_in)
def test_each_kl_estimator_equals_its_formula(name: str) -> None:
    new, tokens = random_tokens(2)
    found = KL_ESTIMATORS.get(name).function(new, tokens.behave_logprobs)
    expected = [KL_FORMULAS[name](n, r) for n, r in zip(new.tolist(), tokens.behave_logprobs.tolist(), strict=True)]
    assert found.tolist() == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_k1_and_k3_estimate_the_same_divergence() -> None:
    policy, reference = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.3, 0.5])
    exact = float((policy * (policy / reference).log()).sum())
    for name in ("k1", "k3"):
        values = KL_ESTIMATORS.get(name).function(policy.log(), reference.log())
        assert float((policy * values).sum()) == pytest.approx(exact, rel=1e-5)


def _inside(value: float) -> float:
    return float(0.5 <= value <= 1.5)


def _turn(ratios: list[float], k: int) -> list[float]:
    return [ratios[i] for i in range(len(TURNS)) if TURNS[i] == TURNS[k]]


def _geometric(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


CORRECTION_FORMULAS: dict[str, Callable[[list[float], int], float]] = {
    "none": lambda r, k: 1.0,
    "tis": lambda r, k: min(max(r[k], 0.5), 1.5),
    "icepop": lambda r, k: r[k] * _inside(r[k]),
    "mis_token": lambda r, k: r[k] * _inside(r[k]),
    "mis_sequence": lambda r, k: math.prod(_turn(r, k)) * _inside(math.prod(_turn(r, k))),
    "mis_geometric": lambda r, k: _inside(_geometric(_turn(r, k))),
}


@pytest.mark.parametrize("name", CORRECTIONS.built_in)
@pytest.mark.parametrize("seed", range(4))
def test_each_correction_equals_its_formula(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for bounds in ("LOW", "ICEPOP_LOW"):
        monkeypatch.setattr(f"webdojo.trainer.losses.{bounds}", 0.5)
    for bounds in ("HIGH", "ICEPOP_HIGH"):
        monkeypatch.setattr(f"webdojo.trainer.losses.{bounds}", 1.5)
    _, tokens = random_tokens(seed)
    gap = 0.3 * (tokens.prox_logprobs - tokens.behave_logprobs)
    ratios = gap.exp().tolist()
    found = CORRECTIONS.get(name).function(gap, tokens.turns).tolist()
    assert found == pytest.approx([CORRECTION_FORMULAS[name](ratios, k) for k in range(len(TURNS))], rel=1e-4)


def test_icepop_masks_on_both_sides() -> None:
    q = torch.tensor([0.49, 0.51, 1.0, 4.9, 5.1])
    found = CORRECTIONS.get("icepop").function(q.log(), torch.zeros(5, dtype=torch.long))
    assert found.tolist() == pytest.approx([0, 0.51, 1, 4.9, 0])


def test_a_turn_whose_ratio_is_too_large_for_a_float_counts_nothing() -> None:
    gap, turns = torch.full((1000,), 0.2), torch.zeros(1000, dtype=torch.long)
    assert CORRECTIONS.get("mis_sequence").function(gap, turns).tolist() == [0.0] * 1000
    assert CORRECTIONS.get("mis_token").function(torch.tensor([200.0, 0.0]), turns[:2]).tolist() == [0.0, 1.0]


def test_log_linear_is_the_engines_at_age_0_and_nears_the_learners() -> None:
    new, behave = torch.tensor([-1.0, -1.0, -1.0]), torch.tensor([-4.0, -4.0, -4.0])
    assert log_linear(new, behave, torch.tensor([0.0, 1.0, 2.0])).tolist() == pytest.approx([-4.0, -2.5, -2.0])
