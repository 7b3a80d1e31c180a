"""Visual features by image hash, so that an engine runs the vision tower once for each screenshot.

Bounded by bytes, least recently used first out. Features belong to one weight version: `clear` on
every update.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from webdojo.errors import EngineError, WebdojoError
from webdojo.policy.collate import check_tokens
from webdojo.policy.forward import Features, vision_features
from webdojo.policy.processor import Processor
from webdojo.types import ImageRef, ImageSegment, ImageSource, Prompt


@dataclass(frozen=True)
class ImageFeatures:
    """Features of one image and the grid of tokens that they form."""

    grid: tuple[int, int]
    """Token rows and columns."""
    features: Features

    @property
    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in (self.features.embeds, *self.features.deepstack))


class FeatureCache:
    """Computes and keeps features of images."""

    def __init__(self, model: PreTrainedModel, processor: Processor, images: ImageSource, max_bytes: int) -> None:
        self._model = model
        self._processor = processor
        self._images = images
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, ImageFeatures] = OrderedDict()
        self._staged: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        self._bytes = 0

    def stage(self, prompt: Prompt) -> None:
        """Read the pixels of a prompt's images that are not kept, for the next `get`.

        Raises:
            EngineError: an image cannot be read, or the prompt has another number of tokens for it.
        """
        for segment in prompt.segments:
            if isinstance(segment, ImageSegment):
                sha = segment.image.sha
                if sha not in self._kept and sha not in self._staged:
                    self._staged[sha] = self._read(sha)
                rows, columns = self._kept[sha].grid if sha in self._kept else self._tokens(self._staged[sha][1])
                check_tokens(segment.image, segment.tokens, rows * columns)

    def get(self, refs: Sequence[ImageRef]) -> dict[str, ImageFeatures]:
        """Features of these images by hash; all staged ones go through the vision tower together."""
        found = {ref.sha: self._kept[ref.sha] for ref in refs if ref.sha in self._kept}
        for sha in found:
            self._kept.move_to_end(sha)
        if self._staged:
            staged, self._staged = self._staged, {}
            for sha, image in self._compute(staged):
                found[sha] = image
                self._keep(sha, image)
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._staged.clear()
        self._bytes = 0

    def _keep(self, sha: str, image: ImageFeatures) -> None:
        self._kept[sha] = image
        self._bytes += image.bytes
        while self._bytes > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.bytes

    def _read(self, sha: str) -> tuple[torch.Tensor, torch.Tensor]:
        try:
            return self._processor.pixels(self._images.get(sha))
        except (WebdojoError, OSError, LookupError) as error:
            reason = " ".join(str(error).split())
            raise EngineError(f"screenshot {sha[:12]} cannot be read: {type(error).__name__}: {reason}") from error

    def _tokens(self, grid_thw: torch.Tensor) -> tuple[int, int]:
        _, rows, columns = grid_thw[0].tolist()
        return rows // self._processor.merge_size, columns // self._processor.merge_size

    def _compute(self, staged: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> Iterator[tuple[str, ImageFeatures]]:
        pixels, grids_thw = zip(*staged.values(), strict=True)
        device = self._model.device
        features = vision_features(self._model, torch.cat(pixels).to(device), torch.cat(grids_thw).to(device))
        start = 0
        for sha, grid_thw in zip(staged, grids_thw, strict=True):
            rows, columns = self._tokens(grid_thw)
            end = start + rows * columns
            own = Features(features.embeds[start:end].clone(), tuple(f[start:end].clone() for f in features.deepstack))
            yield sha, ImageFeatures((rows, columns), own)
            start = end
