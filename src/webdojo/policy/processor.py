"""Text and screenshots as a vision-language model reads them, without torchvision.

The tokenizer is the folder's `tokenizer.json` as it is. Pixels follow the Qwen2-VL image
processor: resize to a multiple of patch x merge within the pixel bounds, scale, normalise, cut
into patches in merge order. Invariant: `pixels` gives the same numbers as the Hugging Face
processor (a test compares them), several times faster, because a uint8 image has only 256
values a channel and each is normalised once, in a table.
"""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import PreTrainedTokenizerFast
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from webdojo.errors import ModelError
from webdojo.policy.layouts import IMAGE_TOKEN, SAMPLED_SPECIALS, STOP_TOKEN, STRUCTURAL_TOKENS

MAX_ASPECT_RATIO = 200


class Processor:
    """Tokenizer and image processor of one model folder; implements the harness's `Codec`.

    Attributes:
        tokenizer: the fast tokenizer.
        image_processor: the Hugging Face image processor, kept for its settings and for saving.
        image_token_id: the pad id that stands for one visual token.
        stop_id: the id that ends a response; `eos_ids` holds it alone.
        vision_ids: sorted ids that must never be sampled: image and video pads, vision start and
            end, and every other structural special token.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, image_processor: Qwen2VLImageProcessorPil) -> None:
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self._backend = tokenizer.backend_tokenizer
        self.image_token_id = self._id(IMAGE_TOKEN)
        self.stop_id = self._id(STOP_TOKEN)
        self.eos_ids = (self.stop_id,)
        self.vision_ids = tuple(
            sorted(
                token_id
                for token_id, token in self._backend.get_added_tokens_decoder().items()
                if token.content in STRUCTURAL_TOKENS or (token.special and token.content not in SAMPLED_SPECIALS)
            )
        )
        self.vocab_size = self._backend.get_vocab_size(with_added_tokens=True)
        self.patch_size: int = image_processor.patch_size
        self.merge_size: int = image_processor.merge_size
        self.temporal_patch_size: int = image_processor.temporal_patch_size
        self.min_pixels: int = image_processor.size["shortest_edge"]
        self.max_pixels: int = image_processor.size["longest_edge"]
        self._table = _normalised(image_processor)

    @classmethod
    def load(cls, path: str | Path) -> Processor:
        """Read `tokenizer.json` and `preprocessor_config.json` of a model folder.

        Raises:
            ModelError: a file is missing or cannot be read.
        """
        folder = Path(path)
        for name in ("tokenizer.json", "preprocessor_config.json"):
            if not (folder / name).is_file():
                raise ModelError(f"model folder {str(folder)!r} has no {name}; give a folder in Hugging Face layout")
        try:
            tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
            image_processor = Qwen2VLImageProcessorPil.from_pretrained(str(folder))
        except Exception as error:  # `tokenizers` raises bare Exception for a file that it cannot parse
            reason = " ".join(str(error).split())
            raise ModelError(f"tokenizer or image settings in {str(folder)!r} cannot be read: {reason}") from error
        return cls(tokenizer, image_processor)

    def save(self, path: str | Path) -> None:
        """Write tokenizer and image settings beside the weights, in Hugging Face layout."""
        self.tokenizer.save_pretrained(str(path))
        self.image_processor.save_pretrained(str(path))

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`; special tokens written in it become their single ids."""
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: list[int]) -> str:
        """Text of `ids`, special tokens included."""
        text: str = self._backend.decode(list(ids), skip_special_tokens=False)
        return text

    def image_tokens(self, width: int, height: int) -> int:
        """Number of visual tokens of an image of this size in pixels."""
        rows, columns = self._resized(height, width)
        return rows * columns // (self.patch_size * self.merge_size) ** 2

    def banned(self, width: int) -> torch.Tensor:
        """Bool mask [width] over the logits of a model: ids that are never sampled.

        `width` is the size of the LM head, which checkpoints pad beyond the tokenizer; the padding
        decodes to nothing and is banned as well.
        """
        mask = torch.zeros(width, dtype=torch.bool)
        mask[list(self.vision_ids)] = True
        mask[self.vocab_size :] = True
        return mask

    def pixels(self, data: bytes) -> tuple[torch.Tensor, torch.Tensor]:
        """Decode an encoded image into what the vision tower reads.

        Returns:
            `pixel_values` float32 [patches, channels * temporal * patch * patch] and
            `grid_thw` int64 [1, 3]: 1, patch rows, patch columns.
        """
        image = Image.open(io.BytesIO(data)).convert("RGB")
        rows, columns = self._resized(image.height, image.width)
        if (rows, columns) != (image.height, image.width):
            image = image.resize((columns, rows), resample=self.image_processor.resample)
        return self.patchify(np.asarray(image))

    def patchify(self, image: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """As `pixels`, from a uint8 array [height, width, 3] whose sides are multiples of patch x merge."""
        patch, merge, frames = self.patch_size, self.merge_size, self.temporal_patch_size
        height, width, channels = image.shape
        rows, columns = height // patch, width // patch
        assert height % (patch * merge) == width % (patch * merge) == 0, f"{height=} {width=} {patch=} {merge=}"
        grid = image.reshape(rows // merge, merge, patch, columns // merge, merge, patch, channels)
        ordered = grid.transpose(0, 3, 1, 4, 6, 2, 5).reshape(rows * columns, channels, patch * patch)
        out = np.empty((rows * columns, channels, frames, patch * patch), dtype=np.float32)
        for channel in range(channels):
            out[:, channel] = self._table[channel][ordered[:, channel]][:, None]
        return torch.from_numpy(out.reshape(rows * columns, -1)), torch.tensor([[1, rows, columns]])

    def _id(self, token: str) -> int:
        token_id = self._backend.token_to_id(token)
        if token_id is None:
            raise ModelError(f"the tokenizer has no token {token!r}, which every registered model layout needs")
        return int(token_id)

    def _resized(self, height: int, width: int) -> tuple[int, int]:
        """Height and width in pixels after the Qwen2-VL resize rule ("smart resize")."""
        if max(height, width) / min(height, width) > MAX_ASPECT_RATIO:
            raise ModelError(
                f"image of {width}x{height} pixels: no side may be over {MAX_ASPECT_RATIO} times the other"
            )
        factor = self.patch_size * self.merge_size
        rows, columns = round(height / factor) * factor, round(width / factor) * factor
        if rows * columns > self.max_pixels:
            shrink = math.sqrt(height * width / self.max_pixels)
            rows = max(factor, math.floor(height / shrink / factor) * factor)
            columns = max(factor, math.floor(width / shrink / factor) * factor)
        elif rows * columns < self.min_pixels:
            grow = math.sqrt(self.min_pixels / (height * width))
            rows = math.ceil(height * grow / factor) * factor
            columns = math.ceil(width * grow / factor) * factor
        return rows, columns


def _normalised(settings: Qwen2VLImageProcessorPil) -> np.ndarray:
    """float32 [3, 256]: what each uint8 value of each channel becomes."""
    values = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=0)
    scaled = settings.rescale(values, settings.rescale_factor)
    return np.ascontiguousarray(settings.normalize(scaled, settings.image_mean, settings.image_std)[..., 0])
