"""Groups, rewards and advantages, computed by the trainer's own formulas: `docs/concepts.md`."""

from __future__ import annotations

from scripts.pictures.canvas import SMALL, Canvas
from webdojo.rollout.groups import Group, dynamic_sampling
from webdojo.trainer.advantages import ADVANTAGES
from webdojo.types import Reward, Task, Termination, Trajectory

ALT = (
    "Three groups of eight episodes: one with unlike rewards trains, and each of its members has an advantage by its "
    "reward; two whose rewards are all equal are dropped; an invalid episode counts nowhere"
)
NAMES = ("grpo", "dr_grpo", "rloo")
CELL, LEFT, TOP = 58, 150, 56


def reward(value: float | None) -> Reward:
    return Reward(value=value or 0.0, success=value == 1, valid=value is not None)


GROUPS = {
    "A": [reward(value) for value in (1, 0, 0, 1, None, 0, 1, -1)],
    "B": [reward(1)] * 8,
    "C": [reward(0)] * 8,
}


def picture() -> str:
    canvas = Canvas(464, ALT)
    canvas.text(16, 28, "Groups of eight episodes, their rewards, and what each teaches", size=15, bold=True)
    for row, (name, rewards) in enumerate(GROUPS.items()):
        y = TOP + row * 44
        canvas.text(16, y + 18, f"group {name}", bold=True)
        for at, each in enumerate(rewards):
            _reward(canvas, LEFT + at * CELL, y - 4, each)
        verdict = dynamic_sampling(_group(name, rewards))
        canvas.text(LEFT + 8 * CELL + 6, y + 10, "trains" if verdict.keep else "dropped", size=SMALL, bold=True)
        canvas.note(LEFT + 8 * CELL + 6, y + 26, verdict.reason)
    base, scale = 278, 40
    advantages = {name: ADVANTAGES.get(name).function([GROUPS["A"]])[0] for name in NAMES}
    canvas.text(16, base - 12, "advantages of A", bold=True)
    canvas.note(16, base + 6, f"by {NAMES[0]}")
    canvas.line((LEFT - 8, base), (LEFT + 8 * CELL, base))
    for at, value in enumerate(advantages[NAMES[0]]):
        if value:
            tone = "green" if value > 0 else "red"
            canvas.rect(
                LEFT + at * CELL + 8, min(base, base - value * scale), CELL - 18, abs(value) * scale, tone, radius=2
            )
    for row, name in enumerate(NAMES):
        y = 376 + row * 20
        canvas.text(16, y, name, size=SMALL, mono=True)
        for at, value in enumerate(advantages[name]):
            said = f"{value:+.2f}" if GROUPS["A"][at].valid else "0"
            canvas.text(LEFT + at * CELL + CELL / 2 - 1, y, said, size=SMALL, anchor="middle")
    canvas.note(16, 446, f"{NAMES[0]}: {ADVANTAGES.get(NAMES[0]).formula}, of the valid members")
    return canvas.svg


def _reward(canvas: Canvas, x: float, y: float, given: Reward) -> None:
    tone = "hole" if not given.valid else {1.0: "green", 0.0: "plain", -1.0: "red"}[given.value]
    canvas.rect(x + 4, y, CELL - 10, 32, tone)
    canvas.text(x + CELL / 2 - 1, y + 21, f"{given.value:g}" if given.valid else "invalid",
                size=SMALL, anchor="middle", bold=given.valid, tone="ink" if given.valid else "soft")  # fmt: skip


def _group(name: str, rewards: list[Reward]) -> Group:
    task = Task(id=name, instruction="", start_url="", website="")
    members = [
        Trajectory(id=str(at), task=task, turns=[], termination=Termination.COMPLETED, reward=each)
        for at, each in enumerate(rewards)
    ]
    return Group(name, task, members)
