"""What `growth.py` measures, each in a process of its own: seconds and bytes for one size.

A case does work that is in proportion to its size. What it needs before is made outside of what is measured.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import math
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_turns import HARNESSES, TASK, group_turns
from learner_ways import Pictures, group_of_turns, update
from own_memory import memory_gb
from process_tree import pss_mb_by_kind
from viewer_run import make_run

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.dojo import Dojo
from webdojo.envs.registry import TasksConfig
from webdojo.envs.task_sets import tasks_of
from webdojo.loops.missing import ended_for_good
from webdojo.policy.model.features import FeatureCache
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.forward import attend_in_rows, narrow_last_layer
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.curriculum import Curriculum, TaskStream
from webdojo.rollout.pool import PoolState
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.store.run import DATABASE, RunStore
from webdojo.tasks.samplers.difficulty_guided import DifficultyGuided
from webdojo.trainer.learner.malloc import keep_freed_memory
from webdojo.types import (
    FinishReason,
    Observation,
    Parsed,
    Response,
    Task,
    Termination,
    ToolCall,
    Trajectory,
    Turn,
)
from webdojo.view.server.index import Index
from webdojo.view.server.query import Query

SESSIONS_PER_BROWSER = 16
STEPS = 4
"""Actions of each session, and a screenshot after each."""
SCALE = 16
BUDGET = 4096
GROUP = 4
DRAWN = 200
PAGE = 100


@dataclass
class Measured:
    """What one size took; `bytes` are above those of the process before."""

    seconds: float = 0.0
    bytes: float = 0.0


@contextmanager
def measured() -> Iterator[Measured]:
    """Time and memory of a block; memory is the highest of this process."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM counts from here
    found, before, began = Measured(), memory_gb("VmRSS"), time.perf_counter()
    yield found
    found.seconds = time.perf_counter() - began
    found.bytes = (memory_gb("VmHWM") - before) * 2**30


def sessions(size: int) -> Measured:
    """Browser sessions at once, each with a few actions on the embedded web; memory of all processes."""
    return asyncio.run(_sessions(size))


async def _sessions(size: int) -> Measured:
    tasks = make_tasks(["shop"], range(HELDOUT_SEED, HELDOUT_SEED + 100), size, 0)
    scroll = [ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.2})]
    config = BrowserConfig(browsers=math.ceil(size / SESSIONS_PER_BROWSER), sessions_per_browser=SESSIONS_PER_BROWSER)
    async with Dojo() as env, BrowserPool(config, MemoryImages(), dict(env.hosts)) as pool:
        await (await pool.open(tasks[0].start_url, (await env.visit(tasks[0])).headers)).close()
        before = sum(pss_mb_by_kind(os.getpid()).values())
        opened = []
        for task in tasks:
            opened.append(await pool.open(task.start_url, (await env.visit(task)).headers))
        began = time.perf_counter()
        for _ in range(STEPS):
            await asyncio.gather(*(session.act(scroll) for session in opened))
            await asyncio.gather(*(session.observe() for session in opened))
        seconds = time.perf_counter() - began
        held = sum(pss_mb_by_kind(os.getpid()).values()) - before
        await asyncio.gather(*(session.close() for session in opened))
    return Measured(seconds, held * 1e6)


def prompts(size: int) -> Measured:
    """Prompts of an episode of so many turns, whose words all stay."""
    harness = HARNESSES["openwebrl"].build(Processor.load(model_folder("tiny")))
    group_turns(harness, MemoryImages(), 1, 2, repeated=True)
    with measured() as found:
        turns = group_turns(harness, MemoryImages(), 1, size, repeated=False)
    assert len(turns) == size
    return found


def record(size: int) -> Measured:
    """Storing an episode of so many turns and reading it again; bytes are those of the record."""
    harness = HARNESSES["openwebrl"].build(Processor.load(model_folder("tiny")))
    with tempfile.TemporaryDirectory() as folder, RunStore.create(Path(folder) / "run", "name: growth\n", {}) as store:
        screen = Observation(
            screenshot=store.images.put(b"screen", 128, 64, "image/png"),
            url=TASK.start_url,
            title="Mugs",
            tabs=[],
            viewport_px=(128, 64),
        )
        turns = [
            Turn(
                observation=screen,
                prompt=prompt,
                response=Response(
                    ids=ids, logprobs=[-1.0] * len(ids), versions=[0] * len(ids), finish_reason=FinishReason.STOP
                ),
                text="",
                parsed=Parsed(),
            )
            for prompt, ids in group_turns(harness, MemoryImages(), 1, size, repeated=False)
        ]
        episode = Trajectory(id="t", task=TASK, turns=turns, termination=Termination.COMPLETED)
        with measured() as found:
            store.add_trajectory(episode, "rl", 1)
            assert len(store.trajectory("t").turns) == size
        with closing(sqlite3.connect(store.path / DATABASE)) as database:
            ((found.bytes,),) = database.execute("SELECT length(record) FROM trajectories")
    return found


def turns(size: int) -> Measured:
    """An update on a group of episodes of so many turns."""
    return _update(GROUP, size)


def group_size(size: int) -> Measured:
    """An update on a group of so many episodes."""
    return _update(size, 8)


def _update(members: int, turns: int) -> Measured:
    keep_freed_memory()
    model, processor = load_model("tiny")
    attend_in_rows(model)
    narrow_last_layer(model)
    pictures = Pictures()
    sequences = group_of_turns(processor, pictures, members, turns, SCALE)
    model.model.visual.requires_grad_(False)
    cache = FeatureCache(model, processor, pictures, max_bytes=2**33)
    for prompt, _ in sequences:
        cache.of(prompt)
    update(model, "radix", sequences[:2], BUDGET, processor, pictures, cache)  # warms up
    with measured() as found:
        update(model, "radix", sequences, BUDGET, processor, pictures, cache)
    return found


def trajectories(size: int) -> Measured:
    """What the end of an iteration looks through in a store of so many trajectories."""
    with tempfile.TemporaryDirectory() as folder:
        make_run(Path(folder) / "run", size)
        with RunStore.open(Path(folder) / "run") as store:
            store.count()
            with measured() as found:
                store.count()
                ended_for_good(store, 0, PoolState())
                store.image_hashes()
    return found


def listed(size: int) -> Measured:
    """The viewer's first list of a run of so many trajectories."""
    with tempfile.TemporaryDirectory() as folder:
        make_run(Path(folder) / "run", size)
        with RunStore.open(Path(folder) / "run", readonly=True) as store:
            with measured() as found:
                index = Index(store)
                index.refresh()
                rows = index.select(Query(), None, list).part(0, PAGE)
            assert len(rows) == min(size, PAGE)
    return found


def list_pages(size: int) -> Measured:
    """So many pages of the list of 20,000 trajectories, one after the other, of which instructions are shown."""
    with tempfile.TemporaryDirectory() as folder:
        make_run(Path(folder) / "run", 20_000)
        with RunStore.open(Path(folder) / "run", readonly=True) as store:
            index = Index(store)
            index.refresh()
            index.select(Query(sort="-steps"), None, list)
            with measured() as found:
                for page in range(size):
                    rows = index.select(Query(sort="-steps"), None, list).part(page * PAGE, PAGE)
                    assert len(index.instructions(rows)) == PAGE
    return found


def tasks(size: int) -> Measured:
    """Reading a file of so many tasks, and drawing some by difficulty."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.jsonl"
        with path.open("w") as lines:
            for number in range(size):
                site = f"site-{rng.randrange(max(10, size // 20))}.example"
                task = {"id": str(number), "instruction": f"Find item {number}", "start_url": f"http://{site}/"}
                lines.write(json.dumps(task | {"website": site, "difficulty": 1 + number % 5}) + "\n")
        with measured() as found:
            given: list[Task] = list(tasks_of(Dojo(), TasksConfig(path=str(path)), "train", size, 0))
            sampler = DifficultyGuided()
            curriculum = Curriculum(given, [], RolloutConfig(), sampler, lambda: 1)
            stream = TaskStream(given, 0, chance=curriculum.chance)
            drawn = [stream.at(stream.draw()) for _ in range(DRAWN)]
            curriculum.note([(task.id, [0.0, 1.0]) for task in drawn])
    return found


Case = tuple[Callable[[int], Measured], tuple[int, ...]]

CASES: dict[str, Case] = {
    "sessions": (sessions, (1, 4, 16, 64, 128)),
    "prompts": (prompts, (5, 10, 25, 50, 100)),
    "record": (record, (5, 10, 25, 50, 100)),
    "turns": (turns, (5, 10, 25, 50, 100)),
    "group_size": (group_size, (2, 4, 8, 16, 32)),
    "trajectories": (trajectories, (100, 1_000, 10_000, 100_000)),
    "listed": (listed, (100, 1_000, 10_000, 100_000)),
    "list_pages": (list_pages, (1, 10, 50, 200)),
    "tasks": (tasks, (1_000, 10_000, 100_000, 1_000_000)),
}


def median_of(name: str, size: int, repeats: int) -> tuple[Measured, list[float]]:
    """The median of a size, and the seconds of each repeat."""
    case, _ = CASES[name]
    found = [case(size) for _ in range(repeats)]
    seconds = [each.seconds for each in found]
    return Measured(statistics.median(seconds), statistics.median(each.bytes for each in found)), seconds
