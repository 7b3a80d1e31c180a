"""Screenshots as the vision tower reads them, without torchvision.

Pixels follow the Qwen2-VL image processor: resize to a multiple of patch x merge within the pixel
bounds, scale, normalise, cut into patches in merge order. Invariant: `read` gives the same numbers
as the Hugging Face processor (a test compares them), several times faster, because a uint8 image
has only 256 values a channel and each is normalised once, in a table.
"""

from __future__ import annotations

import io
import math

import numpy as np
import torch
from PIL import Image
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from webdojo.errors import ModelError

MAX_ASPECT_RATIO = 200


class PixelReader:
    """Reads encoded images by the settings of one model folder."""

    def __init__(self, settings: Qwen2VLImageProcessorPil) -> None:
        self.settings = settings
        self.patch_size: int = settings.patch_size
        self.merge_size: int = settings.merge_size
        self._frames: int = settings.temporal_patch_size
        self._min_pixels: int = settings.size["shortest_edge"]
        self._max_pixels: int = settings.size["longest_edge"]
        self._table = _normalised(settings)

    def tokens(self, width: int, height: int) -> int:
        """Number of visual tokens of an image of this size in pixels."""
        rows, columns = self._resized(height, width)
        return rows * columns // (self.patch_size * self.merge_size) ** 2

    def read(self, data: bytes) -> tuple[torch.Tensor, torch.Tensor]:
        """Decode an encoded image into what the vision tower reads.

        Returns:
            `pixel_values` float32 [patches, channels * temporal * patch * patch] and
            `grid_thw` int64 [1, 3]: 1, patch rows, patch columns.
        """
        return self.patchify(np.asarray(self.sized(data)))

    def sized(self, data: bytes) -> Image.Image:
        """Decode an encoded image to the size that the vision tower reads."""
        image = Image.open(io.BytesIO(data)).convert("RGB")
        rows, columns = self._resized(image.height, image.width)
        if (rows, columns) != (image.height, image.width):
            image = image.resize((columns, rows), resample=self.settings.resample)
        return image

    def fits(self, width: int, height: int) -> bool:
        """Whether an image of this size in pixels is read as it is."""
        return self._resized(height, width) == (height, width)

    def patchify(self, image: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """As `read`, from a uint8 array [height, width, 3] whose sides are multiples of patch x merge."""
        patch, merge, frames = self.patch_size, self.merge_size, self._frames
        height, width, channels = image.shape
        rows, columns = height // patch, width // patch
        assert height % (patch * merge) == width % (patch * merge) == 0, f"{height=} {width=} {patch=} {merge=}"
        grid = image.reshape(rows // merge, merge, patch, columns // merge, merge, patch, channels)
        ordered = grid.transpose(0, 3, 1, 4, 6, 2, 5).reshape(rows * columns, channels, patch * patch)
        out = np.empty((rows * columns, channels, frames, patch * patch), dtype=np.float32)
        for channel in range(channels):
            out[:, channel] = self._table[channel][ordered[:, channel]][:, None]
        return torch.from_numpy(out.reshape(rows * columns, -1)), torch.tensor([[1, rows, columns]])

    def _resized(self, height: int, width: int) -> tuple[int, int]:
        """Height and width in pixels after the Qwen2-VL resize rule ("smart resize")."""
        if max(height, width) / min(height, width) > MAX_ASPECT_RATIO:
            raise ModelError(
                f"image of {width}x{height} pixels: no side may be over {MAX_ASPECT_RATIO} times the other"
            )
        factor = self.patch_size * self.merge_size
        rows, columns = round(height / factor) * factor, round(width / factor) * factor
        if rows * columns > self._max_pixels:
            shrink = math.sqrt(height * width / self._max_pixels)
            rows = max(factor, math.floor(height / shrink / factor) * factor)
            columns = max(factor, math.floor(width / shrink / factor) * factor)
        elif rows * columns < self._min_pixels:
            grow = math.sqrt(self._min_pixels / (height * width))
            rows = math.ceil(height * grow / factor) * factor
            columns = math.ceil(width * grow / factor) * factor
        return rows, columns


def _normalised(settings: Qwen2VLImageProcessorPil) -> np.ndarray:
    """float32 [3, 256]: what each uint8 value of each channel becomes."""
    values = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=0)
    scaled = settings.rescale(values, settings.rescale_factor)
    return np.ascontiguousarray(settings.normalize(scaled, settings.image_mean, settings.image_std)[..., 0])
