import math

import pytest
import torch

from webdojo.train.loss import clipped_policy_loss, likelihood_loss

LOW, HIGH = 0.2, 0.28


def random_tokens(seed: int, count: int = 40) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    new = -2 * torch.rand(count, generator=generator)
    old = new + 0.5 * torch.randn(count, generator=generator)
    advantages = torch.randn(count, generator=generator)
    weights = torch.rand(count, generator=generator) * (torch.rand(count, generator=generator) < 0.8)
    return new, old, advantages, weights


@pytest.mark.parametrize("seed", range(5))
def test_clipped_loss_and_statistics_equal_the_formula(seed: int) -> None:
    new, old, advantages, weights = random_tokens(seed)
    loss, stats = clipped_policy_loss(new, old, advantages, weights, clip_low=LOW, clip_high=HIGH)
    total = 0.0
    cut, kl, ratios = [], [], []
    for n, o, a, w in zip(new.tolist(), old.tolist(), advantages.tolist(), weights.tolist(), strict=True):
        rho = math.exp(n - o)
        held = min(max(rho, 1 - LOW), 1 + HIGH)
        total += w * -min(rho * a, held * a)
        if w:
            cut.append((a > 0 and rho > 1 + HIGH) or (a < 0 and rho < 1 - LOW))
            kl.append(rho - 1 - math.log(rho))
            ratios.append(rho)
    assert float(loss) == pytest.approx(total, rel=1e-4, abs=1e-6)
    assert stats.tokens == len(cut)
    assert stats.clip_fraction == pytest.approx(sum(cut) / len(cut))
    assert stats.approx_kl == pytest.approx(sum(kl) / len(kl), rel=1e-4)
    assert stats.ratio == pytest.approx(sum(ratios) / len(ratios), rel=1e-4)


@pytest.mark.parametrize(
    ("ratio", "advantage", "gradient"),
    [(1.0, 2.0, -2.0), (1.5, 2.0, 0.0), (0.5, 2.0, -1.0), (0.5, -2.0, 0.0), (1.5, -2.0, 3.0), (1.27, 1.0, -1.27)],
)
def test_gradient_stops_only_where_the_clip_binds(ratio: float, advantage: float, gradient: float) -> None:
    new = torch.tensor([math.log(ratio)], requires_grad=True)
    loss, _ = clipped_policy_loss(
        new, torch.zeros(1), torch.tensor([advantage]), torch.ones(1), clip_low=LOW, clip_high=HIGH
    )
    loss.backward()
    assert new.grad is not None
    assert float(new.grad) == pytest.approx(gradient, rel=1e-5)


def test_the_sum_of_micro_batches_is_the_whole_loss() -> None:
    new, old, advantages, weights = random_tokens(7)
    whole, _ = clipped_policy_loss(new, old, advantages, weights, clip_low=LOW, clip_high=HIGH)
    parts = [
        clipped_policy_loss(new[s], old[s], advantages[s], weights[s], clip_low=LOW, clip_high=HIGH)[0]
        for s in (slice(0, 11), slice(11, 40))
    ]
    assert float(sum(parts)) == pytest.approx(float(whole), rel=1e-5)


def test_no_counted_token_gives_zeros_not_nan() -> None:
    loss, stats = clipped_policy_loss(
        torch.zeros(2), torch.zeros(2), torch.ones(2), torch.zeros(2), clip_low=LOW, clip_high=HIGH
    )
    assert (float(loss), stats.tokens, stats.approx_kl, stats.ratio) == (0.0, 0, 0.0, 0.0)


def test_likelihood_loss_is_weighted_negative_log_likelihood() -> None:
    logprobs, weights = torch.tensor([-1.0, -2.0, -4.0]), torch.tensor([0.5, 0.25, 0.0])
    assert float(likelihood_loss(logprobs, weights)) == pytest.approx(1.0)
