"""The files for Slurm, KubeRay and SkyPilot: what their own tools would check, and what the script does.

No package ships the schema of KubeRay's RayJob, so its own fields are held by assertions; pod templates and the rest
are validated by Kubernetes' schemas. SkyPilot brings a hundred libraries, so its task is held by assertions, too.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from ray.cluster_utils import Cluster
from typer.testing import CliRunner

from tests.kubernetes import validate
from webdojo.cli import app
from webdojo.cluster.launch.job import Asked, job_of
from webdojo.errors import ConfigError
from webdojo.recipe import load_recipe

CLUSTER = [
    "openwebrl-80gb",
    *("train.ranks=8", "cluster.ranks.num_gpus=1"),
    *("cluster.engines.num_gpus=1", "cluster.engines.replicas=8"),
    *("cluster.rollouts.replicas=4", "cluster.rollouts.resources={browsers: 1}"),
]


def launch(tool: str, *words: str) -> str:
    done = CliRunner().invoke(app, ["launch", tool, *words, "--dry-run"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def directives(script: str) -> dict[str, str]:
    """The options of the #SBATCH lines, which end with the first command."""
    head = script.partition("\nset -euo pipefail")[0]
    lines = [line.removeprefix("#SBATCH ") for line in head.splitlines() if line.startswith("#SBATCH ")]
    assert all(re.fullmatch(r"--[a-z-]+(=\S+)?", line) for line in lines), lines
    assert script.count("#SBATCH") == len(lines)
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def rayjob(*words: str) -> tuple[dict[str, Any], dict[str, Any]]:
    config, job = yaml.safe_load_all(launch("kuberay", *words, "--image=registry/webdojo:1"))
    return config, job


def test_an_sbatch_script_asks_for_the_nodes_of_the_plan():
    script = launch("slurm", *CLUSTER, "--sbatch=--partition=gpu", "--setup=module load cuda", "--memory-gb=900")
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    assert script.startswith("#!/usr/bin/env bash\n")
    assert directives(script) == {
        "--job-name": "webdojo-openwebrl-80gb",
        "--nodes": "2",
        "--ntasks-per-node": "1",
        "--cpus-per-task": "32",
        "--gpus-per-node": "8",
        "--mem": "900G",
        "--time": "24:00:00",
        "--output": "%x-%j.log",
        "--no-kill": "",
        "--requeue": "",
        "--signal": "B:TERM@120",
        "--partition": "gpu",
    }
    assert "\nmodule load cuda\n" in script
    assert "# rank                7     1     1       -  -           node-1 ×7\n" in script
    assert "--resources='{\"browsers\": 4.0}'" in script


DOUBLES = {
    "scontrol": "printf 'n1\\nn2\\nn3\\n'",
    # Runs the rest on the node of -w, which here is a name for the log.
    "srun": 'while [[ $1 == -* ]]; do [ "$1" = -w ] && { export NODE=$2; shift; }; shift; done; exec "$@"',
    "hostname": "echo 10.0.0.1",
    "ray": 'echo "$NODE: ray $*" >> "$LOG"; [ "$1" = start ] && exec sleep 60; [ -e "$LOG" ]',
    "webdojo": '[ "$1" = launch ] && echo "webdojo $*" >> "$LOG" && exit; '
    'echo "webdojo $* at $RAY_ADDRESS" >> "$LOG"; trap "echo terminated >> $LOG; exit 143" TERM; '
    'while [ ! -e "$LOG.end" ]; do sleep 0.1; done; exit 7',
}


@pytest.fixture
def slurm_node(tmp_path: Path) -> dict[str, str]:
    """The environment of a job on a machine whose Slurm, Ray and webdojo only write down how they were called."""
    for name, body in DOUBLES.items():
        (tmp_path / name).write_text(f"#!/usr/bin/env bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    job = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NODELIST": "n[1-3]", "LOG": str(tmp_path / "log")}
    return os.environ | job | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}


@pytest.mark.parametrize("terminated", [False, True], ids=["ends", "terminated"])
def test_the_script_starts_ray_on_each_node_and_the_training_beside_the_head(slurm_node, tmp_path, terminated):
    (tmp_path / "job.sh").write_text(launch("slurm", "quickstart", "train.lr=1e-4", "--nodes=3"))
    log = tmp_path / "log"
    with subprocess.Popen(["bash", "job.sh"], cwd=tmp_path, env=slurm_node, start_new_session=True) as job:
        try:
            deadline = time.monotonic() + 60
            while not log.exists() or log.read_text().count("start") < 3 or "webdojo train" not in log.read_text():
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            if terminated:
                job.send_signal(signal.SIGTERM)
            else:
                (tmp_path / "log.end").touch()
            assert job.wait(60) == (143 if terminated else 7)
        finally:
            os.killpg(job.pid, signal.SIGKILL)
    lines = log.read_text().splitlines()
    offers = "--num-cpus=6 --num-gpus=0 --temp-dir=/tmp/ray-4711 --block"
    head = f"n1: ray start --head --node-name=n1 --port=24711 --node-ip-address=10.0.0.1 {offers}"
    workers = [f"{node}: ray start --node-name={node} --address=10.0.0.1:24711 {offers}" for node in ("n2", "n3")]
    training = "webdojo train quickstart train.lr=1e-4 --auto cluster.address=auto at 10.0.0.1:24711"
    assert {head, *workers, training} <= set(lines)
    assert lines.index("webdojo launch wait 10.0.0.1:24711 n1 n2 n3") < lines.index(training)
    assert ("terminated" in lines) is terminated


@pytest.mark.integration
def test_it_waits_for_nodes_and_says_which_do_not_come(cluster: Cluster) -> None:
    def waiting(*names: str, limit_s: float) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "webdojo", "launch", "wait", cluster.address, *names, f"--limit-s={limit_s}"]
        return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)

    with waiting("late", limit_s=120) as command:
        assert command.stderr is not None
        line = command.stderr.readline()
        late = cluster.add_node(node_name="late", num_cpus=1)
        assert (command.stderr.read(), command.wait(60)) == ("", 0)
    assert line == f"waiting up to 120 s for late to join Ray at {cluster.address}\n"
    with waiting("never", "late", limit_s=1) as command:
        assert command.stderr is not None
        assert command.stderr.readlines()[1].startswith(f"never: not in Ray at {cluster.address} after 1 s; ")
        assert command.wait(60) == 0
    cluster.remove_node(late)


def test_the_script_ends_where_ray_does_not_start(slurm_node, tmp_path):
    (tmp_path / "job.sh").write_text(launch("slurm", "quickstart", "--nodes=3"))
    (tmp_path / "ray").write_text("#!/usr/bin/env bash\nexit 3\n")
    done = subprocess.run(["bash", "job.sh"], cwd=tmp_path, env=slurm_node, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "Ray did not start on n1: see the lines above\n")


def test_a_rayjob_is_what_kubernetes_and_kuberay_expect():
    config, job = rayjob(*CLUSTER)
    validate(config)
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    spec = job["spec"]
    assert set(spec) == {
        *("entrypoint", "backoffLimit", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished", "rayClusterSpec")
    }
    cluster = spec["rayClusterSpec"]
    assert set(cluster) == {"headGroupSpec", "workerGroupSpecs"}
    assert set(cluster["headGroupSpec"]) == {"rayStartParams", "template"}
    for group in cluster["workerGroupSpecs"]:
        assert set(group) == {"groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template"}
        assert group["minReplicas"] == group["replicas"] == group["maxReplicas"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        pod = group["template"]
        validate({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"] | {"name": "x"}, "spec": pod["spec"]})
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True


def test_a_rayjob_has_the_sizes_of_the_recipe():
    _, job = rayjob(*CLUSTER)
    cluster = job["spec"]["rayClusterSpec"]
    sizes = {
        group.get("groupName", "head"): (
            group.get("replicas", 1),
            group["template"]["spec"]["containers"][0]["resources"]["limits"],
            group["rayStartParams"].get("resources"),
        )
        for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])
    }
    gpus = {"cpu": "16", "memory": "512Gi", "nvidia.com/gpu": "8"}
    assert sizes == {
        "head": (1, gpus, None),
        "learner-engines": (1, gpus, None),
        # OpenWebRL, Table 7: 1 CPU and 4 GiB a browser; the JSON passes through a shell.
        "rollouts": (4, {"cpu": "4", "memory": "16Gi"}, r'"{\"browsers\": 1.0}"'),
    }


def test_a_rayjob_brings_its_recipe(tmp_path):
    config, job = rayjob(*CLUSTER)
    file = tmp_path / "recipe.yaml"
    file.write_text(config["data"]["recipe.yaml"])
    assert load_recipe(str(file)) == load_recipe(CLUSTER[0], CLUSTER[1:])
    words = shlex.split(job["spec"]["entrypoint"])
    assert words[2:] == ["webdojo", "train", "/etc/webdojo/recipe.yaml", "--auto", "cluster.address=auto"]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    mounts = {mount["mountPath"]: mount["name"] for mount in head["containers"][0]["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in head["volumes"]}
    assert volumes[mounts["/etc/webdojo"]]["configMap"]["name"] == config["metadata"]["name"]
    assert volumes[mounts["/work"]]["persistentVolumeClaim"]["claimName"] == "webdojo"
    assert words[:2] == ["env", "--chdir=/work"]


def test_files_that_a_rayjob_does_not_bring_are_told():
    recipe = ["quickstart", "tasks.path=tasks.jsonl", "--image=registry/webdojo:1"]
    line = "# warning: tasks.path is 'tasks.jsonl', which pods read as '/work/tasks.jsonl': put it into the claim\n"
    assert line in launch("kuberay", *recipe)
    assert "warning" not in launch("kuberay", *CLUSTER, "--image=registry/webdojo:1"), "a hub id is no file"


def test_a_rayjob_on_cpus_has_no_gpu_anywhere():
    text = launch("kuberay", "quickstart", "--image=registry/webdojo:1")
    assert "nvidia.com/gpu" not in text
    assert [group["groupName"] for group in rayjob("quickstart")[1]["spec"]["rayClusterSpec"]["workerGroupSpecs"]] == [
        "rollouts"
    ]


def test_a_skypilot_task_asks_for_the_nodes_of_the_plan():
    task = yaml.safe_load(launch("skypilot", *CLUSTER[:-1], "--accelerator=H200", "--memory-gb=900"))
    assert set(task) == {"name", "num_nodes", "workdir", "resources", "secrets", "setup", "run"}
    assert (task["name"], task["num_nodes"]) == ("webdojo-openwebrl-80gb", 2)
    assert task["resources"].pop("disk_size") > 500, "checkpoints of 4 B parameters"
    assert task["resources"] == {"accelerators": "H200:8", "cpus": "32+", "memory": "900+"}
    assert "pip install '.[cluster,vllm]'" in task["setup"]
    assert "export PATH=~/webdojo-venv/bin:$PATH" in task["run"]
    assert task["secrets"] == {"OPENAI_API_KEY": None}
    for part in ("setup", "run"):
        assert subprocess.run(["bash", "-n"], input=task[part], text=True, check=False).returncode == 0
    assert "--auto cluster.address=auto" in task["run"]
    with pytest.raises(ConfigError, match="no custom resources"):
        launch("skypilot", *CLUSTER)


def test_a_skypilot_task_installs_webdojo_from_a_clone_or_as_it_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"no clone of it: run this in a clone .* or give the lines .* --setup"):
        launch("skypilot", "quickstart")
    task = yaml.safe_load(launch("skypilot", "quickstart", "--setup=my install", "--disk-gb=2000"))
    assert (task["setup"], task["resources"]["disk_size"]) == ("my install\n", 2000)
    assert "webdojo-venv" not in task["run"]


def test_ranks_on_nodes_that_share_no_folder_are_told():
    ranks = [*CLUSTER[:-1], "train.ranks=16"]
    assert "# warning: ranks of the learner are on 2 nodes and read the model" in launch("skypilot", *ranks)
    assert "share no folder" not in launch("slurm", *ranks)
    assert "share no folder" not in launch("skypilot", *CLUSTER[:-1])


def test_gpus_that_no_part_uses_are_told(tmp_path):
    browsers = [*CLUSTER[:-2], "cluster.rollouts.replicas=32"]
    line = "warning: no part uses 8 of the 24 GPUs that this asks for: rollout workers need their CPUs; take nodes with"
    assert f"# {line}" in launch("slurm", *browsers)
    assert "no part uses" not in launch("slurm", *browsers, "--cpus=96")
    assert "no part uses" not in launch("kuberay", *browsers, "--image=registry/webdojo:1")
    done = CliRunner().invoke(app, ["launch", "slurm", *browsers, f"--output={tmp_path / 'job'}"])
    assert done.stderr.startswith(line)


@pytest.mark.parametrize("tool", ["slurm", "skypilot", "kuberay"])
def test_without_a_dry_run_it_writes_the_file_and_says_what_submits_it(tool, tmp_path):
    file = tmp_path / "a job"
    image = ["--image=registry/webdojo:1"] if tool == "kuberay" else []
    done = CliRunner().invoke(app, ["launch", tool, "quickstart", *image, f"--output={file}"])
    submit = {"slurm": "sbatch", "kuberay": "kubectl apply -f", "skypilot": "sky launch -c webdojo-quickstart"}[tool]
    assert done.output == f"wrote {file}. Submit it with: {submit} '{file}'\n"
    assert file.read_text() == launch(tool, "quickstart", *image)


def test_nodes_that_are_too_few_or_too_small_are_refused():
    with pytest.raises(ConfigError, match=r"which lacks 8 GPUs.*take .*cluster.ranks.num_gpus=0.5"):
        job_of(CLUSTER[0], CLUSTER[1:], Asked(nodes=1, gpus=8))
    with pytest.raises(ConfigError, match=r"take cluster.rollouts.num_cpus=2"):
        job_of("quickstart", [], Asked(cpus=2))
    assert job_of("quickstart", [], Asked(cpus=4)).nodes == 2


def test_shells_do_not_read_what_an_override_says():
    evil = "model.path=$(touch pwned) 'and more'"
    for tool in ("slurm", "skypilot"):
        assert shlex.quote(evil) in launch(tool, "quickstart", evil)
