"""A made-up finished run with everything that a report shows."""

from __future__ import annotations

import math
import random
from pathlib import Path

from tests.store.fabricate import page_image, trajectory, turn
from webdojo.evaluation.metrics import success
from webdojo.store.run import RunStore
from webdojo.types import Feedback, Termination, ToolCall, Trajectory

INFO = {
    "created": "2026-01-05T09:30:00+0000",
    "command": "webdojo train quickstart seed=3",
    "seed": 3,
    "git": "0123456789ab",
    "versions": {"python": "3.11.7", "webdojo": "0.1.0", "torch": "2.13.0", "transformers": "5.16.0"},
    "machine": {"system": "Linux x86_64", "cpu": "a made-up one", "cores": 2, "memory_gb": 16.0, "gpus": []},
}
RECIPE = "name: quickstart\nseed: 3\ntrain:\n  iterations: 24\n"
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

INSTRUCTIONS = [
    "Open the page of the Amber Kettle.",
    "Find the cheapest walnut desk lamp and add it to the cart.",
    "What year was the Tidal Observatory founded? Answer with the year only.",
    "Filter the kettles by brand Norrland and rating four stars or more, then open the second result.",
]


def create(path: Path) -> RunStore:
    return RunStore.create(path, RECIPE, INFO)


def fill(store: RunStore, iterations: int = 24, size: tuple[int, int] = (320, 256)) -> None:
    """Add what the loop adds: metrics, episodes of the evaluations, the result."""
    rng = random.Random(3)
    for step in range(60):
        store.add_metrics("sft", step, {"loss": 2.4 * math.exp(-step / 18) + 0.18 + rng.uniform(-0.05, 0.05)})
    for step in range(1, iterations + 1):
        share = 0.38 + 0.42 * (1 - math.exp(-step / 9)) + rng.uniform(-0.04, 0.04)
        store.add_metrics(
            "rl",
            step,
            {
                "reward": share - 0.05 * math.exp(-step / 5),
                "success": share,
                "effective_groups": 12,
                "groups": 14 + step // 4,
                "steps": 3.4 + rng.uniform(-0.3, 0.3),
                "response_tokens": 61 - step / 3 + rng.uniform(-2, 2),
                "clip_fraction": 0.012 + rng.uniform(0, 0.01),
                "entropy": 0.61 - step / 80 + rng.uniform(-0.02, 0.02),
                "approx_kl": 0.0018 + rng.uniform(0, 0.002),
                "grad_norm": 0.8 + rng.expovariate(6),
                "seconds_wait": 11 + rng.uniform(-1, 2),
                "seconds_update": 7 + rng.uniform(-0.5, 1),
                "seconds_total": 21,
                "version": step,
            },
        )
        if step % 6 == 0:
            store.add_metrics("eval_rl", step, {"success": share - 0.1, "n": 48})
    result: dict[str, object] = {"seed": 3}
    for phase, rates in {
        "base": (0.11, 0.05, 0.02, 0.0),
        "sft": (0.72, 0.5, 0.34, 0.2),
        "rl": (0.95, 0.81, 0.7, 0.52),
    }.items():
        episodes = []
        for n in range(48):
            difficulty = n % 4 + 1
            won = rng.random() < rates[difficulty - 1]
            episodes.append(episode(f"{phase}-{n}", store, n, difficulty, won, size))
            store.add_trajectory(episodes[-1], f"eval_{phase}", 0)
        result[f"success_{phase}"] = success(episodes).model_dump(mode="json")
    result["seconds"] = {"eval_base": 40.0, "demos": 55.0, "sft": 110.0, "eval_sft": 42.0, "rl": 504.0, "eval_rl": 44.0}
    store.write_result(result)


def episode(id: str, store: RunStore, n: int, difficulty: int, won: bool, size: tuple[int, int]) -> Trajectory:
    kind = "shop" if n % 3 else "wiki"
    screens = [page_image(store.images, n % 11, size, scroll=9 * k) for k in range(4)]
    calls = [
        [ToolCall(name="click", arguments={"x": 734, "y": 66}), ToolCall(name="write", arguments={"text": "kettle"})],
        [ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})],
        [ToolCall(name="hover", arguments={"x": 180, "y": 330})],
        [ToolCall(name="click", arguments={"x": 500, "y": 488, "click_type": "double"})],
    ]
    turns = [
        turn(screens[k], calls[k], f"The search field is at the top, so step {k + 1} goes there before anything else.")
        for k in range(min(difficulty + 1, 4))
    ]
    if difficulty == 4:
        drag = ToolCall(name="drag", arguments={"x1": 200, "y1": 700, "x2": 800, "y2": 300})
        turns.append(turn(screens[0], [drag], "Drag the slider.", feedback=[Feedback(ok=False, text="Nothing moved.")]))
    if not won:
        turns.append(turn(screens[1], [], HOSTILE, error=f"unknown tool 'clik' {HOSTILE}"))
    return trajectory(
        id,
        store.images,
        success=won,
        difficulty=difficulty,
        kind=kind,
        site=n % 11,
        turns=turns,
        instruction=INSTRUCTIONS[difficulty - 1] + ("" if won else f" {HOSTILE}"),
        termination=Termination.COMPLETED if won else Termination.MAX_STEPS,
        reason="The cart holds the Amber Kettle." if won else "The cart is empty.",
    )
