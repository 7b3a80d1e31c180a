"""Easier tasks from the rubric of a task: WebGym's decomposition (arXiv 2601.02439, Algorithm 1, lines 7 to 11).

A task is decomposed where its rubric has (1) at least two groups and (2) at least one large group, of three facts or
more. Each proper subset of the groups with a large one in it is a part. So no part is trivial, each has fewer facts
than the whole, and each can be done where the whole can. What a part decomposes into are parts of the whole already,
so parts are not decomposed again.
"""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from typing import Annotated

from pydantic import BaseModel, Field

from webdojo.tasks.domains import DOMAIN, SUBDOMAIN
from webdojo.tasks.rubric import RUBRIC, Group, Line, Rubric, as_evaluator, same
from webdojo.types import Task

LARGE = 3
"""Facts from which on a group is large."""
PARENT = "parent"
"""The key of a part's `Task.metadata` with the id of the task that it is a part of."""
GROUPS = "groups"
"""The key of a part's `Task.metadata` with the ids of its groups."""


def is_large(group: Group) -> bool:
    return len(group.facts) >= LARGE


def parts(rubric: Rubric) -> list[Rubric]:
    """The rubrics of all parts, smaller subsets first, and in the order of their groups; empty where a condition is
    not met.

    Groups of 2, 3 and 4 facts have the parts {2}, {3}, {1, 2}, {1, 3} and {2, 3}, of difficulties 3, 4, 5, 6 and 7
    (§3.2).
    """
    groups = rubric.groups
    if len(groups) < 2:
        return []
    subsets = (subset for size in range(1, len(groups)) for subset in combinations(groups, size))
    return [Rubric(groups=list(subset)) for subset in subsets if any(map(is_large, subset))]


class Wording(BaseModel, frozen=True):
    """The text of a part as a model answers with it: `{"task": "...", "words": ["...", ...]}`.

    `words` are, for each fact in its order, the words of `task` that ask for it, so that a fact which got lost shows.
    """

    task: Line
    words: Annotated[list[Line], Field(min_length=1)]

    def asks_for(self, part: Rubric) -> bool:
        """Whether it asks for every fact of a part."""
        text = same(self.task)
        return len(self.words) == part.difficulty and all(same(words) in text for words in self.words)


def part_task(whole: Task, part: Rubric, instruction: str) -> Task:
    """The task of a part. Its id says which part of which task it is, and changes with its text and its facts.

    It has the domain of the whole, and neither its reference answer nor what else is known of its text.
    """
    groups = [group.id for group in part.groups]
    facts = as_evaluator(part.groups)
    digest = hashlib.sha256(json.dumps([instruction, facts]).encode()).hexdigest()[:8]
    inherited = {key: whole.metadata[key] for key in (DOMAIN, SUBDOMAIN) if key in whole.metadata}
    return whole.model_copy(
        update={
            "id": f"{whole.id}/{'+'.join(map(str, groups))}-{digest}",
            "instruction": instruction,
            "difficulty": part.difficulty,
            "evaluator": {RUBRIC: facts},
            "metadata": inherited | {PARENT: whole.id, GROUPS: groups},
        }
    )
