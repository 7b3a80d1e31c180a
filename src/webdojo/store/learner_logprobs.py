"""What the learner says of tokens that an engine has sampled: `learner/NUMBER.npz`, a file an iteration.

An array a turn, float32, has one value for each response token: its log-probability under the weights that sampled it,
as the learner computes them before it steps. NaN stands for tokens that earlier weights sampled. What the engine said
stands in the trajectory.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webdojo.store.files import write_atomic, writing

FOLDER = "learner"

Logprobs = NDArray[np.float32]


def write_learner_logprobs(run: Path, iteration: int, found: Mapping[tuple[str, int], Logprobs]) -> None:
    """Keep those of an iteration by the id of a trajectory and the number of a turn; StoreFailure where the disk
    refuses it."""
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **{_key(*turn): values for turn, values in found.items()})
    path = _path(run, iteration)
    with writing(path.parent):
        path.parent.mkdir(exist_ok=True)
    write_atomic(path, packed.getvalue(), durable=False)


def read_learner_logprobs(run: Path, iteration: int, id: str, turn: int) -> Logprobs | None:
    """Those of a turn; None where the learner did not score it with the weights that sampled it."""
    path = _path(run, iteration)
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as packed:
        found: Logprobs | None = packed.get(_key(id, turn))
        return found


def _path(run: Path, iteration: int) -> Path:
    return run / FOLDER / f"{iteration:04d}.npz"


def _key(id: str, turn: int) -> str:
    return f"{id}/{turn}"
