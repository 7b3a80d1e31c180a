"""Where the parts of a recipe go on a cluster, and what is said where they do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdojo.cluster.packing import GB, Bundle, Node, Share, nodes_of, pack, total
from webdojo.cluster.parts import DRIVER, ENGINE, RANK, ROLLOUT, Plan, plan_of
from webdojo.cluster.plan import Placement, check
from webdojo.errors import ConfigError
from webdojo.recipe import load_recipe

ON_GPUS = ["train.ranks=4", "cluster.ranks.num_gpus=1", "cluster.engines.num_gpus=1", "cluster.engines.replicas=4"]
COLOCATED = [*ON_GPUS, "cluster.ranks.num_gpus=0.4", "cluster.engines.num_gpus=0.6"]


def node(name: str, cpus: float, gpus: float = 0, gb: int = 0, **resources: float) -> Node:
    return Node(name, Share(cpus, gpus, gb * GB, resources))


def plan(*overrides: str) -> Plan:
    return plan_of(load_recipe("quickstart", list(overrides)))


def nodes_by_part(placement: Placement) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for bundle, name in placement.placed:
        for part in bundle.parts:
            found.setdefault(part, []).append(name)
    return found


def refused(*overrides: str, nodes: list[Node], driver: str = "") -> str:
    with pytest.raises(ConfigError) as error:
        check(plan(*overrides), nodes, driver)
    [line] = error.value.lines
    return line


def test_one_node_carries_the_quickstart():
    placement = check(plan(), [node("laptop", 6)])
    assert placement.lines() == [
        "part            count  CPUs  GPUs  memory  resources  node",
        "driver, rank 0      1     1     0       -  -          laptop",
        "image server        1     0     0       -  -          laptop",
        "engine              1     1     0       -  -          laptop",
        "rollout worker      1     4     0       -  -          laptop",
        "split; sets aside 6 CPUs of 1 node with 6 CPUs",
    ]


def test_rollout_workers_leave_nodes_with_gpus_to_ranks_and_engines():
    nodes = [node("gpu", 64, 8), node("cpu-0", 8), node("cpu-1", 8)]
    placement = check(plan(*ON_GPUS, "cluster.rollouts.replicas=4"), nodes)
    assert nodes_by_part(placement)[ROLLOUT] == ["cpu-0", "cpu-0", "cpu-1", "cpu-1"]
    assert nodes_by_part(placement)[RANK] == ["gpu"] * 3
    assert nodes_by_part(placement)[ENGINE] == ["gpu"] * 4
    assert "rank                3     1     1       -  -          gpu ×3" in placement.lines()


def test_a_colocated_plan_has_an_engine_on_each_ranks_gpu():
    placement = check(plan(*COLOCATED), [node("a", 8, 2), node("b", 8, 2)])
    learners = [
        (bundle.parts, name) for bundle, name in placement.placed if DRIVER in bundle.parts or RANK in bundle.parts
    ]
    assert all(ENGINE in parts for parts, _ in learners)
    assert sorted(name for _, name in learners) == ["a", "a", "b", "b"]
    assert "colocated" in placement.lines()[-1]
    with pytest.raises(ConfigError, match="which lacks 1 GPU"):
        check(plan(*COLOCATED), [node("a", 64, 3)])


def test_more_engines_than_ranks_share_the_ranks_gpus():
    fair = plan(*COLOCATED, "cluster.engines.replicas=8", "cluster.engines.num_gpus=0.3")
    assert [bundle.parts.count(ENGINE) for bundle in fair.bundles()[:4]] == [2, 2, 2, 2]
    assert refused(*COLOCATED, "cluster.engines.replicas=8", nodes=[node("a", 64, 8)]).endswith(
        "2 engines beside each rank are 1.6 of a GPU, where at most all of one can be shared: "
        "take cluster.engines.num_gpus=0.3"
    )


@pytest.mark.parametrize(
    ("overrides", "nodes", "advice"),
    [
        (
            ["cluster.rollouts.replicas=2"],
            [node("a", 8)],
            "the driver, rank 0 (1 CPU) and the engine (1 CPU) find no place on 1 node with 8 CPUs, which lacks 2 CPUs"
            ": take cluster.rollouts.num_cpus=3 or cluster.rollouts.replicas=1, or add nodes with 2 CPUs together",
        ),
        (
            ON_GPUS,
            [node("gpu", 64, 6)],
            "2 of 4 engines (1 CPU and 1 GPU each) find no place on 1 node with 64 CPUs and 6 GPUs, which lacks 2 "
            "GPUs: take cluster.engines.replicas=2 or cluster.ranks.num_gpus=0.5 cluster.engines.num_gpus=0.5, "
            "or add nodes with 2 CPUs and 2 GPUs together",
        ),
        (
            ["cluster.engines.memory_gb=80"],
            [node("a", 16, 0, 64)],
            "the engine (1 CPU and 80 GB) finds no place on 1 node with 16 CPUs and 64 GB, which lacks 16 GB: "
            "take cluster.engines.memory_gb=64, or add a node with 1 CPU and 80 GB",
        ),
        (
            ["cluster.engines.num_cpus=8"],
            [node("a", 7), node("b", 7)],
            "the engine (8 CPUs) finds no place on 2 nodes with 14 CPUs, none of which has 8 CPUs left: "
            "take cluster.engines.num_cpus=7, or add a node with 8 CPUs",
        ),
        (
            ["cluster.rollouts.resources={browsers: 1}"],
            [node("a", 16)],
            "the rollout worker (4 CPUs and 1 of 'browsers') finds no place on 1 node with 16 CPUs, which lacks "
            "1 of 'browsers': take cluster.rollouts.resources={}, or add a node with 4 CPUs and 1 of 'browsers'",
        ),
        (
            ["cluster.rollouts.memory_gb=64", "cluster.rollouts.num_cpus=16"],
            [node("a", 12, 0, 32)],
            "the rollout worker (16 CPUs and 64 GB) finds no place on 1 node with 12 CPUs and 32 GB, which lacks 6 "
            "CPUs and 32 GB: take cluster.rollouts.num_cpus=10 cluster.rollouts.memory_gb=32, or add a node with 16 "
            "CPUs and 64 GB",
        ),
        (
            ["cluster.engines.num_gpus=1"],
            [node("a", 16)],
            "the engine (1 CPU and 1 GPU) finds no place on 1 node with 16 CPUs, which lacks 1 GPU: "
            "add a node with 1 CPU and 1 GPU",
        ),
    ],
)
def test_what_does_not_fit_is_said_with_the_change_that_makes_it_fit(overrides, nodes, advice):
    assert refused(*overrides, nodes=nodes) == advice


def test_the_advice_is_true():
    few = [node("gpu", 6, 2), node("cpu", 4)]
    line = refused(*ON_GPUS, "cluster.rollouts.replicas=4", nodes=few)
    changes = line.partition("take ")[2].partition(", or add")[0].split()
    assert changes == [
        "cluster.rollouts.num_cpus=1",
        "cluster.engines.replicas=2",
        "cluster.ranks.num_gpus=0.5",
        "cluster.engines.num_gpus=0.5",
        "train.ranks=2",
    ]
    assert check(plan(*ON_GPUS, "cluster.rollouts.replicas=4", *changes), few)


def test_the_driver_stays_where_it_runs():
    nodes = [node("login", 8), node("gpu", 16, 1)]
    ranks = "cluster.ranks.num_gpus=1"
    assert nodes_by_part(check(plan(ranks), nodes, "gpu"))[DRIVER] == ["gpu"]
    assert refused(ranks, nodes=nodes, driver="login") == (
        "the driver, rank 0 (1 CPU and 1 GPU) finds no place on 2 nodes with 24 CPUs and 1 GPU, of which login, where "
        "the run was started, has no 1 CPU and 1 GPU left: start the run on another node than login"
    )


def test_several_gpus_are_whole_ones():
    assert "cluster.engines.num_gpus = 1.5: more than one GPU are whole ones; take 1 or 2" in refused(
        "cluster.engines.num_gpus=1.5", nodes=[node("a", 8, 8)]
    )


def test_one_port_is_for_one_rollout_worker():
    two = "cluster.rollouts.replicas=2"
    assert plan("env.port=4000").parts
    with pytest.raises(
        ConfigError, match=r"env.port = 4000, .* 2 rollout workers .*: leave env.port out, or take clus"
    ):
        plan("env.port=4000", two)
    with pytest.raises(ConfigError, match=r"at a port: take cluster.rollouts.replicas=1$"):
        plan("env.port=4000", two, "browser.servers=[http://10.0.0.7:8400]")


def test_nodes_are_read_from_what_ray_lists():
    alive = {
        "Alive": True,
        "NodeManagerAddress": "10.0.0.1",
        "Resources": {
            "CPU": 8.0,
            "GPU": 2.0,
            "memory": 3.0e9,
            "object_store_memory": 1.0e9,
            "node:10.0.0.1": 1.0,
            "node:__internal_head__": 1.0,
            "browsers": 4.0,
        },
    }
    dead = alive | {"Alive": False, "Resources": {}}
    assert nodes_of([alive, dead]) == [Node("10.0.0.1", Share(8, 2, 3_000_000_000, {"browsers": 4}))]


shares = st.builds(
    Share, st.integers(0, 4), st.sampled_from([0, 0.25, 0.5, 0.75, 1, 2]), st.integers(0, 4), st.just({})
)


@given(st.lists(shares, max_size=12), st.lists(st.builds(Share, *[st.integers(0, 8)] * 3, st.just({})), max_size=4))
def test_no_node_gives_away_more_than_it_has(needs, offers):
    nodes = [Node(str(at), offer) for at, offer in enumerate(offers)]
    where = pack([Bundle(("engine",), each) for each in needs], nodes)
    for each in nodes:
        taken = total(need for need, name in zip(needs, where, strict=True) if name == each.name)
        assert taken.cpus <= each.offers.cpus
        assert taken.gpus <= each.offers.gpus
        assert taken.memory <= each.offers.memory
