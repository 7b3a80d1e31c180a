"""Our advantages, corrections and losses against those of TRL's own code, on random rewards and log-probabilities.

TRL's trainers run as they are from given completions to the loss. What stands in is only what would need a model, a
tokenizer or reward functions: completions, log-probabilities and rewards. A completion is a trajectory of one turn.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from trl import GRPOTrainer, RLOOTrainer

from tests.trainer.records import prompt, response, trajectory, turn
from webdojo.policy.model.forward import TokenScores
from webdojo.trainer.batch import samples_from_groups
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.objective import objective
from webdojo.types import Trajectory

GROUPS, SIZE, LONGEST = 3, 4, 9


class Draw:
    """Random completions of some groups [B, LONGEST], padded on the right; a reward of None is an invalid member."""

    def __init__(self, seed: int, invalid: bool = False) -> None:
        generator = torch.Generator().manual_seed(seed)
        count = GROUPS * SIZE
        self.lengths = torch.randint(1, LONGEST + 1, (count,), generator=generator).tolist()
        self.lengths[0] = LONGEST
        rewards: list[float | None] = torch.rand(count, generator=generator).tolist()
        self.rewards = [None if invalid and i % 5 == 2 else reward for i, reward in enumerate(rewards)]

        def near(other: torch.Tensor, distance: float) -> torch.Tensor:
            return other + distance * torch.randn(other.shape, generator=generator)

        self.new = -2 * torch.rand(count, LONGEST, generator=generator)
        self.old, self.reference = near(self.new, 0.4), near(self.new, 0.5)
        self.behave = near(self.old, 0.2)
        self.entropies = torch.rand(count, LONGEST, generator=generator)

    def row(self, values: torch.Tensor, i: int) -> torch.Tensor:
        """Those of completion `i`, without padding."""
        return values[i, : self.lengths[i]]

    def groups(self) -> list[list[Trajectory]]:
        """The same as our records."""
        members = [
            trajectory(
                [turn(prompt([1, 2]), response([5] * length, self.row(self.behave, i).tolist()))],
                reward if reward is not None else 1e6,
                valid=reward is not None,
                id=str(i),
            )
            for i, (length, reward) in enumerate(zip(self.lengths, self.rewards, strict=True))
        ]
        return [members[i : i + SIZE] for i in range(0, len(members), SIZE)]


ARGUMENTS: dict[str, Any] = {
    "delta": None,
    "use_bias_correction_kl": False,
    "per_device_train_batch_size": GROUPS * SIZE,
    "gradient_checkpointing_kwargs": None,
    "gradient_accumulation_steps": 1,
    "steps_per_generation": 1,
}
"""What TRL's trainers read of their configuration while they run."""
OFF = [
    *("mask_truncated_completions", "aux_loss_enabled", "log_multimodal", "use_vllm", "normalize_advantages"),
    *("_entropy_bonus_enabled", "use_adaptive_entropy"),
]
NONE = [
    *("environment_factories", "environments", "tools", "pad_to_multiple_of", "reward_clip_range"),
    "off_policy_mask_threshold",
]
SETTINGS: dict[str, Any] = {
    **dict.fromkeys(OFF, False),
    **dict.fromkeys(NONE),
    "loss_type": "grpo",
    "epsilon_low": 0.2,
    "epsilon_high": 0.28,
    "beta": 0.0,
    "scale_rewards": "group",
    "importance_sampling_level": "token",
    "vllm_importance_sampling_correction": True,
    "top_entropy_quantile": 1.0,
    "max_completion_length": LONGEST,
    "num_generations": SIZE,
    "num_iterations": 2,
    "current_gradient_accumulation_steps": 1,
    "multi_objective_aggregation": "sum_then_normalize",
    "reward_funcs": [None],
    "reward_func_names": ["reward"],
    "reward_weights": torch.ones(1),
    "_pending_extra_logs": {},
    "_pending_metrics": {},
}
"""And what they keep as attributes."""


def trainer(
    kind: type[Any], draw: Draw, new: torch.Tensor, options: dict[str, Any], arguments: dict[str, Any] | None = None
) -> Any:
    """A trainer of TRL that was given what `draw` holds."""
    made: Any = object.__new__(kind)
    model, reference = SimpleNamespace(training=True, is_gradient_checkpointing=False), SimpleNamespace()
    accelerator = SimpleNamespace(
        device=torch.device("cpu"),
        process_index=0,
        num_processes=1,
        sync_gradients=True,
        gather=lambda values: values,
        reduce=lambda values, reduction: values,
    )

    def scores(given: Any, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor, None]:
        before = draw.reference if given is reference else draw.old
        return (new if torch.is_grad_enabled() else before), draw.entropies, None

    def generate(prompts: Any) -> tuple[Any, ...]:
        ids, completions = [[1, 2]] * len(prompts), [[5] * length for length in draw.lengths]
        if kind is RLOOTrainer:
            return ids, completions, [""] * len(ids)
        sampled = [draw.row(draw.behave, i).tolist() for i in range(len(ids))]
        return ids, completions, None, [""] * len(ids), sampled, {}, None, None

    def calculate_rewards(*_: Any) -> torch.Tensor:
        return torch.tensor([[torch.nan if reward is None else reward] for reward in draw.rewards])

    vars(made).update(
        SETTINGS | options,
        args=SimpleNamespace(**ARGUMENTS | (arguments or {})),
        model=model,
        ref_model=reference,
        accelerator=accelerator,
        _get_per_token_logps_and_entropies=scores,
        _generate=generate,
        _calculate_rewards=calculate_rewards,
        _tokenizer=SimpleNamespace(pad_token_id=0),
        _metrics={"train": defaultdict(list)},
        _logs={"prompt": [], "completion": [], "advantages": [], "rewards": defaultdict(list)},
    )
    return made


def scored(made: Any, draw: Draw) -> dict[str, torch.Tensor]:
    """Advantages, corrections and old log-probabilities by TRL."""
    inputs = [{"prompt": "go"} for _ in draw.lengths]
    found: dict[str, torch.Tensor] = made._generate_and_score_completions(inputs)
    return found


@pytest.fixture(autouse=True)
def _same_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL divides by the deviation plus 1e-4."""
    monkeypatch.setattr("webdojo.trainer.advantages.STD_EPS", 1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("advantage", "kind", "options"),
    [
        ("grpo", GRPOTrainer, {}),
        ("dr_grpo", GRPOTrainer, {"scale_rewards": "none"}),
        ("rloo", RLOOTrainer, {}),
    ],
)
def test_advantages_are_those_of_trl_with_invalid_members_too(
    advantage: str, kind: type[Any], options: dict[str, Any], seed: int
) -> None:
    draw = Draw(seed, invalid=True)
    theirs = scored(trainer(kind, draw, draw.new, options), draw)["advantages"]
    samples = samples_from_groups(draw.groups(), TrainConfig.model_validate({"advantage": advantage}))
    valid = [i for i, reward in enumerate(draw.rewards) if reward is not None]
    assert 0 < len(valid) < len(draw.rewards)
    assert [sample.advantage for sample in samples] == pytest.approx(theirs[valid].tolist(), rel=1e-4, abs=1e-6)
    assert all(float(theirs[i]) == 0 for i in range(len(theirs)) if i not in valid)


VLLM = {"use_vllm": True, "vllm_importance_sampling_clip_min": 0.7, "vllm_importance_sampling_clip_max": 1.3}


def corrected(mode: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A case of engine-learner correction."""
    return VLLM | {"vllm_importance_sampling_mode": mode}, {"correction": name}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "grpo": ({}, {}),
    "other clip": ({"epsilon_low": 0.05, "epsilon_high": 0.5}, {"clip_low": 0.05, "clip_high": 0.5}),
    "dual clip": ({}, {"dual_clip": 1.5}),
    "kl": ({"beta": 0.3}, {"kl_coef": 0.3, "kl_estimator": "k3"}),
    "dr_grpo": (
        {"loss_type": "dr_grpo", "scale_rewards": "none"},
        {"advantage": "dr_grpo", "normalizer": "dr_grpo", "normalizer_k": LONGEST},
    ),
    "dapo": ({"loss_type": "dapo"}, {"normalizer": "dapo"}),
    "bnpo": ({"loss_type": "bnpo"}, {"normalizer": "dapo"}),
    "entropy": (
        {"loss_type": "dapo", "_entropy_bonus_enabled": True, "entropy_coef": 0.2},
        {"normalizer": "dapo", "entropy_coef": 0.2},
    ),
    "gspo": ({"importance_sampling_level": "sequence"}, {"policy_loss": "gspo"}),
    "cispo": (
        {"loss_type": "cispo", "epsilon_high": 1.28},
        {"policy_loss": "cispo", "clip_low": 1.0, "normalizer": "dapo"},
    ),
    "tis": corrected("token_truncate", "tis"),
    "mis_token": corrected("token_mask", "mis_token"),
    "mis_sequence": corrected("sequence_mask", "mis_sequence"),
}
"""By name: what TRL's trainer is set to, and what our recipe says."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CASES)
def test_losses_and_their_gradients_are_those_of_trl(case: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webdojo.trainer.losses.LOW", 0.7)
    monkeypatch.setattr("webdojo.trainer.losses.HIGH", 1.3)
    theirs_options, ours_options = CASES[case]
    config = TrainConfig.model_validate({"old_logprobs": "learner"} | ours_options)
    draw = Draw(seed)

    new = draw.new.clone().requires_grad_()
    made = trainer(GRPOTrainer, draw, new, theirs_options, {"delta": config.dual_clip or None})
    loss = made._compute_loss(made.model, scored(made, draw))
    loss.backward()
    assert new.grad is not None

    samples = [
        dataclasses.replace(
            sample,
            prox_logprobs=draw.row(draw.old, i).tolist(),
            reference_logprobs=draw.row(draw.reference, i).tolist(),
        )
        for i, sample in enumerate(samples_from_groups(draw.groups(), config))
    ]
    taken = torch.arange(LONGEST) < torch.tensor(draw.lengths)[:, None]
    flat = draw.new[taken].requires_grad_()
    ours, means = objective(samples, TokenScores(flat, draw.entropies[taken]), config)
    ours.backward()
    assert flat.grad is not None

    assert float(ours.detach()) == pytest.approx(float(loss.detach()), rel=1e-4, abs=1e-6)
    torch.testing.assert_close(flat.grad, new.grad[taken], rtol=1e-4, atol=1e-6)
    assert not new.grad[~taken].any()
    if config.policy_loss == "clip":
        theirs = made._metrics["train"]["clip_ratio/region_mean"][0]
        assert means["clip_fraction"] == pytest.approx(theirs, abs=1e-6)
        assert theirs > 0, "nothing was clipped: the case would show little"
