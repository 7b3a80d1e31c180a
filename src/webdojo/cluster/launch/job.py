"""A training on a cluster that is yet to be had: which nodes it asks for, and its command."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from webdojo.browser_service.wire import TOKEN_VARIABLE
from webdojo.cluster.packing import GB, Bundle, Node, Share, total
from webdojo.cluster.parts import DRIVER, RANK, ROLLOUT, Plan, plan_of
from webdojo.cluster.plan import Placement, check
from webdojo.errors import ConfigError
from webdojo.recipe import Recipe, load_recipe

MOST_CPUS = 64
MOST_GPUS = 8
"""What a node has that nobody gave a size, where the plan needs so much or more."""
TEMPLATES = Environment(
    loader=PackageLoader("webdojo.cluster.launch"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Asked:
    """The nodes that a user asks for; 0 takes what the plan needs."""

    nodes: int = 0
    cpus: int = 0
    gpus: int = 0
    memory_gb: int = 0
    """0: all that a node has."""


@dataclass(frozen=True)
class Job:
    recipe: Recipe
    given: tuple[str, ...]
    """The recipe's name or file and its overrides, as they were given."""
    placement: Placement
    nodes: int
    """Nodes of one size; the driver runs on the first."""
    cpus: int
    gpus: int
    memory_gb: int

    @property
    def name(self) -> str:
        """Of the job, as DNS allows it."""
        return f"webdojo-{re.sub('[^a-z0-9]+', '-', self.recipe.name.lower()).strip('-')}"

    @property
    def command(self) -> str:
        """Starts the training or goes on with it, in the cluster of the machine that runs it."""
        return command(*self.given)

    @property
    def resources(self) -> str:
        """Custom resources that each node offers, as `ray start --resources` takes them; empty where no part on these
        nodes asks for any."""
        needed = total(bundle.needs for bundle, node in self.placement.placed if node.startswith("node-")).resources
        return json.dumps(dict(needed)) if needed else ""

    @property
    def warnings(self) -> list[str]:
        """What the plan wastes on these nodes."""
        placed = [(bundle, node) for bundle, node in self.placement.placed if node.startswith("node-")]
        offered, used = self.nodes * self.gpus, total(bundle.needs for bundle, _ in placed).gpus
        if used >= offered:
            return []
        with_rollouts = {node for bundle, node in placed if ROLLOUT in bundle.parts}
        instead = (
            ": rollout workers need their CPUs; take nodes with more (--cpus), lower cluster.rollouts.num_cpus, or put "
            "browser.servers on nodes without GPUs"
            if with_rollouts
            else ""
        )
        return [f"no part uses {offered - used:g} of the {offered} GPUs that this asks for{instead}"]

    @property
    def rank_nodes(self) -> int:
        """Nodes that have ranks of the learner."""
        return len({node for bundle, node in self.placement.placed if {DRIVER, RANK} & {*bundle.parts}})

    @property
    def variables(self) -> list[str]:
        """Environment variables that hold the keys which the recipe names."""
        found = set(_key_variables(self.recipe.model_dump(mode="json")))
        return sorted(found | ({TOKEN_VARIABLE} if self.recipe.browser.servers else set()))


def job_of(name: str, overrides: Sequence[str], asked: Asked, *, apart: bool = False) -> Job:
    """The job of a recipe, on the fewest nodes that carry its plan where no number was asked for.

    With `apart` each rollout worker has a small node of its own beside these, which needs no room on them.

    Raises:
        ConfigError: the plan does not fit the nodes that were asked for.
    """
    recipe = load_recipe(name, list(overrides))
    placement, nodes, size = place(recipe, asked, apart=apart)
    return Job(recipe, (name, *overrides), placement, nodes, int(size.cpus), int(size.gpus), asked.memory_gb)


def place(recipe: Recipe, asked: Asked, *, apart: bool = False) -> tuple[Placement, int, Share]:
    """Where the parts of a recipe go on nodes of one size, how many there are, and what each offers; as `job_of`."""
    plan = plan_of(recipe)
    bundles = plan.bundles()
    inside = [bundle for bundle in bundles if not (apart and bundle.parts == (ROLLOUT,))]
    rollouts = bundles[len(inside) :]
    outside = [Node(f"rollouts-{at}", bundle.needs) for at, bundle in enumerate(rollouts, start=1)]
    size = _size(inside, asked)
    if asked.nodes:
        nodes = asked.nodes
        placement = check(plan, [*_nodes(nodes, size), *outside], "node-1")
    else:
        nodes, placement = _fewest(plan, size, outside, len(inside))
    return placement, nodes, size


def command(*given: str) -> str:
    return shlex.join(["webdojo", "train", *given, "--auto", "cluster.address=auto"])


def render(template: str, job: Job, warnings: Sequence[str], **more: Any) -> str:
    """A file that begins with the plan and the warnings as a comment."""
    head = [*job.placement.lines(), *(f"warning: {line}" for line in warnings)]
    return TEMPLATES.get_template(template).render(job=job, plan=head, **more)


def _size(bundles: Sequence[Bundle], asked: Asked) -> Share:
    """What one node offers: what was asked for, or what the bundles need in all up to the size of a usual node."""
    needs = total(bundle.needs for bundle in bundles)
    largest = max(bundle.needs.cpus for bundle in bundles), max(bundle.needs.gpus for bundle in bundles)
    cpus = asked.cpus or max(1, min(MOST_CPUS, math.ceil(needs.cpus)), math.ceil(largest[0]))
    gpus = asked.gpus or max(min(MOST_GPUS, math.ceil(needs.gpus)), math.ceil(largest[1]))
    memory = asked.memory_gb * GB or needs.memory
    return Share(cpus, gpus, memory, needs.resources)


def _nodes(count: int, size: Share) -> list[Node]:
    return [Node(f"node-{at}", size) for at in range(1, count + 1)]


def _fewest(plan: Plan, size: Share, outside: Sequence[Node], most: int) -> tuple[int, Placement]:
    """The fewest nodes that carry a plan, no more than one for each bundle; the error of so many where none do."""
    for count in range(1, most):
        try:
            return count, check(plan, [*_nodes(count, size), *outside], "node-1")
        except ConfigError:
            continue
    return most, check(plan, [*_nodes(most, size), *outside], "node-1")


def _key_variables(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "api_key_env" and value:
                yield str(value)
            else:
                yield from _key_variables(value)
    elif isinstance(data, list):
        for each in data:
            yield from _key_variables(each)
