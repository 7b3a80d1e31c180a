"""Changes of a recipe that make its plan fit a cluster, those first that cost the run least."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from webdojo.cluster.packing import Bundle, Node, amounts, pack, total
from webdojo.cluster.parts import Plan
from webdojo.errors import ConfigError

_ALTERNATIVES = 2
"""Single changes that are named."""


@dataclass(frozen=True)
class _Change:
    """One thing that may be lowered."""

    key: str
    """What stands before the value on the command line."""
    values: Sequence[float]
    """The lower values, the highest first."""
    made: Callable[[Plan, float], Plan]

    def text(self, value: float) -> str:
        return self.key if self.key.endswith("}") else f"{self.key}={value:g}"


def remedy(plan: Plan, nodes: Sequence[Node], driver: str = "") -> str:
    """What to do about a plan that does not fit: one change or another, several together, or another node."""
    lost = _lost(plan, nodes, driver)
    more = _another_node(lost)
    alone = [
        change.text(value) for change in _changes(plan) if (value := _highest(change, plan, nodes, driver)) is not None
    ]
    changes = alone[:_ALTERNATIVES] or [" ".join(_together(plan, nodes, driver))]
    return f"take {' or '.join(changes)}, or {more}" if changes[0] else more


def _another_node(lost: Sequence[Bundle]) -> str:
    if bound := [bundle.node for bundle in lost if bundle.node]:
        return f"start the run on another node than {bound[0]}"
    needs = amounts(total(bundle.needs for bundle in lost))
    return f"add a node with {needs}" if len(lost) == 1 else f"add nodes with {needs} together"


def _together(plan: Plan, nodes: Sequence[Node], driver: str) -> list[str]:
    """The changes that make it fit together, none of which could be left out; empty where all do not help.

    All are made at first, and then each is taken back as far as the others allow, those that cost most first.
    """
    changes = list(_changes(plan))
    taken: list[float | None] = [change.values[-1] for change in changes]

    def with_all_but(left_out: int) -> Plan:
        made = plan
        for at, (change, value) in enumerate(zip(changes, taken, strict=True)):
            if value is not None and at != left_out:
                made = change.made(made, value)
        return made

    if _lost(with_all_but(-1), nodes, driver):
        return []
    for at, change in reversed(list(enumerate(changes))):
        others = with_all_but(at)
        taken[at] = _highest(change, others, nodes, driver) if _lost(others, nodes, driver) else None
    return [change.text(value) for change, value in zip(changes, taken, strict=True) if value is not None]


def _highest(change: _Change, plan: Plan, nodes: Sequence[Node], driver: str) -> float | None:
    """The highest value with which a plan fits, found by halving; None where the lowest does not."""

    def fits(at: int) -> bool:
        return not _lost(change.made(plan, change.values[at]), nodes, driver)

    low, high = 0, len(change.values) - 1
    if not fits(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return change.values[high]


def _lost(plan: Plan, nodes: Sequence[Node], driver: str) -> list[Bundle]:
    """The bundles that find no place; all of a plan that Ray could not place anywhere."""
    try:
        bundles = plan.bundles(driver)
    except ConfigError:
        return [Bundle((part.name,), part.each) for part in plan.parts for _ in range(part.count)]
    where = pack(bundles, nodes)
    return [bundle for bundle, node in zip(bundles, where, strict=True) if node is None]


def _changes(plan: Plan) -> Iterator[_Change]:
    cluster = plan.cluster
    roles = {"rollouts": cluster.rollouts, "engines": cluster.engines, "ranks": cluster.ranks}
    lowered = [
        ("rollouts", "num_cpus", cluster.rollouts.num_cpus),
        ("rollouts", "replicas", cluster.rollouts.replicas),
        ("engines", "replicas", cluster.engines.replicas),
        *((name, "memory_gb", role.memory_gb) for name, role in roles.items()),
        *((name, "num_cpus", role.num_cpus) for name, role in roles.items() if name != "rollouts"),
    ]
    for name, key, now in lowered:
        if values := _below(now):
            yield _Change(f"cluster.{name}.{key}", values, _role(name, key))
    if cluster.ranks.num_gpus == cluster.engines.num_gpus == 1:
        yield _Change("cluster.ranks.num_gpus=0.5 cluster.engines.num_gpus", [0.5], _colocated)
    if values := _below(plan.ranks):
        yield _Change("train.ranks", values, lambda plan, value: replace(plan, ranks=int(value)))
    for name, role in roles.items():
        if role.resources:
            yield _Change(f"cluster.{name}.resources={{}}", [0], _without_resources(name))


def _below(now: float) -> list[float]:
    """The whole numbers below, down to 1."""
    return [value for value in range(int(now), 0, -1) if value < now]


def _role(name: str, key: str) -> Callable[[Plan, float], Plan]:
    def made(plan: Plan, value: float) -> Plan:
        return _with(plan, name, key, int(value))

    return made


def _without_resources(name: str) -> Callable[[Plan, float], Plan]:
    return lambda plan, _: _with(plan, name, "resources", {})


def _colocated(plan: Plan, share: float) -> Plan:
    return _with(_with(plan, "ranks", "num_gpus", share), "engines", "num_gpus", share)


def _with(plan: Plan, name: str, key: str, value: Any) -> Plan:
    roles = {"rollouts": plan.cluster.rollouts, "engines": plan.cluster.engines, "ranks": plan.cluster.ranks}
    role = roles[name].model_copy(update={key: value})
    return replace(plan, cluster=plan.cluster.model_copy(update={name: role}))
