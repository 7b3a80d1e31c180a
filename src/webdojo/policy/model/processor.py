"""Text and screenshots as a model reads them: the harness's codec, and what may be sampled.

The tokenizer is the folder's `tokenizer.json` as it is. Pixels follow the Qwen2-VL image processor: resize, scale,
normalise, cut into patches in merge order. Invariant: they are the numbers that the Hugging Face processor gives (a
test compares them), several times faster, because a uint8 image has only 256 values a channel and each is normalised
once, in a table. A text model has no image settings: whoever shows it an image gets one clear error.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import PreTrainedTokenizerFast
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil, smart_resize

from webdojo.agent.chatml import CHATML, ChatFormat
from webdojo.agent.toolcall import IM_END
from webdojo.errors import EngineError, ModelError, StoreFailure, WebdojoError, one_line
from webdojo.policy.model.layouts import (
    IMAGE_TOKEN,
    SAMPLED_SPECIALS,
    STRUCTURAL_TOKENS,
    folder_layout,
)
from webdojo.types import ImageRef

NO_IMAGES = (
    "a text model cannot read screenshots; take a harness that shows pages as text, or set model.path to a "
    "vision-language model"
)


@contextmanager
def reading(image: ImageRef) -> Iterator[None]:
    """Name the screenshot in the error where it cannot be read."""
    try:
        yield
    except StoreFailure:
        raise  # which no other request would survive either
    except (WebdojoError, OSError, LookupError) as error:
        raise EngineError(f"screenshot {image.sha[:12]} cannot be read: {one_line(error)}") from error


class Processor:
    """Tokenizer and image processor (None for a text model) of one model folder; implements the harness's `Codec`."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        image_processor: Qwen2VLImageProcessorPil | None,
        chat: ChatFormat = CHATML,
        image_token: str | None = IMAGE_TOKEN,
        stop_token: str = IM_END,
    ) -> None:
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.chat = chat
        self._backend = tokenizer.backend_tokenizer
        self._stop_token = stop_token
        self.image_token_id = -1 if image_token is None else self._id(image_token)
        """The pad id that stands for one visual token."""
        self.stop_id = self._id(stop_token)
        """The id that ends a response."""
        self.vocab_size = self._backend.get_vocab_size(with_added_tokens=True)

    @classmethod
    def load(cls, path: str | Path) -> Processor:
        """Read `tokenizer.json` and, but for a text model, `preprocessor_config.json` of a model folder."""
        folder = Path(path)
        layout = folder_layout(folder) if (folder / "config.json").is_file() else None
        reads_images = layout is None or layout.images
        for name in ("tokenizer.json", *(["preprocessor_config.json"] if reads_images else [])):
            if not (folder / name).is_file():
                raise ModelError(f"model folder {str(folder)!r} has no {name}; give a folder in Hugging Face layout")
        try:
            tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
            image_processor = Qwen2VLImageProcessorPil.from_pretrained(str(folder)) if reads_images else None
        except Exception as error:  # `tokenizers` raises bare Exception for a file that it cannot parse
            raise ModelError(
                f"tokenizer or image settings in {str(folder)!r} cannot be read: {one_line(error)}"
            ) from error
        return cls(tokenizer, image_processor)

    def save(self, path: str | Path) -> None:
        """Write tokenizer and image settings beside the weights, in Hugging Face layout."""
        self.tokenizer.save_pretrained(str(path))
        if self.image_processor is not None:
            self.image_processor.save_pretrained(str(path))

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`; special tokens written in it become their single ids, and `IM_END` is the token that
        ends a response."""
        text = text.replace(IM_END, self._stop_token)
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: list[int]) -> str:
        """Text of `ids`, special tokens included."""
        text: str = self._backend.decode(list(ids), skip_special_tokens=False)
        return text.replace(self._stop_token, IM_END)

    def banned(self, width: int) -> torch.Tensor:
        """Bool mask [width] over the logits of a model: ids that are never sampled.

        `width` is the size of the LM head, which checkpoints pad beyond the tokenizer; the padding
        decodes to nothing and is banned as well.
        """
        mask = torch.zeros(width, dtype=torch.bool)
        mask[list(self.vision_ids)] = True
        mask[self.vocab_size :] = True
        return mask

    @property
    def merge_size(self) -> int:
        """Patches a side of the square that one visual token stands for."""
        return int(self._settings.merge_size)

    @cached_property
    def vision_ids(self) -> tuple[int, ...]:
        """The ids that only a prompt may hold, in order: special tokens but those that a response is made of."""
        added = self._backend.get_added_tokens_decoder().items()
        banned = {
            token_id
            for token_id, token in added
            if token.content in STRUCTURAL_TOKENS or (token.special and token.content not in SAMPLED_SPECIALS)
        }
        return tuple(sorted((banned | {self.image_token_id}) - {self.stop_id, -1}))

    @property
    def reads_images(self) -> bool:
        return self.image_processor is not None

    def model_inputs(self, ids: Sequence[int], images: Sequence[bytes]) -> dict[str, torch.Tensor]:
        """What the model's own forward takes, for one sequence and the encoded images that it shows, in order."""
        input_ids = torch.tensor([ids], dtype=torch.long)
        if not images:
            return {"input_ids": input_ids}
        pixels, grids = zip(*map(self.pixels, images), strict=True)
        shown = {"pixel_values": torch.cat(pixels), "image_grid_thw": torch.cat(grids)}
        return {"input_ids": input_ids, "mm_token_type_ids": (input_ids == self.image_token_id).long(), **shown}

    def image_tokens(self, width: int, height: int) -> int:
        """Number of visual tokens of an image of this size in pixels; raises ModelError for one far too narrow."""
        rows, columns = self._resized(height, width)
        return rows * columns // self._token_px**2

    def fits(self, width: int, height: int) -> bool:
        """Whether an image of this size in pixels is read as it is."""
        return self._resized(height, width) == (height, width)

    def sized(self, data: bytes) -> Image.Image:
        """Decode an encoded image to the size that the vision tower reads."""
        image = Image.open(io.BytesIO(data)).convert("RGB")
        rows, columns = self._resized(image.height, image.width)
        if (rows, columns) != (image.height, image.width):
            image = image.resize((columns, rows), resample=self._settings.resample)
        return image

    def pixels(self, data: bytes) -> tuple[torch.Tensor, torch.Tensor]:
        """Decode an encoded image into what the vision tower reads: `pixel_values` float32 [patches, channels *
        temporal * patch * patch] and `grid_thw` int64 [1, 3]: 1, patch rows, patch columns."""
        return self.patchify(np.asarray(self.sized(data)))

    def patchify(self, image: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """As `pixels`, from a uint8 array [height, width, 3] whose sides are multiples of patch x merge."""
        patch, merge, frames = self._settings.patch_size, self.merge_size, self._settings.temporal_patch_size
        height, width, channels = image.shape
        rows, columns = height // patch, width // patch
        assert height % self._token_px == width % self._token_px == 0, f"{height=} {width=} {patch=} {merge=}"
        grid = image.reshape(rows // merge, merge, patch, columns // merge, merge, patch, channels)
        ordered = grid.transpose(0, 3, 1, 4, 6, 2, 5).reshape(rows * columns, channels, patch * patch)
        out = np.empty((rows * columns, channels, frames, patch * patch), dtype=np.float32)
        for channel, normalised in enumerate(self._normalised):
            out[:, channel] = normalised[ordered[:, channel]][:, None]
        return torch.from_numpy(out.reshape(rows * columns, -1)), torch.tensor([[1, rows, columns]])

    def blank(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The smallest image that the vision tower reads, black, as `pixels` gives one."""
        return self.patchify(np.zeros((self._token_px, self._token_px, 3), dtype=np.uint8))

    @cached_property
    def _normalised(self) -> np.ndarray:
        """float32 [3, 256]: what each uint8 value of each channel becomes."""
        settings = self._settings
        values = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=0)
        scaled = settings.rescale(values, settings.rescale_factor)
        return np.ascontiguousarray(settings.normalize(scaled, settings.image_mean, settings.image_std)[..., 0])

    @property
    def _token_px(self) -> int:
        """Side of the square that one visual token stands for, in pixels."""
        return int(self._settings.patch_size * self._settings.merge_size)

    def _resized(self, height: int, width: int) -> tuple[int, int]:
        """Height and width in pixels after the Qwen2-VL resize rule."""
        bounds = self._settings.size
        try:
            return smart_resize(height, width, self._token_px, bounds["shortest_edge"], bounds["longest_edge"])
        except ValueError as error:
            raise ModelError(f"image of {width}x{height} pixels: no side may be over 200 times the other") from error

    @property
    def _settings(self) -> Qwen2VLImageProcessorPil:
        if self.image_processor is None:
            raise ModelError(NO_IMAGES)
        return self.image_processor

    def _id(self, token: str) -> int:
        token_id = self._backend.token_to_id(token)
        if token_id is None:
            raise ModelError(f"the tokenizer has no token {token!r}, which every registered model layout needs")
        return int(token_id)
