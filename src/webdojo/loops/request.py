"""What a user asks `webdojo act` for, checked before anything heavy is loaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from webdojo.envs.env import Environment
from webdojo.errors import ConfigError
from webdojo.policy.config import TINY
from webdojo.store.checkpoints import CheckpointFolder
from webdojo.store.run import DATABASE
from webdojo.types import Task


def check_display(headless: bool) -> None:
    """Raise ConfigError where a window is wanted and there is no screen to show it on."""
    shown = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not headless and not shown:
        raise ConfigError(
            "--headful shows a window, and there is no display (DISPLAY and WAYLAND_DISPLAY are empty): "
            "leave it out, or put `xvfb-run` before the command"
        )


def task_at(env: Environment, instruction: str, url: str) -> Task:
    """A task of the user's own on any page of an environment; one that the environment has itself can be judged.

    Raises:
        ConfigError: it is empty, or `url` is no http address.
        TaskError: the environment has no such site.
    """
    if not instruction.strip():
        raise ConfigError("the task is empty: say what is to be done")
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname if parts.scheme in ("http", "https") else None), parts.port
    except ValueError:
        host = None
    if not host:
        raise ConfigError(f"--url is {url!r}: give the address to start at, such as https://example.org/")
    kind = env.kind_of(url)
    if (own := env.own_task(instruction, url)) is not None:
        return own.model_copy(update={"instruction": instruction, "start_url": url})
    return Task(id=f"act-{uuid4().hex[:8]}", instruction=instruction, start_url=url, website=host, kind=kind)


def newest_checkpoint(runs: Path) -> str:
    """The folder of the newest checkpoint of all runs below `runs`; empty where there is none."""
    folders = [CheckpointFolder(file.parent / "checkpoints") for file in runs.glob(f"*/{DATABASE}")]
    saved = [checkpoint.path for folder in folders for checkpoint in folder.all()]
    return str(max(saved, key=lambda path: path.stat().st_mtime, default=""))


def recipe_of(model: str, endpoint: str = "") -> str:
    """The recipe that says how a model sees and speaks: that of the run whose checkpoint it is, else a usual one."""
    if endpoint:
        return "openwebrl-dojo"
    if model and (trained := Path(model).resolve().parent.parent / "recipe.yaml").is_file():
        return str(trained)
    return "quickstart" if model in ("", TINY) else "openwebrl-dojo"
