"""Text and screenshots as a model reads them: the harness's codec, and what may be sampled.

The tokenizer is the folder's `tokenizer.json` as it is; screenshots go through `pixels`. A text
model has no image settings: whoever shows it an image gets one clear error.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import PreTrainedTokenizerFast
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from webdojo.errors import ModelError
from webdojo.policy.model.layouts import IMAGE_TOKEN, SAMPLED_SPECIALS, STOP_TOKEN, STRUCTURAL_TOKENS, folder_layout
from webdojo.policy.model.pixels import PixelReader


class Processor:
    """Tokenizer and image processor of one model folder; implements the harness's `Codec`.

    Attributes:
        tokenizer: the fast tokenizer.
        image_processor: the Hugging Face image processor, kept for its settings and for saving; None for a text model.
        image_token_id: the pad id that stands for one visual token.
        stop_id: the id that ends a response; `eos_ids` holds it alone.
        vision_ids: sorted ids that must never be sampled: image and video pads, vision start and
            end, and every other structural special token.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, image_processor: Qwen2VLImageProcessorPil | None) -> None:
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
        self._pixels = None if image_processor is None else PixelReader(image_processor)

    @classmethod
    def load(cls, path: str | Path) -> Processor:
        """Read `tokenizer.json` and, but for a text model, `preprocessor_config.json` of a model folder.

        Raises:
            ModelError: a file is missing or cannot be read.
        """
        folder = Path(path)
        reads_images = not (folder / "config.json").is_file() or folder_layout(folder).images
        for name in ("tokenizer.json", *(["preprocessor_config.json"] if reads_images else [])):
            if not (folder / name).is_file():
                raise ModelError(f"model folder {str(folder)!r} has no {name}; give a folder in Hugging Face layout")
        try:
            tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
            image_processor = Qwen2VLImageProcessorPil.from_pretrained(str(folder)) if reads_images else None
        except Exception as error:  # `tokenizers` raises bare Exception for a file that it cannot parse
            reason = " ".join(str(error).split())
            raise ModelError(f"tokenizer or image settings in {str(folder)!r} cannot be read: {reason}") from error
        return cls(tokenizer, image_processor)

    def save(self, path: str | Path) -> None:
        """Write tokenizer and image settings beside the weights, in Hugging Face layout."""
        self.tokenizer.save_pretrained(str(path))
        if self.image_processor is not None:
            self.image_processor.save_pretrained(str(path))

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`; special tokens written in it become their single ids."""
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: list[int]) -> str:
        """Text of `ids`, special tokens included."""
        text: str = self._backend.decode(list(ids), skip_special_tokens=False)
        return text

    @property
    def merge_size(self) -> int:
        """Patches a side of the square that one visual token stands for."""
        return self._reader().merge_size

    def image_tokens(self, width: int, height: int) -> int:
        """Number of visual tokens of an image of this size in pixels.

        Raises:
            ModelError: the model reads no images, or the image is far too narrow.
        """
        return self._reader().tokens(width, height)

    def pixels(self, data: bytes) -> tuple[torch.Tensor, torch.Tensor]:
        """Decode an encoded image into what the vision tower reads, as `PixelReader.read`."""
        return self._reader().read(data)

    def patchify(self, image: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """As `pixels`, from an array, as `PixelReader.patchify`."""
        return self._reader().patchify(image)

    def blank(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The smallest image that the vision tower reads, black, as `pixels` gives one."""
        side = self._reader().patch_size * self.merge_size
        return self.patchify(np.zeros((side, side, 3), dtype=np.uint8))

    def sized(self, data: bytes) -> Image.Image:
        """Decode an encoded image to the size that the vision tower reads, as `PixelReader.sized`."""
        return self._reader().sized(data)

    def fits(self, width: int, height: int) -> bool:
        """Whether an image of this size in pixels is read as it is."""
        return self._reader().fits(width, height)

    def banned(self, width: int) -> torch.Tensor:
        """Bool mask [width] over the logits of a model: ids that are never sampled.

        `width` is the size of the LM head, which checkpoints pad beyond the tokenizer; the padding
        decodes to nothing and is banned as well.
        """
        mask = torch.zeros(width, dtype=torch.bool)
        mask[list(self.vision_ids)] = True
        mask[self.vocab_size :] = True
        return mask

    def _id(self, token: str) -> int:
        token_id = self._backend.token_to_id(token)
        if token_id is None:
            raise ModelError(f"the tokenizer has no token {token!r}, which every registered model layout needs")
        return int(token_id)

    def _reader(self) -> PixelReader:
        if self._pixels is None:
            raise ModelError(
                "a text model cannot read screenshots; take a harness that shows pages as text, or set model.path to a "
                "vision-language model"
            )
        return self._pixels
