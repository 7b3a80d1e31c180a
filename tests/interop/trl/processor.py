"""A processor without torchvision, which `AutoProcessor` wants for videos, of which there are none here."""

from __future__ import annotations

from pathlib import Path

from transformers import Qwen3VLProcessor

from webdojo.policy.model.processor import Processor


class ImageProcessorOnly(Qwen3VLProcessor):
    def __init__(self, image_processor, tokenizer):
        self.check_argument_for_proper_class = lambda name, argument: type(argument)  # type: ignore[method-assign]
        super().__init__(image_processor, tokenizer, None)


def load(folder):
    """In place of `AutoProcessor.from_pretrained`."""
    parts = Processor.load(Path(folder))
    return ImageProcessorOnly(parts.image_processor, parts.tokenizer)
