"""Ranks that somebody else has started: by torchrun, and on two nodes, which are network namespaces of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.hosts import Host, hosts
from tests.policy.conftest import model_dir
from tests.trainer.learner.test_ranks import StoredImages, recipe_of, three_samples, weights_of
from webdojo.errors import ConfigError
from webdojo.loops.models import check_ranks, make_learner
from webdojo.policy.model.processor import Processor
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.learner.optimizer import moments_of

__all__ = ["model_dir"]

ROOT = Path(__file__).parents[3]


def run_module(*prefix: str, arguments: list[str], **environment: str) -> subprocess.Popen[str]:
    words = [*prefix, "-m", "tests.trainer.learner.started", *arguments]
    return subprocess.Popen(words, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, text=True)


def output_of(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=1200)
    assert process.returncode == 0
    return output


def test_torchrun_starts_the_ranks_of_one_learner_after_another() -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    output = output_of(run_module(*torchrun, arguments=["count"]))
    lost, *sums = output.splitlines()
    assert lost == (
        "rank 1 of the learner's 2 failed: its process was killed by SIGKILL (out of memory?); "
        "resume from the last checkpoint"
    )
    assert sums == ["[1.0, 2.0, 3.0]"]


def test_all_that_torchrun_has_started_are_ranks(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(1, "host").items():
        monkeypatch.setenv(name, value)
    check_ranks(recipe_of(model_dir, 2))
    with pytest.raises(ConfigError, match=r"train\.ranks is 3, but torchrun started 2 processes"):
        check_ranks(recipe_of(model_dir, 3))


def environment(rank: int, address: str) -> dict[str, str]:
    """As torchrun says it to the one process of a node."""
    return {
        "RANK": str(rank),
        "WORLD_SIZE": "2",
        "LOCAL_RANK": "0",
        "MASTER_ADDR": address,
        "MASTER_PORT": "29500",
    }


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[Host]]:
    with hosts(2) as made:
        yield made


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> StoredImages:
    return StoredImages(tmp_path_factory.mktemp("images"))


def gradients(learner: Learner) -> dict[str, Tensor]:
    """Those of the first step, which the first moments are a part of."""
    part = 1 - learner.config.adam_betas[0]
    return {name: moment / part for name, moment in moments_of(learner._optimizer).items() if name.endswith("/exp_avg")}


def test_two_nodes_learn_what_one_process_learns(
    nodes: list[Host], model_dir: Path, images: StoredImages, tmp_path: Path
) -> None:
    """And their checkpoint goes on in one process, and on three ranks."""
    recipe, checkpoint = recipe_of(model_dir, 1), tmp_path / "checkpoint"
    samples = three_samples(Processor.load(model_dir), images)
    started = [
        run_module(
            *(*node.inside, sys.executable),
            arguments=["learn", str(model_dir), str(images.store.folder), str(checkpoint)],
            **environment(rank, nodes[0].address),
        )
        for rank, node in enumerate(nodes)
    ]
    alone = make_learner(recipe, images.store, str(model_dir))
    expected = alone.train_policy(samples, 0.8)
    metrics, nothing = (output_of(process) for process in started)
    assert nothing == ""
    found = json.loads(metrics.splitlines()[-1])
    for name in ("loss", "grad_norm", "entropy", "engine_gap_mean"):
        assert found[name] == pytest.approx(expected[name], abs=1e-5), name

    resumed = make_learner(recipe, images.store, str(model_dir))
    resumed.load(checkpoint)
    assert resumed.steps == 1
    of_one = gradients(alone)
    assert max(float(gradient.abs().max()) for gradient in of_one.values()) > 1e-3
    for name, gradient in gradients(resumed).items():
        torch.testing.assert_close(gradient, of_one[name], rtol=0, atol=1e-5)

    resumed.train_policy(samples, 0.8)
    three = recipe_of(model_dir, 3)
    with closing(make_learner(three, images.store, str(model_dir))) as learner:
        learner.load(checkpoint)
        learner.train_policy(samples, 0.8)
        weights = weights_of(learner)
    for name, value in weights_of(resumed).items():
        torch.testing.assert_close(weights[name], value, rtol=0, atol=1e-5)
