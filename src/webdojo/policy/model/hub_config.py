"""The config of a model of the hub, without its weights: from the cache, from the table of those that recipes name, or
from the hub in one try, so that a plan needs no network and does not wait for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
from huggingface_hub import get_token, hf_hub_url, try_to_load_from_cache

from webdojo.errors import ModelError, one_line

TIMEOUT_S = 5


def hub_config(model_id: str) -> dict[str, Any]:
    """What `config.json` of a model says; of one in the table the shapes alone."""
    cached = try_to_load_from_cache(model_id, "config.json")
    if isinstance(cached, str):
        return dict(json.loads(Path(cached).read_text()))
    if model_id in SHAPES:
        return SHAPES[model_id]
    token = get_token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = httpx.get(
            hf_hub_url(model_id, "config.json"), headers=headers, timeout=TIMEOUT_S, follow_redirects=True
        )
        return dict(answer.raise_for_status().json())
    except (httpx.HTTPError, ValueError) as error:
        raise ModelError(f"the config of model {model_id!r} cannot be had from the hub: {one_line(error)}") from error


def _qwen3_vl(hidden: int, layers: int, heads: int, inner: int, *, large_tower: bool = False) -> dict[str, Any]:
    """Qwen3-VL: the larger vision tower comes with embeddings that are not tied to the LM head."""
    tower = {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "deepstack_visual_indexes": [5, 11, 17]}
    if large_tower:
        tower = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "deepstack_visual_indexes": [8, 16, 24]}
    return {
        "model_type": "qwen3_vl",
        "tie_word_embeddings": not large_tower,
        "text_config": {
            "model_type": "qwen3_vl_text",
            "hidden_size": hidden,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "intermediate_size": inner,
            "vocab_size": 151936,
            "rope_scaling": {"mrope_interleaved": True, "mrope_section": [24, 20, 20], "rope_type": "default"},
            "rope_theta": 5000000,
            "tie_word_embeddings": not large_tower,
        },
        "vision_config": tower
        | {
            "model_type": "qwen3_vl",
            "num_heads": 16,
            "out_hidden_size": hidden,
            "num_position_embeddings": 2304,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
        },
    }


def _qwen2_5_vl(
    hidden: int, layers: int, heads: int, key_heads: int, inner: int, vocabulary: int, *, tied: bool
) -> dict[str, Any]:
    return {
        "model_type": "qwen2_5_vl",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": key_heads,
        "intermediate_size": inner,
        "vocab_size": vocabulary,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
        "rope_theta": 1000000.0,
        "tie_word_embeddings": tied,
        "vision_config": {
            "model_type": "qwen2_5_vl",
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3420,
            "num_heads": 16,
            "out_hidden_size": hidden,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
            "fullatt_block_indexes": [7, 15, 23, 31],
        },
    }


_SIZES = {
    "2B": _qwen3_vl(2048, 28, 16, 6144),
    "4B": _qwen3_vl(2560, 36, 32, 9728),
    "8B": _qwen3_vl(4096, 36, 32, 12288, large_tower=True),
}
SHAPES: dict[str, dict[str, Any]] = {
    **{f"Qwen/Qwen3-VL-{size}-{tuned}": _SIZES[size] for size in _SIZES for tuned in ("Instruct", "Thinking")},
    "Qwen/Qwen2.5-VL-3B-Instruct": _qwen2_5_vl(2048, 36, 16, 2, 11008, 151936, tied=True),
    "Qwen/Qwen2.5-VL-7B-Instruct": _qwen2_5_vl(3584, 28, 28, 4, 18944, 152064, tied=False),
}
"""The shapes of the models that recipes and their notes name, as their `config.json` has them."""
