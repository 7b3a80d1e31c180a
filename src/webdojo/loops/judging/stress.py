"""What a judge makes of episodes that were tampered with (`corruptions.py`): which it accepts and must not, and which
controls it rejects and must not.

Invariant: an invalid verdict on an episode that has an outcome is counted apart, in no share; where the site blocks the
agent it is the right one.
"""

from __future__ import annotations

import io
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from webdojo.errors import StoreError
from webdojo.evaluation.metrics import share
from webdojo.loops.judging.audit import Choice, known_truths, outcome, run_recipe
from webdojo.loops.judging.corruptions import CORRUPTIONS, corrupted, kind_of
from webdojo.loops.judging.verdicts import VerdictLog, described, judge_all, log_path, named_judge
from webdojo.store.images import MemoryImages
from webdojo.store.run import RunStore
from webdojo.types import ImageRef, ImageSink, ImageSource, Reward, Termination, Trajectory

OTHERS = 200
"""Most episodes that an ending or an answer may be taken from."""


async def stress(
    run: Path, name: str, overrides: list[str], choice: Choice, begin: Callable[[int], Callable[[], None]]
) -> dict[str, Any]:
    """Ask a judge about corrupted episodes of a run, as a JSON object; `begin` is as in `audit`.

    `choice.limit` is of the episodes that are corrupted, and `choice.seed` that of what is drawn for it, too.
    """
    with RunStore.open(run, readonly=True) as store:
        function = named_judge(name, overrides, run_recipe(store))
        left_out: Counter[str] = Counter()
        sources, others = _drawn(store, choice)
        truths = await known_truths(store, [*sources, *others], function, left_out)
        cases = Cases(store, truths, sources, choice.seed)
        advance = begin(len(cases))
        log = VerdictLog(log_path(run, function, "stress"))
        verdicts = await judge_all(function, cases.images, cases, log, advance)
    by_kind: dict[str, list[bool | None]] = defaultdict(list)
    for id, reward in verdicts.items():
        by_kind[kind_of(id)].append(outcome(reward))
    kinds = {kind: _figures(kind, by_kind[kind]) for kind in CORRUPTIONS if by_kind[kind]}
    return {
        "judge": described(function),
        "run": str(run),
        "phases": list(choice.phases),
        "seed": choice.seed,
        "sources": {"succeeded": len(cases.succeeded), "failed": len(cases.failed)},
        "left_out": dict(left_out),
        "kinds": kinds,
        "false_accepts": _sum(each["accepted"] for each in kinds.values() if each["label"] != "success"),
        "false_rejects": _sum(each["rejected"] for each in kinds.values() if each["label"] == "success"),
    }


def _drawn(store: RunStore, choice: Choice) -> tuple[list[str], list[str]]:
    """The episodes to corrupt, and others that an ending or an answer may be taken from."""
    completed = {row.id for row in store.rows() if row.termination == Termination.COMPLETED}
    ids = [id for id in Choice(choice.phases).ids(store) if id in completed]
    random.Random(choice.seed).shuffle(ids)
    sources = ids[: choice.limit or len(ids)]
    return sources, ids[len(sources) :][:OTHERS]


class Cases:
    """The corrupted episodes of a run, made one at a time as they are asked for; the same ones each time."""

    def __init__(self, store: RunStore, truths: dict[str, Reward], sources: list[str], seed: int) -> None:
        self._store, self._seed = store, seed
        self.images = Overlay(store.images)
        known = [id for id in sources if id in truths]
        self.succeeded = [id for id in known if truths[id].success]
        self.failed = [id for id in known if not truths[id].success and not all(truths[id].facts)]
        self._others = [store.trajectory(id) for id in [id for id in truths if truths[id].success][-OTHERS:]]
        if not self.succeeded:
            raise StoreError(f"no episode in {store.path} did a task whose truth is known: there is nothing to corrupt")
        self._count = sum(1 for _ in self)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Trajectory]:
        for ids, of_failures in ((self.succeeded, False), (self.failed, True)):
            kinds = [kind for kind, each in CORRUPTIONS.items() if each.of_failures is of_failures]
            for source in map(self._store.trajectory, ids):
                others = [each for each in self._others if each.task.id != source.task.id]
                blocked = self.images.blocked_screen(source)
                made = (corrupted(source, kind, others, blocked, self._seed) for kind in kinds)
                yield from (each for each in made if each is not None)


class Overlay:
    """The screenshots of a run, and some that are not stored in it."""

    def __init__(self, below: ImageSource) -> None:
        self._below, self._own = below, MemoryImages()
        self._added: set[str] = set()

    def get(self, image: ImageRef) -> bytes:
        return self._own.get(image) if image.sha in self._added else self._below.get(image)

    def blocked_screen(self, trajectory: Trajectory) -> ImageRef:
        """A screen that lets no robot in, as large as those of the episode."""
        like = trajectory.turns[0].observation.screenshot
        drawn = draw_blocked(self._own, like.width, like.height)
        self._added.add(drawn.sha)
        return drawn


def draw_blocked(images: ImageSink, width: int, height: int) -> ImageRef:
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    size = max(10, width // 24)
    draw.text((width * 0.08, height * 0.2), "Access denied", fill="#a00", font_size=2 * size)
    lines = "We think that you are a robot.\nThis site is not for automated visitors.\nError 403"
    draw.multiline_text((width * 0.08, height * 0.42), lines, fill="#222", font_size=size, spacing=size)
    data = io.BytesIO()
    picture.save(data, "PNG")
    return images.put(data.getvalue(), width, height, "image/png")


def _figures(kind: str, verdicts: list[bool | None]) -> dict[str, Any]:
    label = CORRUPTIONS[kind].label
    counted = verdicts if label == "invalid" else _valid(verdicts)
    return {
        "label": label,
        "episodes": len(verdicts),
        "accepted": _share(counted, True),
        "rejected": _share(counted, False),
        "invalid": sum(each is None for each in verdicts),
    }


def _valid(verdicts: list[bool | None]) -> list[bool | None]:
    return [each for each in verdicts if each is not None]


def _share(verdicts: list[bool | None], of: bool) -> dict[str, Any]:
    return share(sum(each is of for each in verdicts), len(verdicts)).model_dump(mode="json")


def _sum(rates: Iterable[dict[str, Any]]) -> dict[str, Any]:
    every = list(rates)
    return share(sum(each["successes"] for each in every), sum(each["n"] for each in every)).model_dump(mode="json")
