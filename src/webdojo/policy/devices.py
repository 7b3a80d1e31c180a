"""On which device and in which precision models run."""

from __future__ import annotations

import torch

from webdojo.errors import ConfigError
from webdojo.policy.config import ModelConfig


def device_of(config: ModelConfig) -> torch.device:
    """Where models live: `model.device`, with `auto` resolved.

    Raises:
        ConfigError: `cuda` where torch sees none.
    """
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("model.device is 'cuda', but torch sees no CUDA GPU here: take 'auto' or 'cpu'")
    if config.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(config.device)


def engine_dtype(config: ModelConfig) -> torch.dtype:
    """Precision of the engine's weights: `model.dtype`, with `auto` resolved."""
    if config.dtype == "auto":
        return torch.bfloat16 if device_of(config).type == "cuda" else torch.float32
    return torch.bfloat16 if config.dtype == "bfloat16" else torch.float32
