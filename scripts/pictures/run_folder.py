"""The life of an iteration on disk, what a kill leaves, and the files of a run: `docs/runs.md`."""

from __future__ import annotations

import re

from scripts.pictures.canvas import SMALL, Canvas
from webdojo.store import run
from webdojo.store.checkpoints import RECORD

ALT = (
    "An iteration on disk: episodes are stored as they end, groups train, the checkpoint gets its name when it is "
    "complete, then its weights serve; what a kill at each of these moments leaves; and the files of a run folder"
)
STEPS = (
    ("an episode ends", (run.DATABASE, "and images/"), "blue"),
    ("enough groups", ("an update", "begins"), "green"),
    ("it ends", ("rl-0007.tmp", "is written"), "green"),
    ("it is renamed", ("rl-0007, with", RECORD), "amber"),
    ("weights serve", ("the next", "iteration begins"), "blue"),
)
KILLS = (
    (0, "What has ended stays; half groups", "get the members that they lack"),
    (2, "From rl-0006: the same groups", "train again, none is lost"),
    (4, "From rl-0007: what has", "trained trains no more"),
)
LEFT, STEP = 16, 147


def picture() -> str:
    files = _files()
    canvas = Canvas(264 + (len(files) + 1) // 2 * 42, ALT)
    canvas.text(LEFT, 28, "A run that may be killed at any moment", size=15, bold=True)
    for number, (title, notes, tone) in enumerate(STEPS):
        x = LEFT + number * STEP
        canvas.box(x, 48, STEP - 12, 78, title, notes, tone)
        if number:
            canvas.arrow((x - 12, 87), (x, 87))
    for number, first, second in KILLS:
        x = LEFT + number * STEP + (STEP - 12) / 2
        canvas.line((x - 6, 142), (x + 6, 154), tone="s-red", width=3)
        canvas.line((x - 6, 154), (x + 6, 142), tone="s-red", width=3)
        anchor = {0: "start", 2: "middle", 4: "end"}[number]
        at = {0: LEFT, 2: x, 4: 744}[number]
        canvas.text(at, 182, first, size=SMALL, anchor=anchor, tone="t-red")
        canvas.text(at, 199, second, size=SMALL, anchor=anchor, tone="t-red")
    canvas.text(LEFT, 240, "The folder of a run", bold=True)
    for number, (name, about) in enumerate(files):
        x, y = LEFT + number % 2 * 370, 268 + number // 2 * 42
        canvas.text(x, y, name, mono=True, bold=True, size=SMALL)
        canvas.note(x, y + 17, about, room=366)
    return canvas.svg


def _files() -> list[tuple[str, str]]:
    """Names and uses, as the code of the store lists them."""
    listed = re.findall(r"^ {4}.+$", run.__doc__ or "", re.MULTILINE)
    pairs = [pair for line in listed for pair in re.findall(r"(\w+(?:\.\w+|/)) +(.+?)(?= {4,}\w+\.\w+ |$)", line)]
    return [(name, re.split(r" \(|; ", about)[0].replace("`", "")) for name, about in pairs]
