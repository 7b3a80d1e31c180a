"""`webdojo launch slurm`, `kuberay` and `skypilot`: the file with which each of these runs a recipe on many nodes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webdojo.cli.app import Overrides, RecipeName, group
from webdojo.cli.keys import RecipeCommand

if TYPE_CHECKING:
    from webdojo.cluster.launch.job import Asked, Job

launch_app = group("launch", "Runs on clusters: write what Slurm, KubeRay or SkyPilot expects.")

Nodes = Annotated[int, typer.Option(min=0, help="Nodes; 0 takes the fewest that carry the recipe's plan.")]
Cpus = Annotated[int, typer.Option(min=0, help="CPUs of a node; 0 takes what the plan needs, 64 at most.")]
Gpus = Annotated[int, typer.Option(min=0, help="GPUs of a node; 0 takes what the plan needs, 8 at most.")]
MemoryGb = Annotated[int, typer.Option(min=0, help="Memory of a node; 0 leaves it to the plan and the tool.")]
Output = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where the file goes.", show_default="webdojo-RECIPE")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the file, and write none.")]


@launch_app.command(cls=RecipeCommand)
def slurm(
    recipe_name: RecipeName,
    overrides: Overrides = None,
    nodes: Nodes = 0,
    cpus: Cpus = 0,
    gpus: Gpus = 0,
    memory_gb: MemoryGb = 0,
    time: Annotated[str, typer.Option(help="Limit of the job, as sbatch takes it.")] = "24:00:00",
    sbatch: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help="Further option of sbatch, such as --sbatch=--partition=gpu; repeatable."),
    ] = None,
    setup: Annotated[
        list[str] | None,
        typer.Option(metavar="LINE", help="Shell line before all, such as 'source .venv/bin/activate'; repeatable."),
    ] = None,
    output: Output = None,
    dry_run: DryRun = False,
) -> None:
    """Write an sbatch script: a Ray cluster on the job's nodes, and the training on it."""
    from webdojo.cluster.launch.slurm import script

    job = _job(recipe_name, overrides, _asked(nodes, cpus, gpus, memory_gb))
    text = script(job, time=time, directives=sbatch or [], setup=setup or [])
    _hand_over(text, output or Path(f"{job.name}.sh"), "sbatch {}", job.warnings, dry_run)


@launch_app.command(cls=RecipeCommand)
def kuberay(
    recipe_name: RecipeName,
    image: Annotated[str, typer.Option(help="Image of all pods, such as that of deploy/kuberay/Dockerfile.")],
    overrides: Overrides = None,
    nodes: Nodes = 0,
    cpus: Cpus = 0,
    gpus: Gpus = 0,
    memory_gb: MemoryGb = 0,
    claim: Annotated[
        str, typer.Option(help="PersistentVolumeClaim (ReadWriteMany) for run folders and weights.")
    ] = "webdojo",
    secret: Annotated[str, typer.Option(help="Secret with API keys by the names of their variables.")] = "webdojo-keys",
    output: Output = None,
    dry_run: DryRun = False,
) -> None:
    """Write a RayJob: a head pod, pods for ranks and engines, and a CPU-only pod for each rollout worker.

    Nodes are the pods of ranks and engines, the head among them.
    """
    from webdojo.cluster.launch.kuberay import manifest, warnings

    job = _job(recipe_name, overrides, _asked(nodes, cpus, gpus, memory_gb), apart=True)
    text = manifest(job, image=image, claim=claim, secret=secret)
    _hand_over(text, output or Path(f"{job.name}.rayjob.yaml"), "kubectl apply -f {}", warnings(job), dry_run)


@launch_app.command(cls=RecipeCommand)
def skypilot(
    recipe_name: RecipeName,
    overrides: Overrides = None,
    nodes: Nodes = 0,
    cpus: Cpus = 0,
    gpus: Gpus = 0,
    memory_gb: MemoryGb = 0,
    accelerator: Annotated[str, typer.Option(help="Name of the GPU.")] = "H100",
    setup: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINE",
            help="Shell line that installs webdojo on a node; repeatable.",
            show_default="pip install of the working folder",
        ),
    ] = None,
    disk_gb: Annotated[int, typer.Option(min=0, help="Disk of a node; 0 takes what the run keeps.")] = 0,
    output: Output = None,
    dry_run: DryRun = False,
) -> None:
    """Write a SkyPilot task: nodes on a cloud, a Ray cluster on them, and the training on it."""
    from webdojo.cluster.launch.skypilot import task, warnings

    job = _job(recipe_name, overrides, _asked(nodes, cpus, gpus, memory_gb))
    text = task(job, accelerator=accelerator, disk_gb=disk_gb, setup=setup or [])
    keys = "".join(f" --secret {name}" for name in job.variables)
    file = output or Path(f"{job.name}.sky.yaml")
    _hand_over(text, file, f"sky launch -c {job.name}{keys} {{}}", warnings(job), dry_run)


@launch_app.command(hidden=True)
def wait(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Head of the Ray cluster.")],
    names: Annotated[list[str], typer.Argument(metavar="NODE...", help="Nodes, by `ray start --node-name`.")],
    limit_s: Annotated[float, typer.Option(help="How long to wait.")] = 600,
) -> None:
    """Wait until nodes are in a Ray cluster, and say which are not; the sbatch script calls it."""
    from webdojo.cluster.launch.joining import wait_for

    def told(missing: list[str]) -> None:
        typer.echo(f"waiting up to {limit_s:g} s for {', '.join(missing)} to join Ray at {address}", err=True)

    if missing := wait_for(address, names, limit_s, told):
        typer.echo(
            f"{', '.join(missing)}: not in Ray at {address} after {limit_s:g} s; the training starts on the others if "
            "its parts fit there",
            err=True,
        )


def _asked(nodes: int, cpus: int, gpus: int, memory_gb: int) -> Asked:
    from webdojo.cluster.launch.job import Asked

    return Asked(nodes, cpus, gpus, memory_gb)


def _job(name: str, overrides: list[str] | None, asked: Asked, *, apart: bool = False) -> Job:
    from webdojo.cluster.launch.job import job_of

    return job_of(name, overrides or [], asked, apart=apart)


def _hand_over(text: str, file: Path, submit: str, warnings: Sequence[str], dry_run: bool) -> None:
    """Print the text, which has the warnings as well; or write it, and say what submits it."""
    if dry_run:
        typer.echo(text, nl=False)
        return
    from webdojo.store.files import write_atomic

    write_atomic(file, text.encode())
    for line in warnings:
        typer.echo(f"warning: {line}", err=True)
    typer.echo(f"wrote {file}. Submit it with: {submit.format(shlex.quote(str(file)))}")
