"""Training checkpoints: a policy in Hugging Face layout plus what a resumed learner needs.

Beside the weights lie `trainer.pt` (steps and the order of samples), `optimizer/` (what the optimizer keeps for each
weight, written by every rank for its part and read by any number of ranks: torch distributed checkpoint) and
`manifest.json` (SHA-256 of every file). Invariant: what is read back is bit for bit what was written, or a
`ModelError`. An index of `optimizer/` is a pickle: resume from your own runs only.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.state_dict_loader import load as load_parts
from torch.distributed.checkpoint.state_dict_saver import save as save_parts

from webdojo.errors import ModelError
from webdojo.store.files import write_error

MANIFEST = "manifest.json"
TRAINER = "trainer.pt"
OPTIMIZER = "optimizer"


@contextmanager
def writing_weights(folder: Path) -> Iterator[None]:
    """Turn whatever each library raises when the disk refuses into `StoreFailure`."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise write_error(folder, " ".join(str(error).split())) from error
    except RuntimeError as error:
        if "inline_container" not in str(error):
            raise
        raise write_error(folder, "torch could not write all of a file") from error


def write_moments(folder: Path, moments: Mapping[str, Tensor]) -> None:
    """Write tensors by name, each rank its own parts; every rank calls it."""
    if moments:
        with _parts():
            save_parts(dict(moments), checkpoint_id=folder / OPTIMIZER)


def read_moments(folder: Path, fresh: Callable[[Collection[str]], dict[str, Tensor]]) -> None:
    """Read what `write_moments` was given into what `fresh` gives for the names of parameters: tensors by `NAME/…`."""
    source = folder / OPTIMIZER
    keys = FileSystemReader(source).read_metadata().state_dict_metadata if source.exists() else {}
    if moments := fresh({key.rpartition("/")[0] for key in keys}):
        with _parts():
            load_parts(moments, checkpoint_id=source)


def write_manifest(folder: Path) -> None:
    """Write down the hash of every file, when all are written."""
    hashes = {str(path.relative_to(folder)): _sha256(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    hashes.pop(MANIFEST, None)
    (folder / MANIFEST).write_text(json.dumps(hashes, indent=1) + "\n")


def check_checkpoint(folder: Path) -> None:
    """Compare every file with the manifest; a ModelError where one is missing or differs from what was written."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise ModelError(f"{str(folder)!r} is no training checkpoint: it has no {MANIFEST}")
    try:
        hashes: dict[str, str] = json.loads(manifest.read_text())
    except ValueError:
        raise _corrupt(folder, f"{MANIFEST} is not JSON") from None
    for name, digest in hashes.items():
        path = folder / name
        if not path.is_file():
            raise _corrupt(folder, f"{name} is missing")
        if _sha256(path) != digest:
            raise _corrupt(folder, f"{name} was changed or cut")


@contextmanager
def _parts() -> Iterator[None]:
    """Raise what went wrong on one rank, rather than the list of all ranks with their tracebacks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")
        try:
            yield
        except CheckpointException as error:
            raise min(error.failures.items())[1][0] from None


def _corrupt(folder: Path, why: str) -> ModelError:
    return ModelError(f"checkpoint {str(folder)!r} is corrupt: {why}; delete that folder to go on from the one before")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
