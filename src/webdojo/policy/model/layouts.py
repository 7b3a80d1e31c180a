"""The model types that we know how to drive, and the tokens that mean something to us.

A layout says which `transformers` class holds the weights, whether the model reads images, and
whether its vision tower feeds features into the first text layers (DeepStack, Qwen3-VL). All
layouts share the Qwen chat and vision tokens. A new model type is one new entry of `LAYOUTS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import (
    PreTrainedModel,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3ForCausalLM,
    Qwen3VLForConditionalGeneration,
    Qwen3VLMoeForConditionalGeneration,
)

from webdojo.errors import ModelError, one_line

IMAGE_TOKEN = "<|image_pad|>"
STOP_TOKEN = "<|im_end|>"

SAMPLED_SPECIALS = frozenset({STOP_TOKEN, "<think>", "</think>", "<tool_call>", "</tool_call>"})
"""Special tokens that a response is made of; every other special token is banned from sampling."""

STRUCTURAL_TOKENS = frozenset(
    {
        "<|endoftext|>",
        "<|im_start|>",
        "<|vision_start|>",
        "<|vision_end|>",
        IMAGE_TOKEN,
        "<|video_pad|>",
        "<tool_response>",
        "</tool_response>",
    }
)
"""Tokens that only a prompt may hold, whether or not the tokenizer marks them as special."""


@dataclass(frozen=True)
class Layout:
    """How one `model_type` of a `config.json` is driven."""

    model_class: Any
    """The class of `transformers`."""
    images: bool
    """The model reads images, and its positions have three axes (mrope); else it is a text model with one."""
    deepstack: bool
    """The vision tower also returns features that are added after the first text layers."""


LAYOUTS: dict[str, Layout] = {
    "qwen3_vl": Layout(Qwen3VLForConditionalGeneration, images=True, deepstack=True),
    "qwen3_vl_moe": Layout(Qwen3VLMoeForConditionalGeneration, images=True, deepstack=True),
    "qwen2_5_vl": Layout(Qwen2_5_VLForConditionalGeneration, images=True, deepstack=False),
    "qwen3": Layout(Qwen3ForCausalLM, images=False, deepstack=False),
}


def layout_of(model: PreTrainedModel) -> Layout:
    """The layout of a loaded model."""
    return LAYOUTS[model.config.model_type]


def folder_layout(folder: Path) -> Layout:
    """The layout of the model in a folder, by its `config.json`."""
    config = folder / "config.json"
    if not config.is_file():
        raise ModelError(f"model folder {str(folder)!r} has no config.json; give a folder in Hugging Face layout")
    try:
        model_type = str(json.loads(config.read_text()).get("model_type", ""))
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError) as error:
        raise ModelError(f"{str(config)!r} is not a JSON object: {one_line(error)}") from error
    if model_type not in LAYOUTS:
        raise ModelError(
            f"model type {model_type!r} in {str(config)!r} has no registered layout; "
            f"registered: {', '.join(sorted(LAYOUTS))}"
        )
    return LAYOUTS[model_type]
