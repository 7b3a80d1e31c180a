"""First-fit decreasing: which node each bundle of processes goes to.

Invariant: a node gives away no more than it offers, and a share of one GPU lies on one GPU. Ray places by rules of its
own; a plan that fits here has at least one placement, and one that does not may have another in rare cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

GB = 2**30
_DIGITS = 4
"""Digits after the point that Ray keeps of an amount."""


@dataclass(frozen=True)
class Share:
    """Amounts that a process sets aside, or that a node offers."""

    cpus: float = 0
    gpus: float = 0
    memory: int = 0
    """Bytes."""
    resources: Mapping[str, float] = field(default_factory=dict)
    """Amounts by the names of Ray's custom resources."""

    def __add__(self, other: Share) -> Share:
        names = [*self.resources, *other.resources]
        resources = {name: self.resources.get(name, 0) + other.resources.get(name, 0) for name in names}
        return Share(self.cpus + other.cpus, self.gpus + other.gpus, self.memory + other.memory, resources)


@dataclass(frozen=True)
class Node:
    name: str
    offers: Share


@dataclass(frozen=True)
class Bundle:
    """Processes that go to one node together."""

    parts: tuple[str, ...]
    """The name of each process's part."""
    needs: Share
    node: str = ""
    """The only node that it may go to; empty: any."""


def nodes_of(records: Iterable[Mapping[str, Any]]) -> list[Node]:
    """The nodes that are alive among what `ray.nodes()` lists; Ray's own resources, such as `node:10.0.0.1`, are left
    out."""
    return [_node(record) for record in records if record["Alive"]]


def _node(record: Mapping[str, Any]) -> Node:
    amounts = dict(record["Resources"])
    standard = Share(amounts.pop("CPU", 0), amounts.pop("GPU", 0), int(amounts.pop("memory", 0)))
    amounts.pop("object_store_memory", None)
    own = {name: amount for name, amount in amounts.items() if not name.startswith("node:")}
    return Node(record["NodeManagerAddress"], replace(standard, resources=own))


def total(shares: Iterable[Share]) -> Share:
    return sum(shares, start=Share())


def amounts(share: Share) -> str:
    """Amounts in words, such as `8 CPUs, 1 GPU and 64 GB`."""
    words = [
        *([_amount(share.cpus, "CPU")] if share.cpus else []),
        *([_amount(share.gpus, "GPU")] if share.gpus else []),
        *([f"{share.memory / GB:.3g} GB"] if share.memory else []),
        *(f"{amount:g} of {name!r}" for name, amount in share.resources.items()),
    ]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "nothing"


def _amount(amount: float, noun: str) -> str:
    return f"{amount:g} {noun}{'s' * (amount != 1)}"


def pack(bundles: Sequence[Bundle], nodes: Sequence[Node]) -> list[str | None]:
    """The name of the node of each bundle, in the order of the bundles; None where no node has room.

    Bundles that are bound to a node go first, then those that ask for most. What needs no GPU goes to nodes without
    any, as long as these have room.
    """
    found: list[str | None] = [None] * len(bundles)
    free = [_Free(node) for node in nodes]
    plain = sorted(free, key=lambda each: len(each.gpus))
    for at in sorted(range(len(bundles)), key=lambda at: _weight(bundles[at]), reverse=True):
        bundle = bundles[at]
        order = free if bundle.needs.gpus else plain
        fitting = (each for each in order if bundle.node in ("", each.name) and each.take(bundle.needs))
        if (first := next(fitting, None)) is not None:
            found[at] = first.name
    return found


def _weight(bundle: Bundle) -> tuple[float, ...]:
    needs = bundle.needs
    return (bool(bundle.node), len(needs.resources), needs.gpus, needs.cpus, needs.memory)


class _Free:
    """What a node still has."""

    def __init__(self, node: Node) -> None:
        self.name = node.name
        self.cpus, self.memory = node.offers.cpus, node.offers.memory
        self.gpus = [1.0] * int(node.offers.gpus)
        self.resources = dict(node.offers.resources)

    def take(self, needs: Share) -> bool:
        """Set aside what a bundle needs, all or nothing; False where there is too little."""
        gpus = self._gpus_after(needs.gpus)
        cpus, memory = round(self.cpus - needs.cpus, _DIGITS), self.memory - needs.memory
        resources = {name: self.resources.get(name, 0) - amount for name, amount in needs.resources.items()}
        if gpus is None or cpus < 0 or memory < 0 or any(left < 0 for left in resources.values()):
            return False
        self.gpus, self.cpus, self.memory = gpus, cpus, memory
        self.resources |= resources
        return True

    def _gpus_after(self, amount: float) -> list[float] | None:
        """The GPUs with `amount` taken: whole ones, or a share of the fullest that has room; None where none has."""
        gpus = sorted(self.gpus)
        if amount < 1:
            fullest = next((at for at, left in enumerate(gpus) if left >= amount), None)
            if amount and fullest is None:
                return None
            if fullest is not None:
                gpus[fullest] = round(gpus[fullest] - amount, _DIGITS)
            return gpus
        whole = [left for left in gpus if left == 1]
        if len(whole) < amount:
            return None
        return [left for left in gpus if left < 1] + [0.0] * int(amount) + whole[int(amount) :]
