"""The model types that we know how to drive, and the tokens that mean something to us.

A layout says which `transformers` class holds the weights, whether the model reads images, whether its vision tower
feeds features into the first text layers (DeepStack, Qwen3-VL), and whether prompts can share what was computed for a
common beginning. All layouts have the chat and vision tokens of Qwen. A new model type is one new entry of `LAYOUTS`;
one without takes the plain path (`plain`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3_5ForConditionalGeneration,
    Qwen3_5MoeForConditionalGeneration,
    Qwen3ForCausalLM,
    Qwen3VLForConditionalGeneration,
    Qwen3VLMoeForConditionalGeneration,
)

from webdojo.agent.toolcall import IM_END
from webdojo.errors import ModelError, one_line

IMAGE_TOKEN = "<|image_pad|>"

SAMPLED_SPECIALS = frozenset({IM_END, "<think>", "</think>", "<tool_call>", "</tool_call>"})
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
    shares: bool = True
    """All that a token leaves for later ones are keys and values, so that a beginning can be computed once and kept;
    otherwise the model takes the plain path."""


LAYOUTS: dict[str, Layout] = {
    "qwen3_vl": Layout(Qwen3VLForConditionalGeneration, images=True, deepstack=True),
    "qwen3_vl_moe": Layout(Qwen3VLMoeForConditionalGeneration, images=True, deepstack=True),
    "qwen3_5": Layout(Qwen3_5ForConditionalGeneration, images=True, deepstack=False, shares=False),
    "qwen3_5_moe": Layout(Qwen3_5MoeForConditionalGeneration, images=True, deepstack=False, shares=False),
    "qwen2_5_vl": Layout(Qwen2_5_VLForConditionalGeneration, images=True, deepstack=False),
    "qwen3": Layout(Qwen3ForCausalLM, images=False, deepstack=False),
}


PLAIN = Layout(None, images=False, deepstack=False, shares=False)
"""Stands for all other model types; whether those read images their processor says."""


def layout_of(model: PreTrainedModel) -> Layout:
    """The layout of a loaded model; `PLAIN` where its type has none."""
    return LAYOUTS.get(model.config.model_type, PLAIN)


def class_of(config: PreTrainedConfig) -> Any:
    """The class of `transformers` for a model of this config."""
    if config.model_type in LAYOUTS:
        return LAYOUTS[config.model_type].model_class
    for kinds in (MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, MODEL_FOR_CAUSAL_LM_MAPPING):
        if type(config) in kinds:
            return kinds[type(config)]
    raise ModelError(
        f"model type {config.model_type!r} answers no chat: take a causal language model or an image-text-to-text model"
    )


def folder_layout(folder: Path) -> Layout:
    """The layout of the model in a folder; `PLAIN` where its type has none."""
    return LAYOUTS.get(folder_type(folder), PLAIN)


def folder_type(folder: Path) -> str:
    """The model type that the `config.json` of a folder names."""
    config = folder / "config.json"
    if not config.is_file():
        raise ModelError(f"model folder {str(folder)!r} has no config.json; give a folder in Hugging Face layout")
    try:
        return str(json.loads(config.read_text()).get("model_type", ""))
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError) as error:
        raise ModelError(f"{str(config)!r} is not a JSON object: {one_line(error)}") from error
