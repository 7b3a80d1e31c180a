"""The objective of a recipe as formulas with its numbers: what `webdojo explain RECIPE` prints.

`docs/objective.md` says what each symbol is, and what holds for every recipe.
"""

from __future__ import annotations

from collections.abc import Iterator

from webdojo.rollout.config import HorizonSection, RolloutConfig
from webdojo.trainer.advantages import ADVANTAGES, NORMALIZERS
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.losses import CORRECTIONS, KL_ESTIMATORS, LOSSES

_PROX = {
    "engine": "as the engine reported it",
    "learner": "the learner's weights at the start of the update",
    "loglinear": "of a token d versions old log π_engine + d / (d + 1) · (log π_θ - log π_engine)",
}


def explain(train: TrainConfig, rollout: RolloutConfig) -> str:
    return "\n".join(_lines(train, rollout))


def _lines(train: TrainConfig, rollout: RolloutConfig) -> Iterator[str]:
    N, G = train.groups_per_iteration, rollout.group_size
    terms = ["ℓ" if train.correction == "none" else "c · ℓ"]
    terms += [f"{train.kl_coef:g} · KL"] if train.kl_coef else []
    terms += [f"- {train.entropy_coef:g} · H"] if train.entropy_coef else []
    inside = " + ".join(terms).replace("+ -", "-")
    yield f"L(θ) = Σ_i Σ_t Σ_k  w · {f'[ {inside} ]' if len(terms) > 1 else inside}"
    yield f"       over {N} groups of {G} trajectories i, their turns t, and the tokens k of each response y_it"
    yield ""
    formula = NORMALIZERS.get(train.normalizer).formula
    with NORMALIZERS.running(train.normalizer):
        weight = formula.format(episodes=N * G, k=train.k)
    yield f"w    = {weight}  ({train.normalizer})"
    if train.repetition_penalty:
        yield "       and 0 where A_i > 0 and the screen after the turn is the same"
    if "{episodes}" in formula:
        yield f"       invalid trajectories add no term, and count among the {N * G}"
    loss = LOSSES.get(train.policy_loss)
    if loss.positives_only:
        yield "A_i  = 1[R_i > 0], over valid trajectories"
    else:
        yield f"A_i  = {ADVANTAGES.get(train.advantage).formula}, over valid trajectories  ({train.advantage})"
    with LOSSES.running(train.policy_loss):
        formula = loss.formula(train.clip)
    if "ρ" in formula:
        yield f"ρ    = π_θ(k) / π_prox(k), at temperature {rollout.sampling.temperature:g}"
    if "ρ" in formula or "π_prox" in formula or train.correction != "none":
        yield f"       π_prox: {_PROX[train.old_logprobs]}"
    yield f"ℓ    = {formula}  ({train.policy_loss})"
    if train.correction != "none":
        yield f"c    = {CORRECTIONS.get(train.correction).formula}, q = π_prox(k) / π_engine(k)  ({train.correction})"
    if train.kl_coef:
        formula = KL_ESTIMATORS.get(train.kl_estimator).formula
        yield f"KL   = {formula}, at temperature {rollout.sampling.temperature:g}  ({train.kl_estimator})"
        yield "       π_ref: the model that online training starts from"
    if train.entropy_coef:
        yield "H    = entropy of the distribution that k was drawn from"
    yield ""
    yield from _sampling(train, rollout)
    first, second = train.adam_betas
    yield (
        f"{train.iterations} iterations of {train.ppo_epochs} passes in batches of about {train.batch_size} turns; "
        f"AdamW: lr {train.lr:g}, betas {first:g} and {second:g}, weight decay {train.weight_decay:g}"
    )
    yield (
        "each optimizer step minimises its batch's part of L times (turns of the update / turns of the batch); "
        f"the norm of that gradient is clipped to {train.grad_clip:g}"
    )
    if train.replay_buffer_capacity > 1:
        count, power = train.samples_per_iteration or "as many", f"k^{train.recency_bias_power:g}"
        yield (
            f"an update draws {count} turns of the last {train.replay_buffer_capacity} iterations, of the k-th by "
            f"{power}; w is scaled to the sum that one iteration has"
        )
    if train.warmup_steps:
        yield f"lr rises linearly over the first {train.warmup_steps} steps"
    if train.schedule == "cosine":
        yield "lr falls from iteration to iteration down a half cosine that would be 0 after the last"


def _sampling(train: TrainConfig, rollout: RolloutConfig) -> Iterator[str]:
    """Which groups train, and how far their episodes go."""
    if train.dynamic_sampling:
        positive = ", one of them positive" if LOSSES.get(train.policy_loss).positives_only else ""
        yield f"dynamic sampling: as many groups as give {train.groups_per_iteration} whose rewards differ{positive}"
    else:
        yield f"fixed batches: the next {train.groups_per_iteration} groups that end train, whatever their rewards"
    if train.kl_coef or train.entropy_coef:
        yield "what trains: all turns of valid trajectories, those with A_i = 0 by the other terms alone"
    else:
        yield "what trains: all turns of valid trajectories with A_i ≠ 0"
    yield "       also malformed responses and those cut at max_tokens; every sampled token, the end token included"
    if rollout.max_staleness:
        yield (
            f"staleness: rollouts go on during updates; a group with a token more than {rollout.max_staleness} "
            "versions older than the weights that would train on it is dropped, finished or not"
        )
    else:
        yield "staleness: none, rollouts and updates take turns"
    begin = 1
    for stage in train.stages:
        end = train.iterations if stage is train.stages[-1] else begin + stage.iterations - 1
        ratio = f", difficulties drawn {stage.difficulty_sampling}" if stage.difficulty_sampling else ""
        yield f"iterations {begin} to {end}: episodes of {_horizon(stage)}{ratio}"
        begin = end + 1
    if not train.stages:
        yield f"episodes of {_horizon(rollout)}"


def _horizon(section: HorizonSection) -> str:
    easier = [f"{turns} up to difficulty {level}" for level, turns in sorted(section.max_steps_by_difficulty.items())]
    most = f"at most {section.max_steps} turns"
    return f"{most} ({', '.join(easier)})" if easier else most
