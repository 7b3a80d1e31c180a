"""Options of the learner: the recipe's `sft` and `train` sections."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from webdojo.config import Section
from webdojo.plugins import Registry, plug_name
from webdojo.rollout.config import StageConfig
from webdojo.trainer.advantages import ADVANTAGES, NORMALIZERS
from webdojo.trainer.losses import CORRECTIONS, KL_ESTIMATORS, LOSSES, Clip

NAMED_PARTS: dict[str, Registry[Any]] = {
    "policy_loss": LOSSES,
    "advantage": ADVANTAGES,
    "normalizer": NORMALIZERS,
    "correction": CORRECTIONS,
    "kl_estimator": KL_ESTIMATORS,
}
"""The keys of `train` that name a plug."""

PPO = dict.fromkeys(("ppo", "ppo_clip", "grpo", "vanilla"), "clip")
"""What other libraries call the loss of PPO, which is that of GRPO, too."""


class SFTConfig(Section):
    demos: int = Field(default=400, ge=0)
    """Oracle demonstrations, where `data` names none; 0 skips the warm start."""
    data: list[str] = []
    """Data sets to imitate in place of the oracle (`webdojo collect`): all of one that was curated (`webdojo curate`),
    of another its successes."""
    epochs: int = Field(default=3, ge=1)
    lr: float = Field(default=1e-5, gt=0)
    """Peak of the schedule."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """After a linear warm-up: down to almost 0 at the last step, or the peak to the end."""
    warmup_ratio: float = Field(default=0.1, ge=0, le=1)
    batch_size: int = Field(default=128, ge=1)
    """Turns an optimizer step."""

    @field_validator("data", mode="before")
    @classmethod
    def _one_or_many(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given

    @property
    def demonstrated(self) -> int:
        """The demonstrations that a run makes itself."""
        return 0 if self.data else self.demos


class TrainConfig(Section):
    iterations: int = Field(default=90, ge=0)
    """Updates of online training; 0 ends with the warm start."""
    stages: list[StageConfig] = Field(default=[])
    """Curriculum, in order: how far episodes may go, in place of the horizon of `rollout`, and which difficulties are
    drawn. Empty is one stage."""
    groups_per_iteration: int = Field(default=48, ge=1)
    """Groups that an iteration trains on."""
    dynamic_sampling: bool = True
    """Roll out until so many groups are effective: their rewards differ, and where the loss learns from positives only
    one is positive (DAPO; OpenWebRL §4.4). False trains on the next groups that end, whatever their rewards, but for
    those without a valid member and those that are too stale."""
    max_groups_per_iteration: int = Field(default=0, ge=0)
    """Clear error when this many groups that ended since the last update hold too few that train; 0 means 8 times the
    above."""
    ppo_epochs: int = Field(default=2, ge=1)
    """Passes over the turns of an update."""
    batch_size: int = Field(default=256, ge=1)
    """About how many turns an optimizer step takes: batches are even, and the turns of a group, which share most, stay
    in one."""
    threads: int = Field(default=0, ge=0)
    """torch threads of a step on the CPU, all ranks together; 0 takes every core. An embedded engine there sleeps
    meanwhile."""
    micro_batch_tokens: int = Field(default=8192, ge=1)
    """Tokens of a packed micro-batch, which is one forward and backward pass; what its samples share counts once."""
    ranks: int = Field(default=1, ge=1)
    """Processes that share an update, each on a GPU of its own where models are on GPUs: of this machine, or all that
    torchrun has started, on any number of machines. Weights, gradients and optimizer state are spread over them
    (FSDP2)."""
    gradient_checkpointing: bool = False
    """Keep only what enters each layer and compute the rest again in the backward pass: about a third more time, and a
    fraction of the memory of a micro-batch."""
    compile: bool = False
    """Compile the text layers with torch.compile, once for micro-batches of every length: minutes at the start, then
    faster steps on a GPU."""
    optimizer: Literal["adamw", "adamw_8bit"] = "adamw"
    """AdamW, with its two moments in float32 (8 bytes a parameter) or in 8 bits (2 bytes, `webdojo[torchao]`)."""
    optimizer_offload: bool = False
    """Between steps the moments lie in the machine's memory, and leave the GPU's to passes and to engines."""
    lr: float = Field(default=1e-6, gt=0)
    """Learning rate of online training: the peak of the schedule."""
    warmup_steps: int = Field(default=0, ge=0)
    """Optimizer steps over which the rate rises to `lr`."""
    schedule: Literal["constant", "cosine"] = "constant"
    """After the warm-up: the peak to the end, or iteration by iteration down a half cosine that would be 0 after the
    last (WebGym, table 6)."""
    weight_decay: float = Field(default=0.1, ge=0)
    adam_betas: tuple[Annotated[float, Field(ge=0, lt=1)], Annotated[float, Field(ge=0, lt=1)]] = (0.9, 0.98)
    grad_clip: float = Field(default=1.0, gt=0)
    """Norm to which the gradient of a step is clipped."""
    max_engine_gap: float = Field(default=0.2, gt=0)
    """The largest mean difference in nats between the log-probabilities of the engine and the learner, for the same
    weights, with which training goes on. It is measured before training and after each update (`docs/metrics.md`,
    `contract_gap_image`); a difference that a mistake with an image explains ends the run whatever its size."""
    clip_low: float = Field(default=0.2, ge=0, le=1)
    """ε_low: a token with a negative advantage loses its gradient where its ratio is below 1 - ε_low."""
    clip_high: float = Field(default=0.28, ge=0)
    """ε_high: one with a positive advantage, where its ratio is above 1 + ε_high."""
    policy_loss: Annotated[str, plug_name(LOSSES, PPO)] = "clip"
    """See `trainer/losses.py`: `clip` (PPO), `decoupled` (PPO), `gspo`, `cispo`, `raft` (RAFT++), `bc` (filtered
    behaviour cloning), or a `Loss` of your own."""
    dual_clip: float = Field(default=0.0, ge=0)
    """c of dual clip, 3 in the literature: bounds the loss of tokens with a negative advantage; 0 is off."""
    behav_imp_weight_cap: float = Field(default=5.0, ge=0)
    """In a decoupled loss, tokens whose π_prox / π_behave is above it add nothing; 0 is off, and a few stale tokens may
    then outweigh a whole batch."""
    advantage: Annotated[str, plug_name(ADVANTAGES)] = "grpo"
    """See `trainer/advantages.py`: `grpo`, `dr_grpo`, `rloo`, `reinforce`, `reinforce_baseline`, `reinforce_plus_plus`,
    `reinforce_plus_plus_baseline`, or an `Advantage` of your own."""
    normalizer: Annotated[str, plug_name(NORMALIZERS)] = "openwebrl"
    """`openwebrl`: mean over the tokens of a turn, no 1/T; `webagent_r1`: also 1/T; `webgym`: sum over tokens and
    turns; `length_norm`: that sum by 1/T; `asyncwebrl` and `dr_grpo`: by the constant `normalizer_k`; `dapo`: mean over
    all tokens of the update."""
    normalizer_k: float = Field(default=0.0, ge=0)
    """The constant that `asyncwebrl` and `dr_grpo` divide by. 0 takes 10, the horizon of easy tasks (AsyncWebRL), and
    for `dr_grpo` `rollout.sampling.max_tokens`, the longest response that may be sampled (Dr. GRPO)."""
    old_logprobs: Literal["engine", "learner", "loglinear"] = "engine"
    """π_prox of the ratio: what the engine reported, the learner's weights at the start of the update, or, in a
    decoupled loss, log-linear between what the engine reported and the weights that learn, which saves a forward pass:
    for a token d versions old, log π_prox = log π_behave + d / (d + 1) · (log π - log π_behave)."""
    correction: Annotated[str, plug_name(CORRECTIONS)] = "none"
    """Factor c of a token's loss where engine and learner disagree, with q = π_learner / π_engine of the token, and 0
    where a condition does not hold: `none`: 1; `tis`: min(q, 2); `icepop`: q, if 0.5 <= q <= 5; `mis_token`: q, if
    q <= 2; `mis_sequence`: Q, if Q <= 2, for Q the product of q over the turn; `mis_geometric`: 1, if the geometric
    mean of q over the turn is at most 2. Needs `old_logprobs: learner`."""
    kl_coef: float = Field(default=0.0, ge=0)
    """β of the KL term against the model that online training starts from; 0 loads no reference model."""
    kl_estimator: Annotated[str, plug_name(KL_ESTIMATORS)] = "k3"
    """See `trainer/losses.py`: `k1`, `k2` or `k3`."""
    entropy_coef: float = Field(default=0.0, ge=0)
    """Weight of the entropy bonus."""
    repetition_penalty: bool = False
    """A turn after which the screen is the same gets no positive weight (WebGym §5.2)."""
    replay_buffer_capacity: int = Field(default=1, ge=1)
    """Iterations that an update draws its turns from, ending with its own; 1 is no replay (WebGym, table 6)."""
    recency_bias_power: float = Field(default=1.0, ge=0, le=16)
    """A turn of the k-th iteration of the replay buffer, counted from the oldest, is drawn with weight k to this
    power."""
    samples_per_iteration: int = Field(default=0, ge=0)
    """Turns that an update draws from the replay buffer; 0 is as many as its own iteration has brought."""
    save_every: int = Field(default=5, ge=1)
    """Iterations between checkpoints that stay; the latest and the best policy's stay besides (`loops/keep.py`)."""
    save_total_limit: int = Field(default=5, ge=0)
    """Checkpoints of online training that stay, the latest (and as many before it as `rollout.max_staleness` says) and
    the best among them; the oldest go. 0 keeps all."""

    @property
    def most_groups(self) -> int:
        """So many groups that ended since the last update must hold enough that train."""
        return self.max_groups_per_iteration or 8 * self.groups_per_iteration

    @property
    def k(self) -> float:
        """The constant of a normalizer."""
        return self.normalizer_k or 10.0

    @property
    def clip(self) -> Clip:
        """The bounds of a policy loss."""
        return Clip(self.clip_low, self.clip_high, self.dual_clip, self.behav_imp_weight_cap)

    @model_validator(mode="after")
    def _fits_together(self) -> TrainConfig:
        loss = LOSSES.get(self.policy_loss)
        if self.correction != "none" and self.old_logprobs != "learner":
            raise ValueError(f"correction {self.correction!r} compares engine and learner: set old_logprobs: learner")
        if loss.decoupled and self.correction != "none":
            raise ValueError(
                f"policy_loss {self.policy_loss!r} already weighs by π_prox / π_behave: leave correction at none"
            )
        if loss.decoupled and self.old_logprobs == "engine":
            raise ValueError(f"policy_loss {self.policy_loss!r} needs a π_prox: set old_logprobs: learner or loglinear")
        if not loss.decoupled and self.old_logprobs == "loglinear":
            fitting = " or ".join(repr(name) for name, built_in in LOSSES.built_in.items() if built_in.decoupled)
            raise ValueError(f"old_logprobs 'loglinear' is for policy_loss {fitting}, not {self.policy_loss!r}")
        if self.dual_clip and not loss.dual_clip:
            raise ValueError(f"policy_loss {self.policy_loss!r} has no dual clip: set dual_clip to 0")
        if 0 < self.dual_clip <= 1:
            raise ValueError(
                f"dual_clip {self.dual_clip:g} would stop all that tokens of a negative advantage teach: take one "
                "above 1, such as 3, or 0 for none"
            )
        if 0 < self.max_groups_per_iteration < self.groups_per_iteration:
            raise ValueError(
                f"max_groups_per_iteration {self.max_groups_per_iteration} is below groups_per_iteration "
                f"{self.groups_per_iteration}, so no update could begin: raise it, or set 0"
            )
        if self.samples_per_iteration and self.replay_buffer_capacity == 1:
            raise ValueError(
                f"samples_per_iteration {self.samples_per_iteration} draws from a replay buffer: set "
                "replay_buffer_capacity above 1, or samples_per_iteration to 0"
            )
        return self
