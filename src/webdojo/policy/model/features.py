"""Visual features by image hash: the one place that turns screenshots into what the text model reads.

The cache is bounded by bytes and evicts what was least recently used. Every image goes through the vision tower alone,
so its features depend on nothing but the image and the tower's weights, and a run that finds them kept equals one that
computes them again. They are constants: no gradient reaches the tower through them.
Whoever changes the tower's weights calls `clear`.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import NamedTuple

import torch
from transformers import PreTrainedModel

from webdojo.policy.model.collate import check_tokens
from webdojo.policy.model.forward import Features, vision_features
from webdojo.policy.model.processor import Processor, reading
from webdojo.types import ImageRef, ImageSegment, ImageSource, Prompt


class ImageFeatures(NamedTuple):
    """Features of one image and the grid of tokens that they form."""

    grid: tuple[int, int]
    """Token rows and columns."""
    features: Features

    @property
    def bytes(self) -> int:
        return sum(t.nbytes for t in (self.features.embeds, *self.features.deepstack))


class FeatureCache:
    """Computes features of images by a model's vision tower, and keeps at most `max_bytes` of them on its device."""

    def __init__(self, model: PreTrainedModel, processor: Processor, images: ImageSource, max_bytes: int) -> None:
        self._model = model
        self._processor = processor
        self._images = images
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, ImageFeatures] = OrderedDict()
        self._bytes = 0

    def of(self, prompt: Prompt) -> dict[str, ImageFeatures]:
        """Features of a prompt's images by hash, in order of first appearance; raises EngineError for one that cannot
        be read, or has another number of tokens in the prompt."""
        found: dict[str, ImageFeatures] = {}
        for segment in prompt.segments:
            if isinstance(segment, ImageSegment):
                sha = segment.image.sha
                image = self._kept.get(sha) or found.get(sha) or self._compute(segment.image)
                check_tokens(segment.image, segment.tokens, math.prod(image.grid))
                found[sha] = image
                self._keep(sha, image)
        return found

    def clear(self) -> None:
        self._kept.clear()
        self._bytes = 0

    def _keep(self, sha: str, image: ImageFeatures) -> None:
        if sha not in self._kept:
            self._kept[sha] = image
            self._bytes += image.bytes
        self._kept.move_to_end(sha)
        while self._bytes > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.bytes

    def _compute(self, image: ImageRef) -> ImageFeatures:
        with reading(image):
            pixels, grid_thw = self._processor.pixels(self._images.get(image))
        rows, columns = (side // self._processor.merge_size for side in grid_thw[0, 1:].tolist())
        device = self._model.device
        with torch.no_grad():
            features = vision_features(self._model, pixels.to(device), grid_thw.to(device))
        return ImageFeatures((rows, columns), features)
