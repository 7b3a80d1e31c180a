"""On which device and in which precision models run."""

from __future__ import annotations

import torch

from webdojo.errors import ConfigError
from webdojo.policy.config import ModelConfig


def device_of(config: ModelConfig) -> torch.device:
    """Where models live: `model.device`, with `auto` resolved; raises ConfigError for `cuda` where torch sees none."""
    has_gpu = torch.cuda.is_available()
    if config.device == "cuda" and not has_gpu:
        raise ConfigError("model.device is 'cuda', but torch sees no CUDA GPU here: take 'auto' or 'cpu'")
    return torch.device(("cuda" if has_gpu else "cpu") if config.device == "auto" else config.device)


def engine_dtype(config: ModelConfig) -> torch.dtype:
    """Precision of the engine's weights: `model.dtype`, with `auto` resolved."""
    narrow = config.dtype == "bfloat16" or (config.dtype == "auto" and device_of(config).type == "cuda")
    return torch.bfloat16 if narrow else torch.float32
