"""New weights for a model that serves: read, checked, and loaded in place.

Invariant: weights that do not fit change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from transformers import PreTrainedModel

from webdojo.errors import EngineError
from webdojo.policy.forward import VISION
from webdojo.policy.loading import load_model

StateDict = Mapping[str, torch.Tensor]


def read_weights(folder: Path, dtype: torch.dtype) -> StateDict:
    """The weights of a folder in Hugging Face layout, by the names of the model in memory.

    Raises:
        ModelError: as `load_model`.
    """
    model, _ = load_model(folder, dtype)
    return model.state_dict()


def load_weights(model: PreTrainedModel, weights: StateDict, version: int) -> bool:
    """Give the model other weights.

    Returns:
        Whether the vision tower's stayed as they were, tensor for tensor.

    Raises:
        EngineError: names or shapes differ from the model's.
    """
    own = model.state_dict()
    if misfit := _misfit(own, weights):
        raise EngineError(f"weights of version {version} do not fit: {misfit}")
    vision = [name for name in own if name.startswith(VISION)]
    kept = all(torch.equal(own[name], weights[name].to(own[name])) for name in vision)
    with torch.inference_mode(False), torch.no_grad():
        model.load_state_dict(weights)
    return kept


def _misfit(own: StateDict, new: StateDict) -> str:
    """The first difference in names or shapes; empty where there is none.

    Checked before loading, because `load_state_dict` copies what fits before it raises.
    """
    for name in sorted(own.keys() | new.keys()):
        if name not in new:
            return f"{name!r} is missing"
        if name not in own:
            return f"{name!r} is not in the model"
        if own[name].shape != new[name].shape:
            return f"{name!r} has shape {tuple(new[name].shape)}, the model has {tuple(own[name].shape)}"
    return ""
