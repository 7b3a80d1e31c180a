"""A checkpoint of a run on the Hugging Face hub: the weights as `transformers` reads them, the recipe and a card.

What only a resumed training reads stays here.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from huggingface_hub import HfApi, get_token

from webdojo.errors import ConfigError, Missing, ModelError, StoreError, one_line
from webdojo.loops.keep import best, saved
from webdojo.policy.model.folder import HUB_ID
from webdojo.redact import without_logins
from webdojo.store.checkpoints import RECORD, Checkpoint
from webdojo.store.run import RunStore

BEST = "best"
OF_TRAINING = {RECORD, "manifest.json", "trainer.pt", "optimizer"}
"""What of a checkpoint only training reads."""


def chosen(store: RunStore, name: str) -> Checkpoint:
    """The checkpoint of that name, such as `sft` or `rl-18`; `best` is that of the most successful policy, else the
    last one. A StoreError where there is none."""
    if name != BEST:
        number = re.fullmatch(r"rl-(\d+)", name)
        return store.checkpoints.get(f"rl-{int(number[1]):04d}" if number else name)
    if (found := best(store)) is not None:
        return found.checkpoint
    there = [*saved(store).values()] or store.checkpoints.all()
    if not there:
        raise StoreError(f"{store.path} has no checkpoint: only a run that has trained has a model to push")
    return there[-1]


def check_hub_id(hub_id: str) -> None:
    if not HUB_ID.fullmatch(hub_id):
        raise ConfigError(f"hub id {hub_id!r} must be owner/name, such as me/my-web-agent")


def push(store: RunStore, checkpoint: Checkpoint, card: str, hub_id: str, *, private: bool = False) -> str:
    """Upload a checkpoint with its card in one commit, and return its address.

    The repository is made if it is not there, private on request; weights of an earlier commit go.

    Raises:
        Missing: there is no token.
        ModelError: the checkpoint is damaged, or the hub does not take it.
    """
    if get_token() is None:
        raise Missing("the hub needs a token that may write: set HF_TOKEN, or call `hf auth login`")
    from webdojo.trainer.learner.checkpoint import check_checkpoint  # it brings torch

    check_checkpoint(checkpoint.path)
    api = HfApi()
    with TemporaryDirectory(prefix="webdojo-push-") as folder:
        staged = Path(folder)
        for file in checkpoint.path.iterdir():
            if file.name not in OF_TRAINING:
                (staged / file.name).symlink_to(file.resolve())
        (staged / "README.md").write_text(card)
        (staged / "recipe.yaml").write_text(without_logins(store.recipe_yaml))
        try:
            address = api.create_repo(hub_id, private=private or None, exist_ok=True)
            api.upload_folder(
                repo_id=hub_id,
                folder_path=staged,
                commit_message=f"Upload {checkpoint.name}",
                delete_patterns=["*.safetensors", "*.safetensors.index.json"],
            )
        except Exception as error:  # the hub client raises a dozen unrelated kinds
            raise ModelError(f"{hub_id} was not pushed: {one_line(error)}") from error
    return str(address)
