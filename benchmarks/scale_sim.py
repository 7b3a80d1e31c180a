"""Where do rollouts saturate, and what do they cost, before one rents the machines? A model with one fitted number.

    python benchmarks/scale_sim.py [--seeds 0 1 2]

Browser hosts and engines are stations that all who work on them share (`machines.py`); episodes go from one to the
other, step by step, on the clock that jumps. One number is fitted: what a step costs the browser hosts, in seconds of a
core, so that 64 CPUs make 1,800 trajectories of 13.2 steps in 48.6 minutes (WebGym §4.2, asynchronous). The rest is
what papers say elsewhere (`Assumed`, `paced.py`). No figure that is predicted is read by what predicts it:

    30 minutes on 128 CPUs; 264 on 64 where every step waits for the slowest session              WebGym §4.2
    AsyncWebRL's loop against WebGym's: 2.4 times the trajectories, 2.9 with a thinking model     AsyncWebRL

The second pair comes from the real loop on the same clock (`paced.py`). Its learner takes as long for a trajectory as
rollouts with all slots busy do, because whoever divides GPUs between both makes them meet; the paper names no hardware.

Then clusters up to 10,000 sessions and 256 GPUs, in which a learner takes as long for a trajectory as ours took on a
GPU (`learner_gpu.py`), and what would be predicted, and what 256 GPUs would make, under other assumptions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import paced
from machines import Station
from record import RESULTS, record

SLOTS = 256
TRAJECTORIES = 1800
STEPS = 13.2
SIMULATED = TRAJECTORIES
"""With fewer the end of a measurement, when sessions have nothing left to do, weighs more."""
HORIZON = {1: 15, 2: 30, 3: 45}
"""WebGym §5.2, by difficulty; with the shares and successes of `paced.py` 12.9 steps a trajectory."""
CALIBRATED = {"cpus": 64, "minutes": 48.6}
PREDICTED = {"webgym_128": 30.0, "webgym_sync": 264.0, "asyncwebrl": 2.4, "asyncwebrl_thinking": 2.9}
GPUS = 24
"""That serve in WebGym's measurement."""
SESSION_GB = 4
"""OpenWebRL, Table 7."""
STEP_KB = 130
"""A screenshot of 1280×1000 pixels as JPEG, and the record of the step."""
LARGER_MODEL = 2
"""Times the model that the learner was measured with, of 4 B parameters."""
LARGEST = 256, 5000
"""GPUs and sessions of the cluster that is asked what each assumption changes."""
USD_CORE, USD_GPU = 0.04, 2.5
"""An hour of a core with its memory, and of an H100: a guess of what clouds ask."""


@dataclass(frozen=True)
class Assumed:
    """What is not fitted."""

    engine_s: float = 5.6
    """An answer that no other one slows down: a quarter of that at full load, as in `paced.py`."""
    sigma: float = paced.SIGMAS["instruct"]
    """Of the logarithm of a step's seconds."""
    meets_at: float = 128
    """CPUs that can feed WebGym's engines: beyond them its rollouts do not get faster (§4.2)."""
    sessions_a_core: float = 2
    """More made browsers crash (WebGym, Figure 7)."""
    serving: float = 0.5
    """The share of a cluster's GPUs that serve; the others learn."""
    learner_s: float = field(default_factory=lambda: LARGER_MODEL * measured_learner_s())
    """Of a GPU, that a trajectory takes to train on."""


def measured_learner_s() -> float:
    """Seconds of a GPU that our learner took for a trajectory of 15 turns, in an update that shares prefixes."""
    found = json.loads((RESULTS / "learner_gpu.json").read_text())["rows"]
    timing = {"measure": "timing", "turns": 15, "way": "radix, flex"}
    row = next(row for row in found if timing.items() <= row.items())
    return float(row["measured_seconds"] / row["members"])


@dataclass(frozen=True)
class Cluster:
    """What rolls out."""

    cores: float
    gpus: float
    """That serve."""
    core_s: float
    """Of a core, that a step takes on average."""
    sessions: int = SLOTS
    assumed: Assumed = Assumed()

    @property
    def answers_s(self) -> float:
        """Answers a second that the engines can give."""
        return self.gpus / GPUS * self.assumed.meets_at / self.core_s


@dataclass(frozen=True)
class Rolled:
    """What came of it."""

    seconds: float
    trajectories: int
    steps: int
    cores_used: float
    """Share of the capacity, as in `engines_used`."""
    engines_used: float


class Rollouts:
    """Episodes on a cluster."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self.browsers = Station(cluster.cores)
        self.engines = Station(cluster.answers_s * cluster.assumed.engine_s)
        self._draw = random.Random(seed)

    async def act(self) -> None:
        await self.browsers.work(self.cluster.core_s * self._length())

    async def answer(self) -> None:
        await self.engines.work(self.cluster.assumed.engine_s * self._length())

    def _length(self) -> float:
        sigma = self.cluster.assumed.sigma
        return self._draw.lognormvariate(-(sigma**2) / 2, sigma)

    async def streamed(self, episodes: Sequence[int]) -> None:
        """Each session goes at its own pace, and takes the next episode when one is done."""
        left = iter(episodes)

        async def session() -> None:
            for steps in left:
                for _ in range(steps):
                    await self.act()
                    await self.answer()

        await asyncio.gather(*(session() for _ in range(self.cluster.sessions)))

    async def lockstep(self, episodes: Sequence[int]) -> None:
        """All sessions act, then all get their answers; the next episodes begin when the last of these has ended."""
        for first in range(0, len(episodes), self.cluster.sessions):
            left = list(episodes[first : first + self.cluster.sessions])
            while left:
                await asyncio.gather(*(self.act() for _ in left))
                await asyncio.gather(*(self.answer() for _ in left))
                left = [steps - 1 for steps in left if steps > 1]


def episode_steps(draw: random.Random) -> int:
    """How many steps an episode takes: successes are short, failures go on to the horizon of their difficulty."""
    difficulty = draw.choices(list(paced.SHARE), list(paced.SHARE.values()))[0]
    horizon = HORIZON[difficulty]
    if draw.random() >= paced.SUCCESS[difficulty]:
        return horizon
    return min(1 + int(math.log(1 - draw.random()) / math.log(1 - 1 / paced.SUCCESS_STEPS)), horizon)


def rolled(cluster: Cluster, seed: int, trajectories: int, *, lockstep: bool = False) -> Rolled:
    async def go() -> Rolled:
        rollouts = Rollouts(cluster, seed)
        lengths = random.Random(f"lengths-{seed}")
        episodes = [episode_steps(lengths) for _ in range(trajectories)]
        await (rollouts.lockstep(episodes) if lockstep else rollouts.streamed(episodes))
        used = rollouts.browsers.utilization, rollouts.engines.utilization
        return Rolled(asyncio.get_running_loop().time(), trajectories, sum(episodes), *used)

    with asyncio.Runner(loop_factory=paced.JumpingLoop) as runner:
        return runner.run(go())


def minutes(cluster: Cluster, seeds: Sequence[int], *, lockstep: bool = False) -> float:
    """For as many steps as the paper's trajectories have; the median over the seeds."""
    found = [rolled(cluster, seed, SIMULATED, lockstep=lockstep) for seed in seeds]
    return median(each.seconds / each.steps for each in found) * TRAJECTORIES * STEPS / 60


def calibrated(seeds: Sequence[int], assumed: Assumed) -> Cluster:
    """The cluster of the one point, with the seconds of a core that make it so."""
    low, high = 1.0, 20.0
    for _ in range(11):
        cluster = Cluster(CALIBRATED["cpus"], GPUS, (low + high) / 2, assumed=assumed)
        if minutes(cluster, seeds) < CALIBRATED["minutes"]:
            low = cluster.core_s
        else:
            high = cluster.core_s
    return cluster


def predicted(cluster: Cluster, seeds: Sequence[int]) -> dict[str, float]:
    """What WebGym has measured, in minutes."""
    return {
        "webgym_128": minutes(replace(cluster, cores=128), seeds),
        "webgym_sync": minutes(replace(cluster, cores=64), seeds, lockstep=True),
    }


def loops(seeds: Sequence[int], iterations: int) -> dict[str, float]:
    """How many times the trajectories of WebGym's loop the asynchronous one makes; medians over the seeds."""
    learner_s = paced.MEAN_STEPS * (paced.BROWSER_S + paced.ENGINE_S) / SLOTS

    def ratio(sigma: float, seed: int) -> float:
        rows = paced.run(128, 2, iterations, sigma, seed, learner_s=learner_s).rows[3:-2]  # when the pool is full
        ahead = sum(row["episodes"] for row in rows) / sum(row["seconds_total"] for row in rows)
        phased = paced.run_phased(1024, iterations // 2, sigma, seed, learner_s=learner_s)
        return ahead * 3600 * phased.hours / phased.trajectories

    return {
        "asyncwebrl": median(ratio(paced.SIGMAS["instruct"], seed) for seed in seeds),
        "asyncwebrl_thinking": median(ratio(paced.SIGMAS["thinking"], seed) for seed in seeds),
    }


def clusters(here: Cluster, seed: int) -> Iterator[dict[str, Any]]:
    """Larger ones, of all GPUs and sessions."""
    for gpus in (8, 32, 128, 256):
        for sessions in (64, 256, 1000, 2500, 5000, 10000):
            yield sized(here, gpus, sessions, seed)


def sized(here: Cluster, gpus: int, sessions: int, seed: int) -> dict[str, Any]:
    """A cluster of so many GPUs and sessions: what it makes, what it uses, and what bounds it first."""
    assumed = here.assumed
    cluster = replace(here, cores=sessions / assumed.sessions_a_core, gpus=gpus * assumed.serving, sessions=sessions)
    found = rolled(cluster, seed, 3 * sessions)
    steps = found.steps / found.trajectories
    learned = gpus * (1 - assumed.serving) / assumed.learner_s * 3600
    an_hour = min(found.trajectories * 3600 / found.seconds, learned)
    bounds = {
        "sessions": sessions / (here.core_s + assumed.engine_s),
        "cores": cluster.cores / here.core_s,
        "engines": cluster.answers_s,
        "learner": learned / 3600 * steps,
    }
    return {
        "sessions": sessions,
        "cores": cluster.cores,
        "memory_gb": sessions * SESSION_GB,
        "gpus": gpus,
        "trajectories_an_hour": round(an_hour),
        "cores_used": round(found.cores_used, 3),
        "engines_used": round(found.engines_used, 3),
        "learner_used": round(an_hour / learned, 3),
        "bound": min(bounds, key=bounds.__getitem__),
        "usd_a_thousand": round((cluster.cores * USD_CORE + gpus * USD_GPU) / an_hour * 1000, 2),
        "store_gb_a_day": round(an_hour * steps * 24 * STEP_KB / 1e6),
    }


def sensitivity(seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """What would be predicted with one assumption at a time halved or doubled, calibrated anew, and what the largest
    cluster would make. Of the share that serves, what is left is halved where it would be doubled."""
    for name, value in vars(Assumed()).items():
        for times in (0.5, 2.0):
            other = (1 + value) / 2 if name == "serving" and times > 1 else value * times
            cluster = calibrated(seeds, replace(Assumed(), **{name: other}))
            largest = sized(cluster, *LARGEST, seeds[0])
            yield {
                "assumption": name,
                "value": other,
                "core_s": cluster.core_s,
                **predicted(cluster, seeds),
                "largest": {key: largest[key] for key in ("trajectories_an_hour", "bound", "usd_a_thousand")},
            }


def driver_ms(iterations: int) -> float:
    """What the real loop itself takes of a core for a trajectory, where all else is pretended."""
    started = time.process_time()
    trajectories = paced.run(128, 2, iterations, Assumed.sigma).trajectories
    return 1000 * (time.process_time() - started) / trajectories


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--iterations", type=int, default=40, help="of the loops")
    arguments = parser.parse_args()
    logging.getLogger("webdojo").setLevel(logging.WARNING)
    here = calibrated(arguments.seeds, Assumed())
    found = predicted(here, arguments.seeds) | loops(arguments.seeds, arguments.iterations)
    sizes = list(clusters(here, arguments.seeds[0]))
    rows = [{"predicted": name, "value": found[name], "published": value} for name, value in PREDICTED.items()]
    rows += sizes + list(sensitivity(arguments.seeds[:1]))
    headline = {f"error_{name}": abs(found[name] / value - 1) for name, value in PREDICTED.items()}
    headline |= {"core_s_a_step": here.core_s, "driver_ms_a_trajectory": driver_ms(arguments.iterations)}
    record("scale_sim", {key: round(value, 4) for key, value in headline.items()}, rows)


if __name__ == "__main__":
    main()
