"""How good the embedding without a model is: pairs of instructions with known answers.

| set | the same task | another task |
|---|---|---|
| `embedded` | two of the five plain phrasings of a goal of the embedded shops and wikis | one phrasing of two goals of
  a kind on one site, which differ in a name or a value |
| `light` | an instruction of Online-Mind2Web, and itself in lower case, without its full stop, with `Please` before it,
  or with two letters of its longest word exchanged | the instruction with one value changed by hand |
| `reworded` | the instruction in other words, by hand (`dedup_pairs.json`) | the same |

Sets of Online-Mind2Web need its file, and all of its 300 instructions are embedded with them. At a threshold `recall`
is the percentage of pairs of the same task that are at least so similar, and `precision` that of pairs of the same task
among all that are; there are as many of one answer as of the other, which is far more near misses than real sets have.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from webdojo.sites.catalog_goals import draw_goal
from webdojo.sites.goal import Goal
from webdojo.sites.instructions.phrasing import PHRASINGS
from webdojo.sites.kinds import load_site
from webdojo.tasks.embeddings.ngrams import Ngrams
from webdojo.tasks.sources import online_mind2web

THRESHOLDS = (0.99, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)
SITES = 40
GOALS = 12
"""Draws on each site."""
DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "online-mind2web" / "online_mind2web.json"

Pair = tuple[str, str]


def quality() -> list[dict[str, Any]]:
    """The rows of the part `embedded`: each set at each threshold."""
    rows = _rows("embedded", *embedded(), ())
    if DATA.exists():
        texts = {task.id.removeprefix(online_mind2web.PREFIX): task.instruction for task in online_mind2web.load(DATA)}
        written = json.loads(Path(__file__).with_suffix(".json").read_text())
        another = [(texts[id], each["another"]) for id, each in written.items()]
        light = [(texts[id], changed) for id in written for changed in lightly(texts[id])]
        rows += _rows("light", light, another * 4, [*texts.values()])
        reworded = [(texts[id], each["reworded"]) for id, each in written.items()]
        rows += _rows("reworded", reworded, another, [*texts.values()])
    return rows


def embedded() -> tuple[list[Pair], list[Pair]]:
    """Pairs of the same goal, and pairs of two goals of the same kind on one site; as many of each."""
    rng = random.Random(0)
    same: list[Pair] = []
    other: list[Pair] = []
    for seed in range(SITES):
        site = load_site("shop" if seed % 2 else "wiki", seed, "compact")
        goals: dict[str, dict[str, Goal]] = {}
        for number in range(GOALS):
            goal = draw_goal(site, 1 + number % 4, rng)
            goals.setdefault(goal.name, {})[goal.key] = goal
        for each in (list(found.values()) for found in goals.values()):
            for goal in each:
                phrasings = [text.format(**goal.fields) for text in PHRASINGS[goal.name]]
                same.append(tuple(rng.sample(phrasings, 2)))  # type: ignore[arg-type]
            for first, second in combinations(each, 2):
                text = rng.choice(PHRASINGS[first.name])
                other.append((text.format(**first.fields), text.format(**second.fields)))
    count = min(len(same), len(other))
    return rng.sample(same, count), rng.sample(other, count)


def lightly(text: str) -> Iterator[str]:
    """A text with what a careless copy changes."""
    yield text.lower()
    yield text.rstrip(".?")
    yield f"Please {text[0].lower()}{text[1:]}"
    word = max(text.split(), key=len)
    yield text.replace(word, f"{word[0]}{word[2]}{word[1]}{word[3:]}")


def _rows(name: str, same: Sequence[Pair], other: Sequence[Pair], beside: Sequence[str]) -> list[dict[str, Any]]:
    texts = [*dict.fromkeys([*beside, *(text for pair in [*same, *other] for text in pair)])]
    vectors = dict(zip(texts, Ngrams().embed(texts), strict=True))

    def similarities(pairs: Sequence[Pair]) -> list[float]:
        return [float(vectors[left] @ vectors[right]) for left, right in pairs]

    right, wrong = similarities(same), similarities(other)
    return [
        {
            "part": "embedded",
            "set": name,
            "pairs": len(same),
            "threshold": threshold,
            "recall": _percent(found := sum(each >= threshold for each in right), len(right)),
            "precision": _percent(found, found + (taken := sum(each >= threshold for each in wrong))),
            "near_misses_taken": _percent(taken, len(wrong)),
        }
        for threshold in THRESHOLDS
    ]


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None
