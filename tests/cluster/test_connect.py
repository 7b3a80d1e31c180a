"""A run that cannot have its cluster ends with one line, before it begins."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

from webdojo.cluster.connect import connected
from webdojo.errors import ConfigError
from webdojo.loops.start import train
from webdojo.recipe import load_recipe


def test_nobody_at_its_address(tmp_path: Path) -> None:
    recipe = load_recipe("quickstart", ["cluster.address=127.0.0.1:1"])
    with pytest.raises(ConfigError, match=r"no Ray cluster answers at cluster.address '127.0.0.1:1'.*ray start --head"):
        train(recipe, tmp_path / "run", False, connected)
    assert not (tmp_path / "run").exists()


@pytest.mark.integration
def test_no_room_for_its_parts(cluster: Cluster, tmp_path: Path) -> None:
    recipe = load_recipe("quickstart", [f"cluster.address={cluster.address}", "cluster.rollouts.num_cpus=64"])
    with pytest.raises(ConfigError, match=r"the rollout worker .64 CPUs. finds no place on 3 nodes"):
        train(recipe, tmp_path / "run", False, connected)
    assert not (tmp_path / "run").exists()


@pytest.mark.integration
def test_sigterm_is_handled_as_without_a_cluster(cluster: Cluster) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with connected(load_recipe("quickstart", [f"cluster.address={cluster.address}"])):
        assert signal.getsignal(signal.SIGTERM) is before
