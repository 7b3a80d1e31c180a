"""Text and pixels as the Hugging Face processors make them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.policy.conftest import Images, chat, tiny_processor
from webdojo.errors import ModelError
from webdojo.policy.model.processor import Processor


@pytest.fixture(scope="module")
def processor() -> Processor:
    return tiny_processor()


def encoded(width: int, height: int, mode: str = "RGB", kind: str = "JPEG") -> bytes:
    shape = (height, width, 3) if mode == "RGB" else (height, width)
    noise = np.random.default_rng(width).integers(0, 256, shape, dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).convert(mode).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("size", "mode", "kind"),
    [
        ((320, 320), "RGB", "JPEG"),
        ((96, 64), "RGB", "PNG"),
        ((320, 250), "RGB", "JPEG"),  # not a multiple of 32: resized
        ((1280, 1000), "RGB", "JPEG"),  # over max_pixels: shrunk
        ((20, 20), "RGB", "PNG"),  # under min_pixels: grown
        ((64, 64), "L", "PNG"),
    ],
)
def test_pixels_are_those_of_hugging_face(processor: Processor, size: tuple[int, int], mode: str, kind: str) -> None:
    data = encoded(*size, mode, kind)
    pixel_values, grid = processor.pixels(data)
    assert processor.image_processor is not None
    expected = processor.image_processor(Image.open(io.BytesIO(data)).convert("RGB"), return_tensors="pt")
    assert torch.equal(grid, expected["image_grid_thw"])
    assert torch.equal(pixel_values, expected["pixel_values"])
    assert processor.image_tokens(*size) == int(grid.prod()) // processor.merge_size**2


def test_clip_normalisation_follows_the_folder(tmp_path: Path, processor: Processor) -> None:
    processor.save(tmp_path)
    config = tmp_path / "preprocessor_config.json"
    config.write_text(config.read_text().replace('"image_mean": [\n    0.5', '"image_mean": [\n    0.25'))
    changed = Processor.load(tmp_path)
    data = encoded(64, 64)
    assert changed.image_processor is not None
    expected = changed.image_processor(Image.open(io.BytesIO(data)), return_tensors="pt")["pixel_values"]
    assert torch.equal(changed.pixels(data)[0], expected)
    assert not torch.equal(changed.pixels(data)[0], processor.pixels(data)[0])


def test_text_round_trips_and_specials_are_single_ids(processor: Processor) -> None:
    text = '<think>Größe 12?</think>\n<tool_call>\n{"name": "click"}\n</tool_call><|im_end|>'
    ids = processor.encode(text)
    assert processor.decode(ids) == text
    assert ids[-1] == processor.stop_id
    assert ids[0] == processor.tokenizer.convert_tokens_to_ids("<think>")


def test_vision_ids_spare_what_a_response_is_made_of(processor: Processor) -> None:
    names = set(processor.tokenizer.convert_ids_to_tokens(list(processor.vision_ids)))
    assert {"<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<|im_start|>"} <= names
    assert not names & {"<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"}
    banned = processor.banned(processor.vocab_size + 3)
    assert banned[-3:].all()
    assert int(banned.sum()) == len(processor.vision_ids) + 3


def test_prompt_ids_equal_the_expanded_chat_text(processor: Processor, images: Images) -> None:
    a, b = images.random(1), images.random(2, 96, 64)
    turn = "<|im_start|>user\nfind it"
    for tokens in (4, 6):
        turn += "<|vision_start|>" + "<|image_pad|>" * tokens + "<|vision_end|>"
    turn += "<|im_end|>\n<|im_start|>assistant\n"
    prompt = chat(processor, "find it", a, b)
    assert prompt.ids(processor.image_token_id) == processor.tokenizer.encode(turn, add_special_tokens=False)
    assert len(prompt) == len(prompt.ids(processor.image_token_id))


@pytest.mark.parametrize("name", ["tokenizer.json", "preprocessor_config.json"])
def test_missing_or_broken_files_are_named(tmp_path: Path, processor: Processor, name: str) -> None:
    processor.save(tmp_path)
    (tmp_path / name).write_text('{"truncated": ')
    with pytest.raises(ModelError, match="cannot be read"):
        Processor.load(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ModelError, match=f"has no {name}"):
        Processor.load(tmp_path)
