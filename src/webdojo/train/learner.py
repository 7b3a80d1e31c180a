"""The learner: optimizer steps on weighted samples.

It minimises the sum over samples of weight times token loss and knows no algorithm. An update of N
samples is split into mini-batches; each optimizer step sees N / len(mini-batch) times its part of the
sum, an unbiased estimate of the whole objective, and is packed into rows that compute once what its
samples share (`radix`): their gradients add up to the mini-batch's. Invariant: the same samples, seed and
checkpoint give the same weights; a step whose loss or gradient is not finite changes no weight and raises.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel

from webdojo.config import TrainConfig
from webdojo.errors import ModelError, TrainError
from webdojo.policy.features import FeatureCache, ImageFeatures
from webdojo.policy.forward import TokenScores, attend_in_rows, join_features, token_logprobs, vision_tower
from webdojo.policy.loading import load_model
from webdojo.policy.processor import Processor
from webdojo.train.batch import Sample, mini_batches
from webdojo.train.checkpoint import check_checkpoint, read_trainer, write_checkpoint
from webdojo.train.metrics import Means
from webdojo.train.objective import Objective
from webdojo.train.radix import Paths, Row, cut
from webdojo.train.rows import collate_row
from webdojo.train.schedule import constant
from webdojo.types import ImageSource

TokenLoss = Callable[[Sequence[Sample], TokenScores], tuple[Tensor, dict[str, float]]]
"""From the samples of a row and the scores of their T response tokens, sample after sample, to the summed
loss and to means over those tokens for the log."""


class Learner:
    """A model, its optimizer, and the steps it has taken, on the device that the model is on.

    Args:
        model: float32 weights; parameters with `requires_grad=False` stay as they are. Where none of the vision
            tower's trains, each screenshot is decoded and goes through the tower once, while memory for it lasts.
        processor: of the same model folder; saved with every checkpoint.
        images: where the screenshots of the prompts are read from.
        config: optimizer, clip and batch sizes.
        reference: what the KL term holds the policy to (`config.kl_coef`); on the CPU but while it scores.
        seed: of the order in which samples are drawn.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        processor: Processor,
        images: ImageSource,
        config: TrainConfig,
        *,
        reference: PreTrainedModel | None = None,
        seed: int = 0,
    ) -> None:
        for network in (model, reference):
            if network is not None:
                attend_in_rows(network)
        self.model = model
        self.reference = reference
        self.processor = processor
        self.images = images
        self.config = config
        self.steps = 0
        """Optimizer steps taken; the schedule's only state."""
        self.stop = threading.Event()
        """Set from another thread, it makes `step` raise before its next row."""
        self._remembered: list[Tensor] = []
        self._generator = torch.Generator().manual_seed(seed)
        trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        self._parameters = [p for _, p in trained]
        tower = vision_tower(model)
        vision_trains = tower is not None and any(p.requires_grad for p in tower.parameters())
        self._features = None if vision_trains else FeatureCache(model, processor, images)
        self._optimizer = torch.optim.AdamW(
            [
                {"params": [(name, p) for name, p in trained if p.ndim >= 2], "weight_decay": config.weight_decay},
                # Decay pulls norms and biases away from their neutral values and regularises nothing.
                {"params": [(name, p) for name, p in trained if p.ndim < 2], "weight_decay": 0.0},
            ],
            lr=config.lr,
            betas=config.adam_betas,
            fused=True,
        )

    @torch.no_grad()
    def logprobs(self, samples: Sequence[Sample], temperature: float) -> list[Tensor]:
        """Log-probabilities [|y|] of each sample's response under the current weights, on the CPU, in order."""
        return self._by_sample(samples, lambda row, members: self._scores(row, members, temperature))

    def train_policy(self, samples: Sequence[Sample], temperature: float) -> dict[str, float]:
        """One policy update: `ppo_epochs` passes over the samples with the clipped loss (OpenWebRL §4.4).

        Args:
            samples: of `samples_from_groups`.
            temperature: at which the responses were sampled; logits are divided by it.

        Returns:
            Means over tokens: `entropy` and `approx_kl` (nats), `clip_fraction`, `ratio`. Means over optimizer
            steps: `loss`, `grad_norm` (before clipping), `lr`. `packing`: how many times as many tokens the samples
            have apart as in the rows that were computed. Counts: `samples`, `tokens` (of the responses),
            `optimizer_steps`. `seconds`. And `engine_gap_mean` and `engine_gap_max`, the absolute difference in
            nats between the engine's logprobs and the learner's before the first step, over tokens of the
            newest version (of the first mini-batch only, where `old_logprobs` is `engine`; absent where that
            has no such token).

        Raises:
            TrainError: no samples, or a loss or gradient that is not finite.
        """
        if not samples:
            raise TrainError("a policy update has no samples: every trajectory was invalid or empty")
        config = self.config
        started = time.perf_counter()
        first_step = self.steps
        newest = max(version for sample in samples for version in sample.versions)
        gaps: list[Tensor] = []
        if config.old_logprobs == "learner":
            current = self.logprobs(samples, temperature)
            gaps = [_engine_gap([s], lp, newest) for s, lp in zip(samples, current, strict=True)]
            samples = [
                dataclasses.replace(sample, prox_logprobs=logprobs.tolist())
                for sample, logprobs in zip(samples, current, strict=True)
            ]
        if self.reference is not None:
            before = self._reference_logprobs(samples, temperature)
            samples = [
                dataclasses.replace(sample, reference_logprobs=logprobs.tolist())
                for sample, logprobs in zip(samples, before, strict=True)
            ]
        objective = Objective(config)

        def loss(members: Sequence[Sample], scores: TokenScores) -> tuple[Tensor, dict[str, float]]:
            if config.old_logprobs == "engine" and self.steps == first_step:
                gaps.append(_engine_gap(members, scores.logprobs.detach().cpu(), newest))
            return objective(members, scores)

        means = Means()
        for _ in range(config.ppo_epochs):
            for batch in self.shuffled(samples, config.batch_size):
                lr = constant(self.steps, peak=config.lr, warmup_steps=config.warmup_steps)
                self.step(
                    batch, share=len(batch) / len(samples), temperature=temperature, lr=lr, loss=loss, means=means
                )
        gap_T = torch.cat(gaps)
        gap = {"engine_gap_mean": float(gap_T.mean()), "engine_gap_max": float(gap_T.max())} if len(gap_T) else {}
        return (
            means.result()
            | gap
            | {
                "samples": len(samples),
                "tokens": sum(len(sample.response_ids) for sample in samples),
                "optimizer_steps": self.steps - first_step,
                "seconds": time.perf_counter() - started,
            }
        )

    def shuffled(self, samples: Sequence[Sample], size: int) -> list[list[Sample]]:
        """Seeded mini-batches of one pass over the samples."""
        batches = mini_batches([sample.unit for sample in samples], size, self._generator)
        return [[samples[i] for i in batch] for batch in batches]

    def step(
        self,
        batch: Sequence[Sample],
        *,
        share: float,
        temperature: float,
        lr: float,
        loss: TokenLoss,
        means: Means,
    ) -> None:
        """One optimizer step on a mini-batch.

        Args:
            batch: the samples of the mini-batch.
            share: of the update's samples that the mini-batch holds, in (0, 1]; the loss is divided by it.
            temperature: logits are divided by it.
            lr: learning rate of this step.
            loss: what to minimise.
            means: where `loss`, `grad_norm`, `lr` and the token means are added.

        Raises:
            TrainError: loss or gradient is not finite, or `stop` is set; the weights are as before.
        """
        self._optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for row in self._rows(batch):
            if self.stop.is_set():
                raise TrainError(f"optimizer step {self.steps} was stopped; the weights are as before it")
            members = [batch[i] for i in row.members]
            scores = self._scores(row, members, temperature)
            part, token_means = loss(members, scores)
            (part / share).backward()
            total += float(part.detach()) / share
            entropy = float(scores.entropy.detach().mean())
            means.add({"entropy": entropy, **token_means}, weight=len(scores.logprobs))
            means.add({"packing": sum(map(len, members)) / row.tokens}, weight=row.tokens)
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters, self.config.grad_clip))
        if not (math.isfinite(total) and math.isfinite(norm)):
            self._optimizer.zero_grad(set_to_none=True)
            raise TrainError(
                f"optimizer step {self.steps}: loss {total} with gradient norm {norm} is not finite; the weights are "
                f"as before the step; resume from the last checkpoint with a lower lr (now {lr:g}) or grad_clip"
            )
        for group in self._optimizer.param_groups:
            group["lr"] = lr
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.steps += 1
        means.add({"loss": total, "grad_norm": norm, "lr": lr})

    def remember(self) -> None:
        """Copy the weights that train to CPU memory, in place of the copy before."""
        self._remembered = [parameter.detach().to("cpu", copy=True) for parameter in self._parameters]

    @torch.no_grad()
    def recall(self) -> None:
        """Go back to the weights of `remember`; the optimizer stays as it is."""
        for parameter, value in zip(self._parameters, self._remembered, strict=True):
            parameter.copy_(value)

    def save(self, folder: Path) -> None:
        """Write a checkpoint that `load` continues from bit for bit and that `load_model` can serve."""
        moments = self._optimizer.state_dict()["state"]
        trainer = {
            "steps": self.steps,
            "generator": self._generator.get_state(),
            "optimizer": {name: moments.get(i, {}) for i, name in enumerate(self._names())},
        }
        write_checkpoint(folder, self.model, self.processor, trainer)

    def load(self, folder: Path) -> None:
        """Take over weights, optimizer moments, step count and sample order of a checkpoint.

        Learning rate, decay and betas stay those of `config`, so a resumed run may change them.

        Raises:
            ModelError: no checkpoint there, a corrupt file, a model of another shape, or a learner that trained
                other parameters (nothing has changed then).
        """
        check_checkpoint(folder)
        saved, _ = load_model(folder, dtype=self.model.dtype)
        trainer = read_trainer(folder)
        moments, names = trainer["optimizer"], self._names()
        if moments.keys() != set(names):
            raise ModelError(
                f"checkpoint {str(folder)!r} holds optimizer moments of {len(moments)} parameters, not of the "
                f"{len(names)} that train now, first difference {min(map(str, moments.keys() ^ set(names)))!r}; resume "
                "with the same model.freeze_* as before, or start a new run with model.path set to this folder"
            )
        try:
            self.model.load_state_dict(saved.state_dict())
        except RuntimeError:
            raise ModelError(
                f"checkpoint {str(folder)!r} holds a model of another shape than the one that learns"
            ) from None
        if self._features is not None:
            self._features.clear()
        state = {i: moments[name] for i, name in enumerate(names) if moments[name]}
        self._optimizer.load_state_dict(self._optimizer.state_dict() | {"state": state})
        self._generator.set_state(trainer["generator"])
        self.steps = trainer["steps"]

    def _names(self) -> list[str]:
        """Names of the parameters that train, in the optimizer's order."""
        return [name for group in self._optimizer.param_groups for name in group["param_names"]]

    def _rows(self, samples: Sequence[Sample]) -> list[Row]:
        """The samples packed, largest row first: an out-of-memory shows at once."""
        paths = Paths([(sample.prompt, sample.response_ids) for sample in samples])
        return sorted(cut(paths, self.config.micro_batch_tokens), key=lambda row: -row.tokens)

    @torch.no_grad()
    def _reference_logprobs(self, samples: Sequence[Sample], temperature: float) -> list[Tensor]:
        """As `logprobs`, under the reference model."""
        assert self.reference is not None
        reference, device = self.reference, self.model.device

        def scores(row: Row, members: Sequence[Sample]) -> TokenScores:
            sequences = [(sample.prompt, sample.response_ids) for sample in members]
            batch = collate_row(row, sequences, self.processor, self.images).to(device)
            return token_logprobs(reference, batch, temperature)

        reference.to(device)  # type: ignore[arg-type]
        found = self._by_sample(samples, scores)
        reference.to("cpu")  # type: ignore[arg-type]
        return found

    def _by_sample(
        self, samples: Sequence[Sample], scores: Callable[[Row, Sequence[Sample]], TokenScores]
    ) -> list[Tensor]:
        """Log-probabilities of each sample's response, on the CPU and in order, from scores row by row."""
        found: dict[int, Tensor] = {}
        for row in self._rows(samples):
            members = [samples[i] for i in row.members]
            parts = scores(row, members).logprobs.cpu().split([len(sample.response_ids) for sample in members])
            found |= dict(zip(row.members, parts, strict=True))
        return [found[i] for i in range(len(samples))]

    def _scores(self, row: Row, members: Sequence[Sample], temperature: float) -> TokenScores:
        sequences = [(sample.prompt, sample.response_ids) for sample in members]
        entropy_grad = self.config.entropy_coef > 0
        if self._features is None:
            batch = collate_row(row, sequences, self.processor, self.images)
            return token_logprobs(self.model, batch.to(self.model.device), temperature, entropy_grad=entropy_grad)
        shown: dict[str, ImageFeatures] = {}
        for sample in members:
            shown |= self._features.of(sample.prompt)
        grids = {sha: image.grid for sha, image in shown.items()}
        batch = collate_row(row, sequences, self.processor, self.images, grids)
        features = join_features([image.features for image in shown.values()])
        return token_logprobs(self.model, batch.to(self.model.device), temperature, features, entropy_grad=entropy_grad)


def _engine_gap(samples: Sequence[Sample], logprobs_T: Tensor, newest: int) -> Tensor:
    """|engine - learner| in nats of the tokens that `newest` sampled."""
    engine_T = torch.tensor([lp for sample in samples for lp in sample.old_logprobs])
    chosen_T = torch.tensor([version == newest for sample in samples for version in sample.versions])
    return (logprobs_T - engine_T).abs()[chosen_T]
