"""Text and screenshots for a model type without a layout, by the processor class of `transformers`.

What it takes of a model type: a fast tokenizer and a chat template; an image is one run of `config.image_token_id`,
whose length depends on the size of the image alone; the model's forward takes what its image processor gives, and
makes its own positions and masks, from `token_type_ids` or `mm_token_type_ids` (1 at image tokens) where it has them.
"""

from __future__ import annotations

import dataclasses
import io
import shutil
from collections.abc import Sequence
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from transformers import (
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    AutoConfig,
    AutoTokenizer,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

from webdojo.agent.toolcall import unmarked
from webdojo.errors import ModelError, one_line
from webdojo.policy.model.chat_template import FIRST, around, chat_format
from webdojo.policy.model.layouts import PLAIN, class_of, folder_layout, folder_type
from webdojo.policy.model.processor import NO_IMAGES, Processor

_SIZES_KEPT = 4096
_FILES = ("*processor*.json", "tokenizer*", "chat_template*", "special_tokens_map.json", "vocab*", "merges.txt")


class AutoModelProcessor(Processor):
    """The processor of a model folder whose type has no layout."""

    def __init__(self, folder: Path) -> None:
        config = AutoConfig.from_pretrained(str(folder), local_files_only=True)
        self._takes = signature(class_of(config).forward).parameters
        self._reads_images = type(config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        self._folder = folder
        loader: Any = without_videos(PROCESSOR_MAPPING[type(config)]) if self._reads_images else AutoTokenizer
        self._processor = loader.from_pretrained(str(folder), local_files_only=True)
        tokenizer = self._processor.tokenizer if self._reads_images else self._processor
        if not isinstance(tokenizer, PreTrainedTokenizerFast):
            raise ModelError(f"its tokenizer is a {type(tokenizer).__name__}, not a fast one")
        if not self._processor.chat_template:
            raise ModelError("it has no chat template: add its chat_template.jinja")
        added = tokenizer.backend_tokenizer.get_added_tokens_decoder().values()
        specials = [token.content for token in added if token.special]
        chat, stop_token = chat_format(self._render, specials)
        image_token: Any = tokenizer.convert_ids_to_tokens(config.image_token_id) if self._reads_images else None
        super().__init__(tokenizer, None, chat, image_token, stop_token)
        if self._reads_images:
            self._place = self._image_text().removeprefix(chat.first_user)
            before, _, after = self._expand(64, 64)
            self.chat = dataclasses.replace(chat, image=(self.decode(before), self.decode(after)))
        self._count = lru_cache(_SIZES_KEPT)(lambda width, height: self._expand(width, height)[1])
        written = "".join((*self.chat.system, self.chat.user_end, self.chat.assistant, stop_token, *self.chat.image))
        self.forgeable = [token for token in specials if token in written and unmarked(token) == token]
        """Markers of the chat that text from a page may hold: nothing breaks them."""

    @property
    def reads_images(self) -> bool:
        return self._reads_images

    def image_tokens(self, width: int, height: int) -> int:
        if not self._reads_images:
            raise ModelError(NO_IMAGES)
        return self._count(width, height)

    def save(self, path: str | Path) -> None:
        for pattern in _FILES:
            for file in self._folder.glob(pattern):
                shutil.copy(file, path)

    def fits(self, width: int, height: int) -> bool:
        return True

    def sized(self, data: bytes) -> Image.Image:
        return Image.open(io.BytesIO(data)).convert("RGB")

    def model_inputs(self, ids: Sequence[int], images: Sequence[bytes]) -> dict[str, torch.Tensor]:
        input_ids = torch.tensor([ids], dtype=torch.long)
        inputs = {"input_ids": input_ids}
        for name in ("token_type_ids", "mm_token_type_ids"):
            if name in self._takes:
                inputs[name] = (input_ids == self.image_token_id).long()
        if images:
            shown = self._processor.image_processor(images=[*map(self.sized, images)], return_tensors="pt")
            inputs |= {name: value for name, value in shown.items() if name in self._takes}
        return inputs

    def _render(self, messages: list[tuple[str, str]], opened: bool) -> str:
        def content(text: str) -> Any:
            return [{"type": "text", "text": text}] if self._reads_images else text

        written: str = self._processor.apply_chat_template(
            [{"role": role, "content": content(text)} for role, text in messages],
            tokenize=False,
            add_generation_prompt=opened,
        )
        return written

    def _image_text(self) -> str:
        """How the template begins a user's words with an image, which the processor expands."""
        shown = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": FIRST}]}
        return around(self._processor.apply_chat_template([shown], tokenize=False), FIRST)[0]

    def _expand(self, width: int, height: int) -> tuple[list[int], int, list[int]]:
        """The ids before the tokens of an image of this size in pixels, their number, and the ids after them."""
        blank = Image.new("RGB", (width, height))
        made = self._processor(text=[self._place], images=[blank], add_special_tokens=False)
        ids: list[int] = [int(token) for token in made["input_ids"][0]]
        count = ids.count(self.image_token_id)
        begin = ids.index(self.image_token_id) if count else 0
        if not count or ids[begin : begin + count] != [self.image_token_id] * count:
            raise ModelError(f"its processor does not write an image of {width}x{height} pixels as one run of a token")
        return ids[:begin], count, ids[begin + count :]


def without_videos(kind: Any) -> Any:
    """A processor class of `transformers` that leaves out its part for videos, which asks for torchvision.

    It reaches into how such a class finds its parts; tested with transformers 5.16 to 5.24.
    """
    parts = [part for part in kind.get_attributes() if part != "video_processor"]
    return type(kind.__name__, (kind,), {"get_attributes": classmethod(lambda _: parts)})


def load_processor(path: str | Path) -> Processor:
    """The processor of a model folder, of whatever type."""
    folder = Path(path)
    if not (folder / "config.json").is_file() or folder_layout(folder) is not PLAIN:
        return Processor.load(folder)
    try:
        return AutoModelProcessor(folder)
    except Exception as error:  # what a processor of a type that nobody has tried may raise
        raise ModelError(
            f"no chat can be held with the model of type {folder_type(folder)!r} in {str(folder)!r}: {one_line(error)}"
        ) from error
