"""A SkyPilot task: nodes of one size on any cloud, a Ray cluster on them by SkyPilot's own script, and the training."""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.cluster.launch.job import Job, render
from webdojo.errors import ConfigError

INSTALL = ("pip install 'webdojo[cluster]'", "playwright install --with-deps chromium")
"""Setup of a node on which nothing is installed."""


def task(job: Job, *, accelerator: str, setup: Sequence[str] = ()) -> str:
    """The task's YAML.

    Args:
        job: what runs, and on how many nodes of which size.
        accelerator: the GPU's name there, such as H100.
        setup: shell lines that install webdojo on every node.

    Raises:
        ConfigError: a part asks for custom resources, which these nodes do not offer.
    """
    if job.resources:
        raise ConfigError(
            f"SkyPilot's Ray nodes offer no custom resources, and the recipe asks for {job.resources}: leave out "
            "cluster.rollouts.resources, cluster.engines.resources and cluster.ranks.resources"
        )
    return render("skypilot.yaml.j2", job, accelerator=accelerator, setup=setup)
