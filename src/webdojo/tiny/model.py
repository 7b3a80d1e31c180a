"""The tiny Qwen3-VL: same classes, same processor and same special tokens, a few million weights.

One visual token covers 32x32 px, so a 320x320 screenshot is a 10x10 grid of tokens. Digits are one
token each, and the fixed text of a tool call is a few added tokens, so that a click costs about
ten tokens to write.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3VLConfig, Qwen3VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from webdojo.policy.model.fast_layers import multiply_patches

SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
TOOL_TEXT = [
    '{"name": "',
    '", "arguments": {',
    '"x": ',
    ', "y": ',
    '"text": "',
    '"keys": ["',
    '"direction": "',
    ', "amount": ',
    '"answer": "',
    '"]',
    "}}",
    '"}}',
]
"""Fixed pieces of tool calls, each of which is one token."""

QWEN_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATCH, MERGE = 16, 2
HIDDEN, HEAD_DIM, KEY_HEADS = 128, 32, 2
GRID = 20
"""Patches along one side of the 320-px viewport, and of the learned position grid."""


def build_tokenizer(corpus: Iterable[str], vocab_size: int = 2200) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer with Qwen's splitting rule, trained on the project's own text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(SPECIAL) - len(TAGS) - len(TOOL_TEXT),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in TAGS + TOOL_TEXT])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen3VLForConditionalGeneration:
    """A freshly initialised tiny Qwen3-VL for this tokenizer.

    Two things differ from the library's default initialisation, because a small model otherwise
    learns them only after very many samples. The learned position grid starts ten times larger, so
    that a visual token's place on the screen can be decoded at once. Queries start equal to keys, so
    that equal content attends to equal content: a name in the question to the same name on the screen.
    """
    vocabulary = tokenizer.get_vocab()
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": HIDDEN,
            "intermediate_size": 512,
            "num_hidden_layers": 4,
            "num_attention_heads": 4,
            "num_key_value_heads": KEY_HEADS,
            "head_dim": HEAD_DIM,
            "max_position_embeddings": 8192,
            "rope_theta": 5_000_000.0,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 5_000_000.0,
                "mrope_section": [6, 5, 5],
                "mrope_interleaved": True,
            },
            "tie_word_embeddings": True,
            "bos_token_id": None,
            "eos_token_id": vocabulary["<|im_end|>"],
            "pad_token_id": vocabulary["<|endoftext|>"],
        },
        vision_config={
            "depth": 3,
            "hidden_size": 96,
            "intermediate_size": 288,
            "num_heads": 3,
            "patch_size": PATCH,
            "temporal_patch_size": 2,
            "spatial_merge_size": MERGE,
            "out_hidden_size": HIDDEN,
            "num_position_embeddings": GRID * GRID,
            "deepstack_visual_indexes": [1],
        },
        image_token_id=vocabulary["<|image_pad|>"],
        video_token_id=vocabulary["<|video_pad|>"],
        vision_start_token_id=vocabulary["<|vision_start|>"],
        vision_end_token_id=vocabulary["<|vision_end|>"],
        tie_word_embeddings=True,
    )
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration(config)
    with torch.no_grad():
        model.model.visual.pos_embed.weight.normal_(std=0.2)
        for layer in model.model.language_model.layers:
            heads = layer.self_attn.q_proj.weight.view(KEY_HEADS, -1, HEAD_DIM, HIDDEN)
            heads.copy_(layer.self_attn.k_proj.weight.view(KEY_HEADS, 1, HEAD_DIM, HIDDEN).expand_as(heads))
    multiply_patches(model)
    return model


def image_settings() -> Qwen2VLImageProcessorPil:
    """Qwen2-VL image settings for 16-px patches."""
    return Qwen2VLImageProcessorPil(
        patch_size=PATCH,
        temporal_patch_size=2,
        merge_size=MERGE,
        image_mean=[0.5, 0.5, 0.5],
        image_std=[0.5, 0.5, 0.5],
        size={"shortest_edge": (2 * PATCH) ** 2, "longest_edge": 4096 * (2 * PATCH) ** 2},
    )
