"""The model types that we know how to drive, and the tokens that mean something to us.

A layout says which `transformers` class holds the weights and whether its vision tower feeds
features into the first text layers (DeepStack, Qwen3-VL). All layouts share the Qwen chat and
vision tokens. A new model type is one new entry of `LAYOUTS`.
"""

from __future__ import annotations

from dataclasses import dataclass

from transformers import PreTrainedModel, Qwen2_5_VLForConditionalGeneration, Qwen3VLForConditionalGeneration

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

    model_class: type[PreTrainedModel]
    deepstack: bool
    """The vision tower also returns features that are added after the first text layers."""


LAYOUTS: dict[str, Layout] = {
    "qwen3_vl": Layout(Qwen3VLForConditionalGeneration, deepstack=True),
    "qwen2_5_vl": Layout(Qwen2_5_VLForConditionalGeneration, deepstack=False),
}
