"""The objective of a recipe as formulas with its numbers: what `webdojo explain RECIPE` prints."""

from __future__ import annotations

from collections.abc import Iterator

from webdojo.rollout.config import RolloutConfig
from webdojo.train.config import TrainConfig

_ADVANTAGES = {
    "grpo": "A_i = (R_i - mean_group) / (std_group + 1e-6)",
    "dr_grpo": "A_i = R_i - mean_group",
    "rloo": "A_i = n/(n-1) · (R_i - mean_group), n valid members",
    "reinforce": "A_i = R_i",
    "reinforce_baseline": "A_i = R_i - mean_update",
    "reinforce_plus_plus": "A_i = (R_i - mean_update) / (std_update + 1e-6)",
    "reinforce_plus_plus_baseline": "A_i = (R_i - mean_group) / (std_update of these + 1e-6)",
}

_CORRECTIONS = {
    "tis": "clamp(q, {low:g}, {high:g})",
    "icepop": "1[{low:g} <= q <= {high:g}]",
    "mis_token": "q · 1[{low:g} <= q <= {high:g}]",
    "mis_sequence": "Q · 1[{low:g} <= Q <= {high:g}], Q = product of q over the turn",
    "mis_geometric": "1[{low:g} <= Q <= {high:g}], Q = geometric mean of q over the turn",
}

_PROX = {
    "engine": "as the engine reported it",
    "learner": "the learner's weights at the start of the update",
    "loglinear": "of a token d versions old log π_engine + d / (d + 1) · (log π_θ - log π_engine)",
}
_KL = {"k1": "log π - log π_ref", "k2": "(log π - log π_ref)² / 2", "k3": "π_ref/π - 1 - log(π_ref/π)"}


def explain(train: TrainConfig, rollout: RolloutConfig) -> str:
    """A few lines of text: the loss, each of its parts, and the steps that minimise it."""
    return "\n".join([*_loss(train, rollout), "", *_steps(train)])


def _loss(train: TrainConfig, rollout: RolloutConfig) -> Iterator[str]:
    N, G = train.groups_per_iteration, rollout.group_size
    terms = ["ℓ" if train.correction == "none" else "c · ℓ"]
    terms += [f"{train.kl_coef:g} · KL"] if train.kl_coef else []
    terms += [f"- {train.entropy_coef:g} · H"] if train.entropy_coef else []
    inside = " + ".join(terms).replace("+ -", "-")
    yield f"L(θ) = Σ_i Σ_t Σ_k  w · {f'[ {inside} ]' if len(terms) > 1 else inside}"
    yield f"       over {N} groups of {G} trajectories i, their turns t, and the tokens k of each response y_it"
    yield ""
    yield f"w    = {_weight(train, N, G)}  ({train.normalizer})"
    if train.repetition_penalty:
        yield "       and 0 where A_i > 0 and the screen after the turn is the same"
    yield f"{_ADVANTAGES[train.advantage]}, over valid trajectories  ({train.advantage})".replace("A_i =", "A_i  =", 1)
    yield f"ρ    = π_θ(k) / π_prox(k), at temperature {rollout.sampling.temperature:g}"
    yield f"       π_prox: {_PROX[train.old_logprobs]}"
    yield f"ℓ    = {_surrogate(train)}  ({train.policy_loss})"
    if train.correction != "none":
        rule = _CORRECTIONS[train.correction].format(low=train.correction_low, high=train.correction_high)
        yield f"c    = {rule}, q = π_prox(k) / π_engine(k)  ({train.correction})"
    if train.kl_coef:
        yield f"KL   = {_KL[train.kl_estimator]}  ({train.kl_estimator})"
    if train.entropy_coef:
        yield "H    = entropy of the distribution that k was drawn from"


def _weight(train: TrainConfig, groups: int, size: int) -> str:
    return {
        "openwebrl": f"1 / ({groups * size} · |y_it|)",
        "webagent_r1": f"1 / ({groups * size} · T_i · |y_it|)",
        "asyncwebrl": f"1 / ({groups * size} · {train.normalizer_k:g})",
        "dr_grpo": f"1 / ({groups * size} · {train.normalizer_k:g})",
        "dapo": "1 / Σ |y|",
    }[train.normalizer]


def _surrogate(train: TrainConfig) -> str:
    clipped = f"clip(ρ, {1 - train.clip_low:g}, {1 + train.clip_high:g})"
    held = f"-min(ρ A_i, {clipped} A_i)"
    if train.dual_clip:
        held += f", at most {-train.dual_clip:g} A_i where A_i < 0"
    heavy = f", 0 where π_prox / π_engine > {train.behav_imp_weight_cap:g}" if train.behav_imp_weight_cap else ""
    return {
        "clip": held,
        "decoupled": f"sg[π_prox / π_engine] · ({held}){heavy}",
        "gspo": f"{held} with ρ the geometric mean over the turn",
        "cispo": f"-sg[{clipped}] A_i log π_θ(k)",
        "raft": f"1[A_i > 0] · -min(ρ, {clipped})",
        "bc": "1[A_i > 0] · -log π_θ(k)",
    }[train.policy_loss]


def _steps(train: TrainConfig) -> Iterator[str]:
    first, second = train.adam_betas
    yield (
        f"{train.iterations} iterations of {train.ppo_epochs} passes in batches of about {train.batch_size} turns; "
        f"AdamW: lr {train.lr:g}, betas {first:g} and {second:g}, weight decay {train.weight_decay:g}, "
        f"gradient norm at most {train.grad_clip:g}"
    )
    if train.replay_buffer_capacity > 1:
        count, power = train.samples_per_iteration or "as many", f"k^{train.recency_bias_power:g}"
        yield (
            f"an update draws {count} turns of the last {train.replay_buffer_capacity} iterations, of the k-th by "
            f"{power}; w is scaled to the sum that one iteration has"
        )
    if train.warmup_steps:
        yield f"lr rises linearly over the first {train.warmup_steps} steps"
