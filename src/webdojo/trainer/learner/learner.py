"""The learner: optimizer steps on weighted samples.

It minimises the sum over samples of token weight times token loss, and knows no algorithm. An update of N samples is
split into mini-batches; each optimizer step sees N / len(mini-batch) times its part of the sum, an unbiased estimate of
the whole objective, and is packed into micro-batches that compute once what its samples share (`packing`): their
gradients add up to the mini-batch's, on whichever ranks they are computed.
Invariant: the same samples, seed and checkpoint give the same weights, and the same to float tolerance on any number
of ranks; a step whose loss or gradient is not finite changes no weight and raises.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import torch
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from transformers import PreTrainedModel

from webdojo.errors import ModelError, TrainError
from webdojo.policy.model.forward import TokenScores
from webdojo.policy.model.loading import load_model, save_settings
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import Sample, mini_batches
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner import checkpoint
from webdojo.trainer.learner.lora import ADAPTER, Adapters
from webdojo.trainer.learner.malloc import keep_freed_memory
from webdojo.trainer.learner.optimizer import (
    constant,
    fresh_moments,
    half_cosine,
    make_optimizer,
    moments_of,
    parameters_of,
    step_optimizer,
)
from webdojo.trainer.learner.ranks import Ranks
from webdojo.trainer.learner.scoring import Scoring, in_memory, in_order
from webdojo.trainer.learner.sharding import gather_weights, load_weights, whole_tensor
from webdojo.trainer.objective import objective
from webdojo.types import ImageSource

P = ParamSpec("P")
T = TypeVar("T")

TokenLoss = Callable[[Sequence[Sample], TokenScores], tuple[Tensor, dict[str, float]]]
"""Takes the samples of a micro-batch and the scores of their T response tokens, sample after sample; gives the summed
loss, and means over those tokens for the log. With several ranks it is pickled for the others."""

OnScored = Callable[[Sequence[Sample], Sequence[Tensor]], None]
"""Takes samples and the log-probabilities [|y|] that the learner has given their responses."""


class Means:
    """Running weighted means by name, for the log: of tokens over micro-batches, of steps over an update."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._weights: defaultdict[str, float] = defaultdict(float)

    def add(self, values: Mapping[str, float], weight: float = 1.0) -> None:
        for name, value in values.items():
            self._sums[name] += weight * value
            self._weights[name] += weight

    def merge(self, other: Means) -> None:
        for name, total in other._sums.items():
            self._sums[name] += total
            self._weights[name] += other._weights[name]

    def result(self) -> dict[str, float]:
        return {name: total / self._weights[name] for name, total in self._sums.items()}


def on_every_rank(method: Callable[Concatenate[Learner, P], T]) -> Callable[Concatenate[Learner, P], T]:
    """The driver's call of the method is a call on every rank, each with its own learner; its own result comes back."""

    @wraps(method)
    def everywhere(self: Learner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.ranks.doing(everywhere, args, kwargs):
            return method(self, *args, **kwargs)

    return everywhere


class Learner:
    """A model, its optimizer, and the steps it has taken, on the device that the model is on.

    Parameters with `requires_grad=False` stay as they are; where none of the vision tower's trains, each screenshot
    goes through it once, while memory lasts. With a mesh in `ranks` the float32 model is on the CPU, in parts or whole,
    and is spread over the mesh; the driver's methods do on all ranks what they do on one, and once one has raised, the
    ranks have ended.
    The `reference` of the KL term is spread likewise, but for its vision tower, and on the CPU but while it scores;
    where there are adapters it is the model without them. `compute_dtype` is other than float32 only with a mesh.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        processor: Processor,
        images: ImageSource,
        config: TrainConfig,
        *,
        reference: PreTrainedModel | None = None,
        adapters: Adapters | None = None,
        seed: int = 0,
        ranks: Ranks | None = None,
        compute_dtype: torch.dtype = torch.float32,
    ) -> None:
        self.ranks = ranks or Ranks()
        self.stop = threading.Event()
        """Set from another thread, it makes whatever computes micro-batches raise before its next one."""
        self._scoring = Scoring(model, processor, images, config, self.ranks, compute_dtype, self.stop, reference)
        if model.device.type == "cpu":
            keep_freed_memory()
        self.model = model
        self.adapters = adapters
        self.processor = processor
        self.config = config
        self.steps = 0  # of the optimizer; the schedule's only state
        self.thread = ThreadPoolExecutor(1, "learner")
        """For steps beside other work. Always the same thread, because malloc keeps what a thread has freed for that
        thread: in a pool each would keep the memory of an update."""
        self.generator = torch.Generator().manual_seed(seed)  # of the order in which samples are drawn
        trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        self._parameters = [p for _, p in trained]
        self._optimizer = make_optimizer(trained, config)

    @on_every_rank
    def logprobs(self, samples: Sequence[Sample], temperature: float, *, reference: bool = False) -> list[Tensor]:
        """Log-probabilities [|y|] of each sample's response under the current weights, or those of the reference model,
        on the CPU, in order."""
        with self.adapters.disabled() if reference and self.adapters is not None else nullcontext():
            return self._scoring.logprobs(samples, temperature, reference=reference and self.adapters is None)

    def train_policy(
        self,
        samples: Sequence[Sample],
        temperature: float,
        version: int | None = None,
        on_scored: OnScored | None = None,
    ) -> dict[str, float]:
        """One policy update: `ppo_epochs` passes over the samples with the recipe's loss (OpenWebRL §4.4).

        `temperature` is the one at which the responses were sampled; `version` that of the weights that learn, by
        default the newest that sampled. Returns the metrics of an update (`docs/metrics.md`). `engine_gap_mean` and
        `engine_gap_max` are over the tokens of that version before the first step, of the first mini-batch only, unless
        `old_logprobs` is `learner`, and so are `engine_kl_image` and `engine_kl_text`, of turns that show an image and
        of others; absent where that has no such token. `on_scored` gets the samples that they are measured on. Without
        samples there is no step. A loss or gradient that is not finite, or `stop`, is a TrainError.
        """
        config = self.config
        started = time.perf_counter()
        first_step = self.steps
        if not samples:
            return self.totals(samples, first_step, started)
        if version is None:
            version = max(sampled_by for sample in samples for sampled_by in sample.versions)
        gaps: dict[str, float] | None = None

        def compare(scored: Sequence[Sample], logprobs: Sequence[Tensor]) -> dict[str, float]:
            if on_scored is not None:
                on_scored(scored, logprobs)
            return _engine_gaps(scored, logprobs, version)

        if config.old_logprobs == "learner":
            current = self.logprobs(samples, temperature)
            gaps = compare(samples, current)
            samples = [replace(s, prox_logprobs=lp.tolist()) for s, lp in zip(samples, current, strict=True)]
        if config.kl_coef:
            before = self.logprobs(samples, temperature, reference=True)
            samples = [replace(s, reference_logprobs=lp.tolist()) for s, lp in zip(samples, before, strict=True)]
        loss, means = partial(objective, config=config, version=version), Means()
        decayed = half_cosine(version / max(config.iterations, 1)) if config.schedule == "cosine" else 1.0
        for _ in range(config.ppo_epochs):
            for batch in mini_batches(samples, config.batch_size, self.generator):
                lr = decayed * constant(self.steps, peak=config.lr, warmup_steps=config.warmup_steps)
                share = len(batch) / len(samples)
                scored = self.step(batch, share=share, temperature=temperature, lr=lr, loss=loss, means=means)
                if gaps is None:  # of the first step, unless `old_logprobs: learner`
                    gaps = compare(batch, scored)
        return means.result() | (gaps or {}) | self.totals(samples, first_step, started)

    def totals(self, samples: Sequence[Sample], first_step: int, started: float) -> dict[str, float]:
        return {
            "samples": len(samples),
            "tokens": sum(len(sample.response_ids) for sample in samples),
            "optimizer_steps": self.steps - first_step,
            "seconds": time.perf_counter() - started,
        }

    @on_every_rank
    def step(
        self,
        batch: Sequence[Sample],
        *,
        share: float,
        temperature: float,
        lr: float,
        loss: TokenLoss,
        means: Means,
    ) -> list[Tensor]:
        """One optimizer step on a mini-batch, which holds `share` in (0, 1] of the update's samples; the loss is
        divided by it.

        Adds `loss`, `grad_norm`, `lr` and the token means to `means`. Returns log-probabilities [|y|] of each sample's
        response before the step, on the CPU, in order. Where it raises, the weights are as before.
        """
        self._optimizer.zero_grad(set_to_none=True)
        if self.adapters is not None:
            self.adapters.reseed(self.steps, self.ranks.rank)
        total, own, mine = 0.0, Means(), dict[int, Tensor]()
        for piece in self._scoring.pieces(batch):
            with in_memory(partial(self._scoring.does_not_fit, piece)):
                scores = self._scoring.scores(piece, temperature)
                if not piece.micro_batch.counts:
                    (scores.logprobs.sum() * 0.0).backward()
                    continue
                part, token_means = loss(piece.members, scores)
                (part / share).backward()
            total += float(part.detach()) / share
            entropy = float(scores.entropy.detach().mean())
            own.add({"entropy": entropy, **token_means}, weight=len(scores.logprobs))
            tokens = piece.micro_batch.tokens
            own.add({"packing": sum(map(len, piece.members)) / tokens}, weight=tokens)
            mine |= piece.by_sample(scores)
        totals, found, scored = zip(*self.ranks.gather((total, own, mine)), strict=True)
        total = sum(totals)
        # The gradients of all ranks are scaled to a joint norm of at most `grad_clip`.
        norm_tensor = whole_tensor(get_total_norm([p.grad for p in self._parameters if p.grad is not None]))
        clip_grads_with_norm_(self._parameters, self.config.grad_clip, norm_tensor)
        norm = float(norm_tensor)
        if not (math.isfinite(total) and math.isfinite(norm)):
            self._optimizer.zero_grad(set_to_none=True)
            raise TrainError(
                f"optimizer step {self.steps}: loss {total} with gradient norm {norm} is not finite; the weights are "
                f"as before the step; resume from the last checkpoint with a lower lr (now {lr:g}) or grad_clip"
            )
        smaller = "train.optimizer=adamw_8bit or " if self.config.optimizer == "adamw" else ""
        message = (
            f"in the optimizer's step over {sum(p.numel() for p in self._parameters):,} values "
            f"(train.optimizer={self.config.optimizer}); set {smaller}model.lora.r=16, freeze more (model.freeze_*), "
            "or take more ranks, and resume"
        )
        with in_memory(lambda: message):
            step_optimizer(self._optimizer, lr, self.config)
        self._optimizer.zero_grad(set_to_none=True)
        self.steps += 1
        for of_rank in found:
            means.merge(of_rank)
        means.add({"loss": total, "grad_norm": norm, "lr": lr})
        return in_order(scored)

    @on_every_rank
    def state_dict(self) -> Mapping[str, Tensor]:
        """The policy's weights, whole, by the names of the model without adapters, which are merged into them."""
        whole = gather_weights(self.model, keep=self.ranks.rank == 0)
        return whole if self.adapters is None else self.adapters.merged(whole)

    @on_every_rank
    def save(self, folder: Path) -> None:
        """Write a checkpoint that `load_model` can serve and that `load` continues from: bit for bit with one rank."""
        first = self.ranks.rank == 0
        state = {name: value.detach() for name, value in self.model.state_dict(keep_vars=True).items()}
        with checkpoint.writing_weights(folder):
            if first:
                save_settings(self.model, self.processor, folder)
            self._save_weights(folder, state)
            if first:
                trained = list(parameters_of(self._optimizer))
                trainer = {"steps": self.steps, "generator": self.generator.get_state(), "trained": trained}
                torch.save(trainer, folder / checkpoint.TRAINER)
            checkpoint.write_moments(folder, moments_of(self._optimizer))
            if first:
                checkpoint.write_manifest(folder)

    def _save_weights(self, folder: Path, state: Mapping[str, Tensor]) -> None:
        write, adapters = self.ranks.rank == 0, self.adapters
        if adapters is None:
            checkpoint.write_weights(folder, self.model, state, lambda name: whole_tensor(state[name]), write=write)
            return
        own = {name: whole_tensor(value).cpu() for name, value in adapters.own(state).items()}
        if write:
            adapters.write(folder / ADAPTER, own)
        sources = adapters.sources(state)

        def merged(name: str) -> Tensor:
            base = sources[name][0]
            weight = whole_tensor(state[base])
            return adapters.merged({n: own[n] for n in sources[name][1:]} | {base: weight})[name] if write else weight

        shapes = {name: state[base] for name, (base, *_) in sources.items()}
        checkpoint.write_weights(folder, self.model, shapes, merged, write=write)

    @on_every_rank
    def load(self, folder: Path) -> None:
        """Take over weights, optimizer moments, step count and sample order of a checkpoint, of any number of ranks.

        Learning rate, decay and betas stay those of `config`. Where it does not fit, a ModelError comes and nothing has
        changed.
        """
        checkpoint.check_checkpoint(folder)
        saved, _ = load_model(folder, mesh=self.ranks.mesh)
        trainer = torch.load(folder / checkpoint.TRAINER, map_location="cpu", weights_only=True)
        parameters = parameters_of(self._optimizer)
        if different := set(trainer["trained"]) ^ set(parameters):
            raise ModelError(
                f"checkpoint {str(folder)!r} is of a learner that trained {len(trainer['trained'])} parameters, not "
                f"the {len(parameters)} that train now, first difference {min(different)!r}; resume with the same "
                "model.freeze_* and model.lora as before, or start a new run with model.path set to this folder"
            )
        weights: Mapping[str, Tensor] = saved.state_dict()
        if self.adapters is not None:
            weights = self.model.state_dict() | self.adapters.read(folder / ADAPTER)
            self.adapters.check_base(weights, saved.state_dict(), folder)
        load_weights(self.model, weights, f"checkpoint {str(folder)!r}")
        if self._scoring.features is not None:
            self._scoring.features.clear()
        checkpoint.read_moments(folder, partial(fresh_moments, self._optimizer, config=self.config))
        self.generator.set_state(trainer["generator"])
        self.steps = trainer["steps"]

    def close(self) -> None:
        self.ranks.close()
        self.thread.shutdown(wait=False)


def _engine_gaps(samples: Sequence[Sample], logprobs: Sequence[Tensor], version: int) -> dict[str, float]:
    """How far engine and learner are apart on the tokens that `version` sampled: |engine - learner| in nats, and
    KL(engine ‖ learner) by k3, of turns that show an image and of others."""
    by_kind: dict[str, list[Tensor]] = {"image": [], "text": []}
    for sample, lp in zip(samples, logprobs, strict=True):
        ratio_y = (lp - torch.tensor(sample.old_logprobs))[torch.tensor(sample.versions) == version]
        by_kind["image" if sample.prompt.images else "text"].append(ratio_y)
    found = {kind: torch.cat(ratios) for kind, ratios in by_kind.items() if ratios}
    gap_T = torch.cat([*found.values()]).abs()
    if not len(gap_T):
        return {}
    kl = {f"engine_kl_{kind}": float((r.exp() - 1 - r).mean()) for kind, r in found.items() if len(r)}
    return {"engine_gap_mean": float(gap_T.mean()), "engine_gap_max": float(gap_T.max()), **kl}
