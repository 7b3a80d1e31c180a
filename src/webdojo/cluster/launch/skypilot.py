"""A SkyPilot task: nodes of one size on any cloud, a Ray cluster on them by SkyPilot's own script, and the training."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path

from webdojo.cluster.launch.job import Job, render
from webdojo.dry_run.plan import disk
from webdojo.errors import ConfigError, ModelError
from webdojo.policy.engine import VLLMConfig
from webdojo.policy.model.loading import skeleton
from webdojo.recipe import Recipe

VENV = "~/webdojo-venv"
"""Where a node has webdojo: SkyPilot's own Python is older than webdojo takes."""
LEAST_DISK_GB = 256
"""What SkyPilot takes by itself."""
OTHER_DISK_GB = 100
"""Libraries, the model and Ray's logs, beside what the run keeps."""


def task(job: Job, *, accelerator: str, disk_gb: int = 0, setup: Sequence[str] = ()) -> str:
    """The task's YAML.

    Args:
        job: what runs, and on how many nodes of which size.
        accelerator: the GPU's name there, such as H100.
        disk_gb: of each node; 0 takes what the run keeps.
        setup: shell lines that install webdojo on every node, by default from the working folder.

    Raises:
        ConfigError: a part asks for custom resources, which these nodes do not offer; or there are no `setup` and no
            webdojo in the working folder.
    """
    if job.resources:
        raise ConfigError(
            f"SkyPilot's Ray nodes offer no custom resources, and the recipe asks for {job.resources}: leave out "
            "cluster.rollouts.resources, cluster.engines.resources and cluster.ranks.resources"
        )
    if not setup and not _is_clone(Path()):
        raise ConfigError(
            f"nodes install webdojo from the working folder, and {str(Path.cwd())!r} is no clone of it: run this in a "
            "clone with your files in it, or give the lines that install it, --setup"
        )
    return render(
        "skypilot.yaml.j2",
        job,
        warnings(job),
        accelerator=accelerator,
        disk_gb=disk_gb or _disk_gb(job.recipe),
        setup=setup or _install(job.recipe),
        venv="" if setup else VENV,
    )


def warnings(job: Job) -> list[str]:
    """What the plan wastes, and what it needs that SkyPilot's nodes do not have by themselves."""
    if job.rank_nodes < 2:
        return job.warnings
    return [
        *job.warnings,
        f"ranks of the learner are on {job.rank_nodes} nodes and read the model and the run folder, and these "
        "nodes share no folder: mount one at the same path on all (file_mounts, volumes), or lower train.ranks",
    ]


def _install(recipe: Recipe) -> list[str]:
    engine = recipe.engine
    vllm = isinstance(engine, VLLMConfig) and not engine.urls and not engine.python
    extras = ["cluster", *(["lora"] if recipe.model.lora.r else []), *(["vllm"] if vllm else [])]
    return [
        "pip install uv",
        f"uv venv --seed --allow-existing --python 3.12 {VENV}",
        f"{VENV}/bin/pip install '.[{','.join(extras)}]'",
        f"{VENV}/bin/playwright install --with-deps chromium",
    ]


def _is_clone(folder: Path) -> bool:
    file = folder / "pyproject.toml"
    return file.is_file() and tomllib.loads(file.read_text()).get("project", {}).get("name") == "webdojo"


def _disk_gb(recipe: Recipe) -> int:
    """What the run keeps and what it needs beside, as far as the model is known."""
    try:
        kept = sum(disk(skeleton(recipe.model.path), recipe))
    except ModelError:
        return LEAST_DISK_GB
    return max(LEAST_DISK_GB, math.ceil(kept / 1e9) + OTHER_DISK_GB)
