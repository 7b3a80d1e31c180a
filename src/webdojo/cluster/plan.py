"""A recipe's parts on the nodes of a cluster, known before anything starts: a table where they fit, and where they do
not, one line that says what is missing and the change that would make them fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from webdojo.cluster.packing import GB, Bundle, Node, Share, amounts, pack, total
from webdojo.cluster.parts import IMAGES, Part, Plan
from webdojo.cluster.remedies import remedy
from webdojo.errors import ConfigError
from webdojo.progress import plural

_SHOWN = 3
"""Nodes of a part that a table names."""


@dataclass(frozen=True)
class Placement:
    """A plan, and the node of each bundle of it."""

    plan: Plan
    nodes: Sequence[Node]
    placed: Sequence[tuple[Bundle, str]]

    def lines(self) -> list[str]:
        """A table for people: what each process of a part sets aside, and where the part goes."""
        head = ("part", "count", "CPUs", "GPUs", "memory", "resources", "node")
        rows = [head, *(self._row(part) for part in self.plan.parts)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        right = {1, 2, 3, 4}
        table = [
            "  ".join(f"{cell:{'>' if at in right else '<'}{widths[at]}}" for at, cell in enumerate(row)).rstrip()
            for row in rows
        ]
        kind = "colocated: engines sleep while the learner works" if self.plan.cluster.colocated else "split"
        used, offered = total(bundle.needs for bundle, _ in self.placed), total(node.offers for node in self.nodes)
        return [
            *table,
            f"{kind}; sets aside {amounts(used)} of {plural(len(self.nodes), 'node')} with {amounts(offered)}",
        ]

    def _row(self, part: Part) -> tuple[str, ...]:
        at = Counter(node for bundle, node in self.placed for name in bundle.parts if name == part.name)
        named = [node if times == 1 else f"{node} ×{times}" for node, times in at.items()]
        more = [f"{len(named) - _SHOWN} more"] if len(named) > _SHOWN else []
        each = part.each
        resources = ", ".join(f"{name} {amount:g}" for name, amount in each.resources.items())
        memory = f"{each.memory / GB:g} GB" if each.memory else "-"
        nodes = ", ".join(named[:_SHOWN] + more)
        return part.name, str(part.count), f"{each.cpus:g}", f"{each.gpus:g}", memory, resources or "-", nodes


def check(plan: Plan, nodes: Sequence[Node], driver: str = "") -> Placement:
    """Place a plan on nodes; `driver` is the name of the node on which the driver runs already.

    Raises:
        ConfigError: it does not fit; the line says what is missing, and the change that would make it fit.
    """
    bundles = plan.bundles(driver)
    where = pack(bundles, nodes)
    if lost := [bundle for bundle, node in zip(bundles, where, strict=True) if node is None]:
        raise ConfigError(f"{_missing(plan, lost, bundles, nodes)}: {remedy(plan, nodes, driver)}")
    return Placement(plan, nodes, [(bundle, node) for bundle, node in zip(bundles, where, strict=True) if node])


def _missing(plan: Plan, lost: Sequence[Bundle], bundles: Sequence[Bundle], nodes: Sequence[Node]) -> str:
    """Which parts find no place, and what the nodes lack."""
    counts = Counter(name for bundle in lost for name in bundle.parts if name != IMAGES)
    each = {part.name: part for part in plan.parts}
    found = [
        f"{_how_many(counts[name], part.count)} {name}{'s' * (part.count > 1)} "
        f"({amounts(part.each)}{' each' if part.count > 1 else ''})"
        for name, part in each.items()
        if counts[name]
    ]
    offered = total(node.offers for node in nodes)
    return (
        f"{' and '.join(found)} find{'s' * (sum(counts.values()) == 1)} no place on {plural(len(nodes), 'node')} with "
        f"{amounts(offered)}, {_lack(bundles, offered, lost[0], len(nodes) == 1)}"
    )


def _how_many(lost: int, count: int) -> str:
    if count == 1:
        return "the"
    return f"all {count}" if lost == count else f"{lost} of {count}"


def _lack(bundles: Sequence[Bundle], offered: Share, lost: Bundle, one_node: bool) -> str:
    needed = total(bundle.needs for bundle in bundles)
    lack = Share(
        max(0, needed.cpus - offered.cpus),
        max(0, needed.gpus - offered.gpus),
        max(0, needed.memory - offered.memory),
        {name: more for name, n in needed.resources.items() if (more := n - offered.resources.get(name, 0)) > 0},
    )
    if lack != Share():
        return f"which lack{'s' * one_node} {amounts(lack)}"
    where = f"of which {lost.node}, where the run was started, has no" if lost.node else "none of which has"
    return f"{where} {amounts(lost.needs)} left"
