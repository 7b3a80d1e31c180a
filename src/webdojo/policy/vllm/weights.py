"""New weights as files in a folder, which is how they reach a vLLM server.

Invariant: what does not fit the model is refused before any server reads it, because a server that has
read half of it serves neither the old weights nor the new.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from transformers import AutoConfig

from webdojo.errors import EngineError
from webdojo.policy.layouts import LAYOUTS

PIECE_BYTES = 4 * 2**30
"""Size of a file: so much is held a second time while it is written."""

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Weights:
    """A folder of weights and the version that they are served as."""

    folder: Path
    version: int
    temporary: bool
    """Written for the servers, to be removed when newer ones serve."""

    def remove(self) -> None:
        """Free the disk, where the folder is ours to remove."""
        if self.temporary:
            shutil.rmtree(self.folder, ignore_errors=True)


def write_weights(state_dict: Mapping[str, torch.Tensor], folder: Path, dtype: torch.dtype) -> None:
    """Write a state dict as safetensors in `dtype`; tensors that share their memory are written once."""
    folder.mkdir(parents=True)
    piece: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    size = pieces = 0
    for name, tensor in state_dict.items():
        if tensor.data_ptr() in seen:
            continue
        seen.add(tensor.data_ptr())
        piece[name] = tensor.detach().to("cpu", dtype).contiguous()
        size += piece[name].nbytes
        if size >= PIECE_BYTES:
            save_file(piece, folder / f"model-{pieces:05}.safetensors")
            piece, size, pieces = {}, 0, pieces + 1
    if piece:
        save_file(piece, folder / f"model-{pieces:05}.safetensors")


def model_shapes(folder: Path) -> Shapes:
    """Names and shapes of the model of a folder, as its own state dict has them."""
    config = AutoConfig.from_pretrained(str(folder))
    with torch.device("meta"):
        model = LAYOUTS[config.model_type].model_class(config)
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def file_shapes(folder: Path) -> Shapes:
    """Names and shapes of all tensors in the safetensors files of a folder.

    Raises:
        EngineError: there is no such file.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            shapes |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    if not shapes:
        raise EngineError(f"{str(folder)!r} holds no .safetensors file; give a model folder in Hugging Face layout")
    return shapes


def misfit(own: Shapes, new: Shapes) -> str:
    """The first difference in names or shapes; empty where there is none."""
    for name in sorted(own.keys() | new.keys()):
        if name not in new:
            return f"{name!r} is missing"
        if name not in own:
            return f"{name!r} is not in the model"
        if own[name] != new[name]:
            return f"{name!r} has shape {new[name]}, the model has {own[name]}"
    return ""
