"""Training checkpoints: a policy in Hugging Face layout plus what a resumed learner needs.

The folder loads as it is in `transformers` and vLLM; `trainer.pt` (optimizer and step) and
`manifest.json` (SHA-256 of every file) lie beside the weights. Invariant: what is read back is bit for
bit what was written, or a `ModelError`. Writing to a temporary name and renaming is the store's part.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from webdojo.errors import ModelError
from webdojo.policy.loading import save_model
from webdojo.policy.processor import Processor

MANIFEST = "manifest.json"
TRAINER = "trainer.pt"


def write_checkpoint(folder: Path, model: PreTrainedModel, processor: Processor, trainer: dict[str, Any]) -> None:
    """Write weights, tokenizer, image settings and `trainer` (tensors, numbers, and containers of them)."""
    folder.mkdir(parents=True, exist_ok=True)
    save_model(model, processor, folder)
    torch.save(trainer, folder / TRAINER)
    hashes = {str(path.relative_to(folder)): _sha256(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    hashes.pop(MANIFEST, None)
    (folder / MANIFEST).write_text(json.dumps(hashes, indent=1) + "\n")


def check_checkpoint(folder: Path) -> None:
    """Compare every file with the manifest.

    Raises:
        ModelError: no checkpoint there, or a file is missing or differs from what was written.
    """
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


def read_trainer(folder: Path) -> dict[str, Any]:
    """What `write_checkpoint` was given as `trainer`, on the CPU; call `check_checkpoint` first."""
    trainer: dict[str, Any] = torch.load(folder / TRAINER, map_location="cpu", weights_only=True)
    return trainer


def _corrupt(folder: Path, why: str) -> ModelError:
    return ModelError(f"checkpoint {str(folder)!r} is corrupt: {why}; delete that folder to go on from the one before")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
