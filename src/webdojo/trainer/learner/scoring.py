"""Samples to log-probabilities: packed into micro-batches (`packing`), shared out over the ranks, one forward pass
each."""

from __future__ import annotations

import dataclasses
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from transformers import AttentionInterface, PreTrainedModel

from webdojo.errors import ConfigError, TrainError
from webdojo.memory import is_out_of_memory
from webdojo.policy.model.collate import collate_plain
from webdojo.policy.model.features import FeatureCache, ImageFeatures
from webdojo.policy.model.forward import (
    TokenScores,
    attend_in_rows,
    join_features,
    narrow_last_layer,
    text_layers,
)
from webdojo.policy.model.layouts import layout_of
from webdojo.policy.model.processor import Processor
from webdojo.policy.model.tree_attention import FLEX, TREE, block_attention, tree_attention
from webdojo.trainer.batch import Sample
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.ranks import Ranks
from webdojo.trainer.learner.sharding import Scorer, shard, tower_trains
from webdojo.trainer.packing import MicroBatch, alone, collate_micro_batch, cut, rounds
from webdojo.types import ImageSource

FEATURE_CACHE_BYTES = 250_000_000
"""Visual features that a learner whose vision tower is frozen keeps on its device. An update's screenshots go through
the tower once where they all fit: with a 4 B model, one of 1,280 x 1,000 pixels takes 51 MB."""


class Piece(NamedTuple):
    """A micro-batch that this rank computes, and what the others compute beside it."""

    micro_batch: MicroBatch
    members: list[Sample]
    images: bool
    """Some rank's micro-batch of this round shows an image."""

    def by_sample(self, scores: TokenScores) -> dict[int, Tensor]:
        """Log-probabilities of the members, on the CPU, by the numbers of the samples."""
        lengths = [len(sample.response_ids) for sample in self.members]
        # Copies: a part of a tensor would be pickled with the whole.
        parts = [part.clone() for part in scores.logprobs.detach().cpu().split(lengths)]
        return dict(zip(self.micro_batch.members, parts, strict=True))


class Scoring:
    """The forward passes of a learner, and of its reference model; the arguments are as `Learner` has them.

    Both models are changed in place: they are spread over the mesh, and the layers of the one that learns recompute or
    are compiled as `config` says.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        processor: Processor,
        images: ImageSource,
        config: TrainConfig,
        ranks: Ranks,
        compute_dtype: torch.dtype,
        stop: threading.Event,
        reference: PreTrainedModel | None,
    ) -> None:
        self._model, self._processor, self._images, self._config = model, processor, images, config
        self._ranks, self._compute_dtype, self._stop = ranks, compute_dtype, stop
        self._scorer = Scorer(model)
        self._shares = layout_of(model).shares
        if not self._shares and ranks.count > 1 and tower_trains(model):
            raise ConfigError(
                f"model type {model.config.model_type!r} takes the plain path (docs/models.md), on which ranks that "
                "share no screenshot cannot train its vision tower: set model.freeze_vision=true, or train.ranks=1"
            )
        self._reference: Scorer | None = None
        if reference is not None:
            self._reference = Scorer(reference.requires_grad_(False))
            if self._shares:
                narrow_last_layer(reference)
            if ranks.mesh is not None:
                shard(self._reference, ranks.mesh, compute_dtype)
            self._reference.to("cpu")
        if self._shares:
            narrow_last_layer(model)
        if config.gradient_checkpointing:
            _recompute_activations(model)
        if ranks.mesh is not None:
            shard(self._scorer, ranks.mesh, compute_dtype)
        if config.compile:
            _compile_layers(model)
        kept = self._shares and not tower_trains(model)
        self.features = FeatureCache(model, processor, images, FEATURE_CACHE_BYTES) if kept else None
        if self._shares:
            attend_in_rows(model)

    def pieces(self, samples: Sequence[Sample]) -> Iterator[Piece]:
        """The samples packed into micro-batches, and those that this rank computes, largest first: an out-of-memory
        shows at once."""
        sequences = [(sample.prompt, sample.response_ids) for sample in samples]
        packed = cut(sequences, self._config.micro_batch_tokens) if self._shares else alone(sequences)
        for dealt in rounds(packed, self._ranks.count):
            images = any(samples[i].prompt.images for micro_batch in dealt for i in micro_batch.members)
            mine = dealt[self._ranks.rank]
            if self._stop.is_set():
                raise TrainError("the optimizer step was stopped; the weights are as before it")
            yield Piece(mine, [samples[i] for i in mine.members], images)

    def scores(self, piece: Piece, temperature: float, scorer: Scorer | None = None) -> TokenScores:
        """The scores of the response tokens of a micro-batch, member after member, as `logprobs`, by default under the
        weights that learn; every rank calls it for its piece of the round."""
        scorer = scorer or self._scorer
        learns = scorer is self._scorer
        device = self._model.device
        self._model.train(torch.is_grad_enabled())  # where layers recompute, and adapters drop out
        grids, features = None, None
        if self.features is not None and learns:
            shown: dict[str, ImageFeatures] = {}
            with self._computing(device):
                for sample in piece.members:
                    shown |= self.features.of(sample.prompt)
            grids = {sha: image.grid for sha, image in shown.items()}
            features = join_features([image.features for image in shown.values()])
        sequences = [(sample.prompt, sample.response_ids) for sample in piece.members]
        if not self._shares:
            batch = collate_plain(sequences[0], self._processor, self._images).to(device)
            with self._computing(device):
                return scorer(batch, temperature, entropy_grad=self._config.entropy_coef > 0)
        batch = collate_micro_batch(piece.micro_batch, sequences, self._processor, self._images, grids)
        if self.features is None and learns and batch.pixel_values is None and piece.images:
            # The tower runs all the same, on an image that no token shows, and gets gradients of zero: all ranks gather
            # its weights where one has images.
            pixel_values, image_grid_thw = self._processor.blank()
            batch = dataclasses.replace(batch, pixel_values=pixel_values, image_grid_thw=image_grid_thw)
        return scorer(batch.to(device), temperature, features, entropy_grad=self._config.entropy_coef > 0)

    def _computing(self, device: torch.device) -> torch.autocast:
        """For what has weights in float32 that sharding does not cast: a tower that does not train."""
        return torch.autocast(device.type, self._compute_dtype, enabled=self._compute_dtype != torch.float32)

    @torch.no_grad()
    def logprobs(self, samples: Sequence[Sample], temperature: float, *, reference: bool = False) -> list[Tensor]:
        """Log-probabilities [|y|] of each sample's response, on the CPU, in order, under the weights that learn, or
        those of the reference model, which is on the device only meanwhile; every rank calls it."""
        with self._reference_on_device() if reference else nullcontext(self._scorer) as scorer:
            mine = dict[int, Tensor]()
            for piece in self.pieces(samples):
                with in_memory(partial(self.does_not_fit, piece)):
                    scores = self.scores(piece, temperature, scorer)
                if piece.micro_batch.counts:
                    mine |= piece.by_sample(scores)
        return in_order(self._ranks.gather(mine))

    @contextmanager
    def _reference_on_device(self) -> Iterator[Scorer]:
        assert self._reference is not None
        message = (
            "when the reference model of the KL term came beside the policy; set train.kl_coef=0, or "
            "model.lora.r=16, whose reference is the model without adapters"
        )
        with in_memory(lambda: message):
            self._reference.to(self._model.device)
        if self._shares:
            attend_in_rows(self._reference.model)
        try:
            yield self._reference
        finally:
            self._reference.to("cpu")

    def does_not_fit(self, piece: Piece) -> str:
        images = {image.sha for sample in piece.members for image in sample.prompt.images}
        longest = max(map(len, piece.members))
        advice = "" if self._config.gradient_checkpointing else "set train.gradient_checkpointing=true, or "
        if longest >= self._config.micro_batch_tokens:  # alone in a micro-batch, whatever the budget
            advice += "lower rollout.max_context_tokens, which bounds a turn, or browser.viewport_px"
        else:
            advice += f"lower train.micro_batch_tokens (now {self._config.micro_batch_tokens})"
        return (
            f"in a micro-batch of {piece.micro_batch.tokens} tokens "
            f"({len(piece.members)} turns, the longest of {longest} tokens, {len(images)} screenshots); "
            f"the weights are as before the step; {advice}"
        )


@contextmanager
def in_memory(message: Callable[[], str]) -> Iterator[None]:
    """Raise a TrainError with a message that says what to change where memory runs out in the block."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise TrainError(f"out of memory {message()}") from error


def in_order(found: Sequence[Mapping[int, Tensor]]) -> list[Tensor]:
    """The values that the ranks have by the numbers of samples, as one list."""
    joined = {number: value for part in found for number, value in part.items()}
    return [joined[i] for i in range(len(joined))]


def _recompute_activations(model: PreTrainedModel) -> None:
    """Keep of each text layer and vision block, in training mode, only its input, and compute the rest again in the
    backward pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # transformers 6 will have it by another name only
        model.gradient_checkpointing_enable({"use_reentrant": False})
    # The switch makes the embeddings' output require gradients, and so keeps what frozen layers below the first trained
    # one compute.
    model.disable_input_require_grads()


def _compile_layers(model: PreTrainedModel) -> None:
    """Compile the text layers, once for micro-batches of any length; call it when the model is sharded, if it is.

    What gathers and drops weights around a layer stays outside, and so does the attention of micro-batches, which on a
    CPU would be compiled again for every number of pieces, and on a GPU is compiled by itself.
    `tests/trainer/learner/test_layers.py` fails where binding `forward` anew stops working; it was tested with torch
    2.13 and transformers 5.23.
    """
    AttentionInterface.register(TREE, torch.compiler.disable(tree_attention))
    AttentionInterface.register(FLEX, torch.compiler.disable(block_attention))
    for layer in text_layers(model):
        layer.forward = torch.compile(layer.forward, dynamic=True)
