"""A made-up run for the benchmark of the viewer: many trajectories, and one of a hundred steps with full prompts."""

from __future__ import annotations

import io
import random
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw

from webdojo.store.info import run_info
from webdojo.store.record import record_of
from webdojo.store.run import COLUMNS, DATABASE, RunStore, TrajectoryRow
from webdojo.types import (
    Feedback,
    FinishReason,
    ImageRef,
    ImageSegment,
    Observation,
    Parsed,
    Prompt,
    Response,
    Reward,
    Tab,
    Task,
    Termination,
    TextSegment,
    ToolCall,
    Trajectory,
    Turn,
)

LONG = "long"
"""The id of the trajectory of `LONG_STEPS`."""
LONG_STEPS = 100
KINDS = ("shop", "wiki", "forum", "mail", "news", "travel", "forms", "tracker")
WORDS = (
    "kettle lamp desk order reply ballot bridge tower ferry permit amber walnut cheap oldest second".split()  # noqa: SIM905
)
RECIPE = "name: made-up\nseed: 0\ntrain:\n  iterations: 100\n"
GROUP = 8
TEMPLATES = 64
"""Different episodes; all others repeat their screenshots and texts, with ids, tasks and verdicts of their own."""


def make_run(path: Path, trajectories: int, seed: int = 0) -> None:
    """Write a run of so many trajectories of three to twelve steps, as large as those of the embedded web."""
    rng = random.Random(seed)
    with RunStore.create(path, RECIPE, run_info(seed)) as store:
        screens = [_screen(store, number) for number in range(32)]
        long = _episode(rng, screens, LONG_STEPS, tokens=4000)
        store.add_trajectory(long.model_copy(update={"id": LONG, "group": f"{LONG}-0"}), "rl", 1)
        kinds = [_episode(rng, screens, rng.randint(3, 12), tokens=300) for _ in range(TEMPLATES)]
    texts = [(kind, *record_of(kind).decode().split(f'"{kind.task.instruction}"', 1)) for kind in kinds]
    connection = sqlite3.connect(path / DATABASE)
    marks = ", ".join("?" * (len(TrajectoryRow._fields) + 1))
    with connection:
        connection.executemany(
            f"INSERT INTO trajectories ({COLUMNS}, record) VALUES ({marks})", _rows(rng, texts, trajectories - 1)
        )
        for step in range(1, 101):
            connection.execute(
                "INSERT INTO metrics VALUES ('rl', ?, 0, ?)",
                (step, f'{{"success": {step / 150}, "reward": {step / 160}, "episodes": {trajectories // 100}}}'),
            )
    connection.close()


def _rows(rng: random.Random, texts: list[tuple[Trajectory, str, str]], count: int) -> Iterator[tuple[object, ...]]:
    for number in range(count):
        episode, before, after = rng.choice(texts)
        task = number // GROUP % 5000
        kind = KINDS[task % len(KINDS)]
        success = rng.random() < 0.2 + 0.5 * number / count
        words = " ".join(rng.choices(WORDS, k=4))
        row = TrajectoryRow(
            id=f"{kind}-{task}-{number}",
            phase="rl" if number % 10 else "eval_rl",
            iteration=1 + 100 * number // count,
            group_id=f"g-{number // GROUP}",
            task_id=f"{kind}:{task}",
            website=f"{kind}-{task % 400}.localhost",
            kind=kind,
            difficulty=1 + task % 4,
            termination=rng.choice(["completed", "completed", "max_steps", "format_error", "timeout"]),
            reward=float(success),
            success=success,
            valid=rng.random() < 0.98,
            steps=episode.steps,
            response_tokens=sum(len(turn.response.ids) for turn in episode.turns),
            created=1.7e9 + number,
        )
        text = f'{before.replace(episode.id, row.id, 1)}"Find the {words}, task {task}."{after}'
        yield (*row, zlib.compress(text.encode(), 1))


def _episode(rng: random.Random, screens: list[ImageRef], steps: int, tokens: int) -> Trajectory:
    turns = [_turn(rng, rng.choice(screens), step, tokens) for step in range(steps)]
    website = f"shop-{rng.randrange(400)}.localhost"
    return Trajectory(
        id=f"template-{rng.random()}",
        task=Task(
            id="t",
            instruction=f"Do what a template of {steps} steps does.",
            start_url=f"http://{website}/",
            website=website,
            kind="shop",
        ),
        turns=turns,
        final=turns[0].observation,
        termination=Termination.COMPLETED,
        answer="done",
        reward=Reward(value=1, success=True, reason="every fact holds"),
    )


def _turn(rng: random.Random, screen: ImageRef, step: int, tokens: int) -> Turn:
    url = f"http://shop-{rng.randrange(400)}.localhost/c/{rng.choice(WORDS)}"
    ids = [rng.randrange(150_000) for _ in range(60)]
    x, y = rng.randrange(1000), rng.randrange(1000)
    return Turn(
        observation=Observation(
            screenshot=screen,
            url=url,
            title=rng.choice(WORDS),
            tabs=[Tab(index=0, url=url, title="", active=True)],
            viewport_px=(1280, 1000),
        ),
        prompt=Prompt(
            segments=(
                TextSegment(ids=tuple(rng.randrange(150_000) for _ in range(tokens))),
                ImageSegment(image=screen, tokens=1280),
            )
        ),
        response=Response(
            ids=ids, logprobs=[-rng.random() for _ in ids], versions=[step] * len(ids), finish_reason=FinishReason.STOP
        ),
        text="<think>…</think>",
        parsed=Parsed(
            think=" ".join(rng.choices(WORDS, k=40)), calls=[ToolCall(name="click", arguments={"x": x, "y": y})]
        ),
        feedback=[Feedback(ok=True, text=f"click at ({x}, {y}) on <a>: page is now {url}")],
    )


def _screen(store: RunStore, number: int) -> ImageRef:
    """A screenshot of the papers' size with a few hundred things on it."""
    rng = random.Random(number)
    image = Image.new("RGB", (1280, 1000), (250, 250, 248))
    draw = ImageDraw.Draw(image)
    for _ in range(300):
        x, y = rng.randrange(1280), rng.randrange(1000)
        colour = (rng.randrange(256), rng.randrange(256), rng.randrange(256))
        draw.rectangle((x, y, x + rng.randrange(8, 160), y + rng.randrange(8, 60)), fill=colour)
        draw.text((x, y), rng.choice(WORDS), fill="black", font_size=18)
    data = io.BytesIO()
    image.save(data, "JPEG", quality=80)
    return store.images.put(data.getvalue(), 1280, 1000, "image/jpeg")
