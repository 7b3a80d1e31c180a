"""Where a model lies: a tiny model of the package, a folder, or what the hub gives for an id. Needs no torch."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from webdojo.errors import ModelError, one_line
from webdojo.policy.config import SHIPPED

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def is_hub_id(path: str | Path) -> bool:
    """Whether a model is to be had from the hub: not the tiny one, no folder here, and in the form of an id."""
    return isinstance(path, str) and not Path(path).expanduser().is_dir() and bool(HUB_ID.fullmatch(path))


def check_model_path(path: str | Path) -> None:
    """Raise the ModelError that `model_folder` would, as far as it is known without the hub."""
    if not is_hub_id(path):
        model_folder(path)


def model_folder(path: str | Path) -> Path:
    """The folder that `path` names; a hub id is downloaded."""
    if str(path) in SHIPPED:
        folder = Path(str(files("webdojo.policy").joinpath("weights", str(path))))
        if not folder.is_dir():
            raise ModelError(f"the model {path!r} is not in {str(folder)!r}; install the package again")
        return folder
    folder = Path(path).expanduser()
    if folder.is_dir():
        return folder
    if is_hub_id(path):
        from huggingface_hub import snapshot_download

        try:
            return Path(snapshot_download(str(path)))
        except Exception as error:  # the hub client raises a dozen unrelated kinds for "cannot be had"
            raise ModelError(
                f"model {path!r} is neither a folder nor a model that the hub gives: {one_line(error)}"
            ) from error
    ours = ", ".join(SHIPPED)
    raise ModelError(f"model folder {str(folder)!r} does not exist; give {ours}, a folder, or a hub id (owner/name)")
