"""A KubeRay RayJob: a head pod with the driver, pods of the same size for further ranks and engines, and a CPU-only pod
for each rollout worker.

A rollout pod has the CPUs of `cluster.rollouts` and, where no memory is said, 4 GiB for each of them
(`docs/browser-service.md`, Sizes).
"""

from __future__ import annotations

import json
import math
import os.path

from webdojo import recipe_paths
from webdojo.cluster.launch.job import Job, command, render
from webdojo.cluster.packing import GB
from webdojo.policy.model.folder import is_hub_id
from webdojo.recipe import dump_changes

BROWSER_GB = 4
"""Memory beside each CPU of browsers."""
GPU_GB = 64
"""Memory beside each GPU where nobody says how much; it holds what `train.optimizer_offload` moves there."""
CPU_GB = 4
"""The same beside each CPU of a pod without a GPU."""
RECIPE = "/etc/webdojo/recipe.yaml"
WORK = "/work"
"""Where the claim is, in which the training runs."""


def manifest(job: Job, *, image: str, claim: str, secret: str) -> str:
    """The manifest: the recipe in a ConfigMap, and the RayJob.

    Args:
        job: what runs, with `nodes` of one size for ranks and engines, beside those of the rollout workers.
        image: of all pods, with Ray, webdojo and a Chromium.
        claim: PersistentVolumeClaim that all pods can write: run folders and weights.
        secret: Secret whose keys are environment variables; pods start without it.
    """
    rollouts = job.recipe.cluster.rollouts
    each = job.placement.plan.parts[-1].each
    return render(
        "kuberay.yaml.j2",
        job,
        warnings(job),
        recipe=dump_changes(job.recipe),
        # The entrypoint goes through a shell of the submitter: no quotes, no operators.
        entrypoint=f"env --chdir={WORK} {command(RECIPE)}",
        image=image,
        claim=claim,
        secret=secret,
        memory_gb=job.memory_gb or math.ceil(_needed_gb(job)) or job.gpus * GPU_GB or job.cpus * CPU_GB,
        rollouts={
            "replicas": rollouts.replicas,
            "cpus": rollouts.num_cpus,
            "gpus": math.ceil(rollouts.num_gpus),
            "memory_gb": rollouts.memory_gb or max(1, rollouts.num_cpus) * BROWSER_GB,
            "resources": _start_parameter(dict(each.resources)),
        },
        resources=_start_parameter(json.loads(job.resources or "{}")),
    )


def warnings(job: Job) -> list[str]:
    """What the plan wastes, and the files that the ConfigMap does not bring."""
    named = recipe_paths.named(job.recipe.model_dump(mode="json"))
    files = {key: path for key, path in named.items() if key not in recipe_paths.WRITTEN and not is_hub_id(path)}
    return [
        *job.warnings,
        *(
            f"{key} is {path!r}, which pods read as {os.path.normpath(os.path.join(WORK, path))!r}: "
            "put it into the claim"
            for key, path in files.items()
        ),
    ]


def _needed_gb(job: Job) -> float:
    """The most memory that parts set aside on one of the nodes."""
    nodes = {name for _, name in job.placement.placed if name.startswith("node-")}
    sums = [sum(bundle.needs.memory for bundle, name in job.placement.placed if name == node) for node in nodes]
    return max(sums) / GB


def _start_parameter(resources: dict[str, float]) -> str:
    """Custom resources as a value of `rayStartParams`, which passes through a shell: JSON in JSON's quotes."""
    return json.dumps(json.dumps(resources)) if resources else ""
