"""Prefixes of screenshots and texts that a group shares, and the mask of the packed row: `docs/memory.md`."""

from __future__ import annotations

from itertools import pairwise

from scripts.pictures.canvas import SMALL, Canvas
from scripts.pictures.record import recorded
from webdojo.policy.model.collate import Sequence_
from webdojo.trainer.packing import MicroBatch, Placement, alone, cut, place

ALT = (
    "The turns of three recorded episodes as samples apart and packed: what several share, screenshots included, is "
    "computed once; beside it the attention mask of the packed row, in which a token sees only its own path"
)
LEFT, BARS, SIDE, MASK_LEFT = 16, 356, 300, 444
ROWS = 14
TONES = ("blue", "green", "violet")


def picture() -> str:
    members = recorded()
    turns = [(member, turn) for member, each in enumerate(members) for turn in each.turns]
    sequences: list[Sequence_] = [(turn.prompt, turn.response.ids) for _, turn in turns]
    (row,) = cut(sequences, 10**6)
    prompts = [len(prompt) for prompt, _ in sequences]
    responses = [len(response) for _, response in sequences]
    placed = place(row, [prompts[member] for member in row.members], [responses[member] for member in row.members])
    apart = sum(each.tokens for each in alone(sequences))
    canvas = Canvas(440, ALT)
    canvas.text(
        LEFT, 28, f"A group's {len(sequences)} turns, with their common beginnings computed once", size=15, bold=True
    )
    _samples(canvas, row, prompts, responses, [turns[member][0] for member in row.members])
    _mask(canvas, row, placed)
    y = 68 + len(sequences) * ROWS + 26
    canvas.text(
        LEFT, y, f"{apart:,} tokens apart, {row.tokens:,} packed: {apart / row.tokens:.1f} times fewer", bold=True
    )
    canvas.lines(LEFT, y + 22, [
        "A line is a turn: prompt and response. What is grey",
        "the line above has already; only colour is computed.",
    ], size=SMALL, tone="soft")  # fmt: skip
    for member in range(len(members)):
        canvas.rect(LEFT + member * 96, y + 50, 12, 12, TONES[member], radius=2)
        canvas.note(LEFT + member * 96 + 18, y + 61, f"episode {member + 1}")
    return canvas.svg


def _samples(canvas: Canvas, row: MicroBatch, prompts: list[int], responses: list[int], owners: list[int]) -> None:
    """The samples in their order in the row: what each shares with the one before, and what is new."""
    lengths = [prompts[member] + responses[member] - 1 for member in row.members]
    scale = BARS / max(lengths)
    canvas.note(LEFT, 58, "samples, in the order of their radix tree")
    for number, (shared, length) in enumerate(zip(row.shared, lengths, strict=True)):
        y = 68 + number * ROWS
        canvas.rect(LEFT, y, shared * scale, ROWS - 4, "plain", radius=1)
        canvas.rect(LEFT + shared * scale, y, (length - shared) * scale, ROWS - 4, TONES[owners[number]], radius=1)


def _mask(canvas: Canvas, row: MicroBatch, placed: Placement) -> None:
    """Which tokens each token of the row sees: `j` is seen by `q` where `j <= q < ends[j]`."""
    scale = SIDE / row.tokens
    top = 68
    canvas.note(MASK_LEFT, 58, "the mask: a token (down) sees tokens (across)", room=312)
    canvas.rect(MASK_LEFT, top, SIDE, SIDE, "hole", radius=0)
    ends = placed.ends.tolist()
    forks = [0, *(at for at in range(1, len(ends)) if ends[at] != ends[at - 1]), len(ends)]
    for begin, end in pairwise(forks):
        last = ends[begin]
        corners = [(begin, begin), (end, end), (end, last), (begin, last)]
        path = " L".join(f"{MASK_LEFT + x * scale:.1f} {top + y * scale:.1f}" for x, y in corners)
        canvas.path(f"M{path}Z", "d-blue" if last == len(ends) else "d-green")
    canvas.note(MASK_LEFT, top + SIDE + 22, "blue: every later token sees it; green: its")
    canvas.note(MASK_LEFT, top + SIDE + 40, "subtree does. One number a token says it all")
