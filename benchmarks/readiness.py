"""Is waiting by events as safe as a fixed sleep, and how much faster, when the web is slow?

    python benchmarks/readiness.py [--tasks 40] [--seeds 0 1 2]

The oracle does the same tasks on all kinds of embedded sites at 1280×1000 through a slow line (every answer
is delayed by 0 to 0.3 s, one in five by 0.5 to 1.5 s), with three ways to wait after an action: by events
as `browser/page/ready.py` does, a sleep of 2 s, and not at all, which shows that waiting is needed. The oracle
decides by what the page shows at that moment, so it goes wrong where an agent would.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from statistics import mean, median
from typing import Any

from record import record

from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.browser import session as browser_session
from webdojo.browser.config import BrowserConfig
from webdojo.browser.page.probe import PROBE_JS
from webdojo.browser.page.ready import settle
from webdojo.browser.page.world import until_read
from webdojo.browser.pool import BrowserPool
from webdojo.browser.tab import Tab
from webdojo.envs.dojo import Dojo
from webdojo.evaluation.metrics import wilson95
from webdojo.policy.model.loading import load_model
from webdojo.policy.scripted import ScriptedActor
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.rollout.groups import run_each
from webdojo.sites import HOSTS
from webdojo.sites.kinds import KINDS
from webdojo.sites.oracle import Oracle
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import Sampling, Task, Termination, Trajectory

SLEEP_S = 2.0
CONCURRENCY = 8
MOST_STEPS = 80
VIEWPORT_PX = (1280, 1000)
CHUNK = 65536

Settle = Callable[[Tab, BrowserConfig, tuple[int, int] | None], Awaitable[dict[str, Any]]]


def sleeping(seconds: float) -> Settle:
    """The naive way: sleep, then read the page."""

    async def wait(tab: Tab, config: BrowserConfig, point_px: tuple[int, int] | None = None) -> dict[str, Any]:
        await asyncio.sleep(seconds)
        raw: dict[str, Any] = await until_read(lambda: tab.world.call(PROBE_JS, point_px))
        return raw

    return wait


WAYS: dict[str, Settle] = {"events": settle, "sleep_2s": sleeping(SLEEP_S), "none": sleeping(0)}


@asynccontextmanager
async def slow_line(port: int, seed: int) -> AsyncIterator[int]:
    """A port in front of another one that delays every answer."""
    rng = random.Random(seed)

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delayed: bool) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                if delayed:  # a request; its answer comes so much later
                    await asyncio.sleep(rng.uniform(0.5, 1.5) if rng.random() < 0.2 else rng.uniform(0, 0.3))
                writer.write(data)
                await writer.drain()
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site_reader, site_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, site_writer, True), carry(site_reader, writer, False))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def measure(way: str, tasks: list[Task], seed: int) -> dict[str, Any]:
    """Success and pace of the oracle with one way to wait."""
    _, processor = load_model("tiny")
    harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), processor)
    browser_session.settle = WAYS[way]  # type: ignore[assignment]
    images = MemoryImages()
    scorer = Scorer(Rules(), images)
    async with (
        Dojo() as env,
        slow_line(int(env.hosts[HOSTS].rpartition(":")[2]), seed) as port,
        BrowserPool(BrowserConfig(viewport_px=VIEWPORT_PX), images, {HOSTS: f"127.0.0.1:{port}"}) as pool,
    ):

        async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
            trajectory = await run_episode(
                task,
                env=env,
                pool=pool,
                harness=harness,
                actor=ScriptedActor(harness, Oracle),
                config=RolloutConfig(),
                sampling=Sampling(max_tokens=512),
                max_steps=MOST_STEPS,
                group=group,
                trajectory_id=trajectory_id,
            )
            await scorer.score(trajectory)
            return trajectory

        done = await run_each(run, tasks, CONCURRENCY)
    won = sum(trajectory.reward is not None and trajectory.reward.success for trajectory in done)
    acts = [turn.seconds["act"] for trajectory in done for turn in trajectory.turns if "act" in turn.seconds]
    low, high = wilson95(won, len(done))
    return {
        "way": way,
        "seed": seed,
        "n": len(done),
        "success": won / len(done),
        "ci95": [low, high],
        "steps": len(acts),
        "act_s_mean": round(mean(acts), 3),
        "act_s_p50": round(median(acts), 3),
        "failed": sorted(str(t.termination) for t in done if t.termination is not Termination.COMPLETED),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=40, help="of each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    rows = [
        asyncio.run(measure(way, make_tasks(list(KINDS), range(40), arguments.tasks, seed), seed))
        for seed in arguments.seeds
        for way in WAYS
    ]
    by_way = {way: [row for row in rows if row["way"] == way] for way in WAYS}
    headline = {f"success_{way}": round(mean(row["success"] for row in found), 4) for way, found in by_way.items()}
    seconds = {way: median(row["act_s_mean"] for row in found) for way, found in by_way.items()}
    headline |= {f"act_s_{way}": round(value, 3) for way, value in seconds.items()}
    headline["x_sleep"] = round(seconds["sleep_2s"] / seconds["events"], 2)
    record("readiness", headline, rows)


if __name__ == "__main__":
    main()
