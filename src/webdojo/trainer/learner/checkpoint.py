"""Training checkpoints: a policy in Hugging Face layout plus what a resumed learner needs.

Weights lie in files of at most `FILE_BYTES`; the rank that writes them holds one file's at a time. Beside them lie
`trainer.pt` (steps and the order of samples), `optimizer/` (what the optimizer keeps for each weight, written by every
rank for its part and read by any number of ranks: torch distributed checkpoint) and `manifest.json` (SHA-256 of every
file). Invariant: what is read back is bit for bit what was written, or a `ModelError`. An index of `optimizer/` is a
pickle: resume from your own runs only.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from huggingface_hub import split_torch_state_dict_into_shards
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.state_dict_loader import load as load_parts
from torch.distributed.checkpoint.state_dict_saver import save as save_parts
from transformers import PreTrainedModel
from transformers.core_model_loading import revert_weight_conversion
from transformers.utils import SAFE_WEIGHTS_INDEX_NAME

from webdojo.errors import ModelError
from webdojo.store.files import write_error

MANIFEST = "manifest.json"
TRAINER = "trainer.pt"
OPTIMIZER = "optimizer"
WEIGHTS = "model{suffix}.safetensors"
FILE_BYTES = "5GB"


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


def write_weights(
    folder: Path,
    model: PreTrainedModel,
    weights: Mapping[str, Tensor],
    whole: Callable[[str], Tensor],
    *,
    write: bool,
) -> None:
    """Write the weights of a model, which have the names and shapes of `weights` and come whole from `whole`.

    Every rank calls it, because `whole` may gather; those that do not `write` do so for the others.
    """
    tied = model.all_tied_weights_keys
    own = {n: torch.empty(w.shape, dtype=w.dtype, device="meta") for n, w in weights.items() if n not in tied}
    plan = split_torch_state_dict_into_shards(own, filename_pattern=WEIGHTS, max_shard_size=FILE_BYTES)
    found: dict[str, str] = {}
    for file, names in plan.filename_to_tensors.items():
        tensors: dict[str, Tensor] = {}
        for name in names:
            tensor = whole(name)
            if write:
                tensors[name] = tensor.cpu().contiguous()
        if write:
            saved = revert_weight_conversion(model, tensors)  # to the names that the file had which they came from
            save_file(saved, folder / file, metadata={"format": "pt"})
            found |= dict.fromkeys(saved, file)
    if write and plan.is_sharded:
        index = {"metadata": plan.metadata, "weight_map": found}
        (folder / SAFE_WEIGHTS_INDEX_NAME).write_text(json.dumps(index, indent=2))


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
