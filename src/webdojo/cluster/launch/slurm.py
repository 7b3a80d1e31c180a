"""An sbatch script: a Ray head on the first node, a worker on each other one, and the training beside the head."""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.cluster.launch.job import Job, render


def script(job: Job, *, time: str, directives: Sequence[str] = (), setup: Sequence[str] = ()) -> str:
    """The script.

    Args:
        job: what runs, and on how many nodes of which size.
        time: limit of the job, as Slurm writes it.
        directives: further options of sbatch, such as `--partition=gpu`.
        setup: lines that make `webdojo` and `ray` found on every node.
    """
    return render("slurm.sh.j2", job, job.warnings, time=time, directives=directives, setup=setup)
