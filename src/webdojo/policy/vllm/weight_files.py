"""New weights as files in a folder, which is how they reach a vLLM server.

Invariants: what does not fit the model is refused before any server reads it, because a server that has read half of
it serves neither the old weights nor the new. A scratch folder is gone once its engine is closed or, where that was
killed, once the next engine starts in the same place.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file

PIECE_BYTES = 4 * 2**30
"""Size of a file: so much is held a second time while it is written."""
PREFIX = "webdojo-vllm-"
LOCK = "lock"


@dataclass(frozen=True, eq=False)
class WeightFolder:
    """A folder of weights and the version that they are served as."""

    folder: Path
    version: int
    temporary: bool
    """Written for the servers, to be removed when newer ones serve."""

    def remove(self) -> None:
        if self.temporary:
            shutil.rmtree(self.folder, ignore_errors=True)


class Scratch:
    """A folder for the weights and logs of one engine's servers, under `place` or where temporary files go.

    A lock, which the system frees when a process ends, tells the folders of running engines from those of killed ones.
    """

    def __init__(self, place: str) -> None:
        for left in Path(place or tempfile.gettempdir()).glob(f"{PREFIX}*"):
            # Not ours where it is locked, another user's, or just being removed.
            with contextlib.suppress(OSError), (left / LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place or None))
        new = self.path / f"{LOCK}.new"
        self._lock = new.open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new.rename(self.path / LOCK)  # so that nobody finds it before it is locked

    def remove(self) -> None:
        """Delete the folder and what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def write_weights(state_dict: Mapping[str, torch.Tensor], folder: Path, dtype: torch.dtype) -> None:
    """Write a state dict as safetensors in `dtype`; tensors that share their memory are written once."""
    folder.mkdir(parents=True, exist_ok=True)
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
