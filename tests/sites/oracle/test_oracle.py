"""The oracle solves sampled tasks through the agent's own tools, in real Chromium."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from webdojo.browser.config import BrowserConfig
from webdojo.browser.network.proxy import GuardProxy
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.browser.tools import check_call
from webdojo.errors import TaskError
from webdojo.sites import COMPACT_KINDS, HELDOUT_SEED, SMALL_KINDS
from webdojo.sites.kinds import KINDS
from webdojo.sites.oracle import Oracle
from webdojo.sites.oracle.moves import fill
from webdojo.sites.oracle.page import read_page
from webdojo.sites.perturbations.schedule import LEVELS, Perturbations
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.taskgen import make_tasks
from webdojo.sites.verdict import evaluate
from webdojo.store.images import MemoryImages
from webdojo.types import Task

VIEWPORTS = {"compact": (320, 320), "grid": (320, 320), "auto": (1280, 1000)}
WORDS = {"compact": 28, "grid": 36, "auto": 60}
"""The most that a thought has, which restates the task."""


async def solve(
    task: Task,
    pool: BrowserPool,
    server: SiteServer,
    layout: str,
    noise: float = 0,
    level: int = 0,
    most: tuple[int, int] = (40, 28),
    before: Callable[[BrowserSession], Awaitable[None]] | None = None,
) -> tuple[bool, int, str]:
    """Success, steps and a log; `most` are the steps that it may take, and the words that it may think in each."""
    name = f"{layout}-{task.id}"
    session = await pool.open(task.start_url, server.headers(name, layout, Perturbations(level=level, seed=task.id)))
    if before is not None:
        await before(session)
    oracle = Oracle(task, noise)
    log = [task.instruction]
    answer = None
    while answer is None and len(log) < most[0]:
        step = await oracle.step(session)
        assert len(step.think.split()) <= most[1], step.think
        assert not [reason for reason in map(check_call, step.calls) if reason], step.calls
        log.append(f"{step.think} {[(call.name, call.arguments) for call in step.calls]}")
        answer = (await session.act(step.calls)).answer
    verdict = evaluate(task, answer, session.page.url, server.state(name))
    await session.close()
    server.end(name)
    return verdict.success, len(log) - 1, "\n".join([*log, verdict.reason])


@pytest.mark.parametrize(
    ("layout", "kinds", "n", "noise"),
    [
        ("compact", COMPACT_KINDS, 24, 0.0),
        ("auto", COMPACT_KINDS, 8, 0.0),
        ("compact", COMPACT_KINDS, 4, 0.25),
        ("grid", SMALL_KINDS, 40, 0.0),
        ("grid", SMALL_KINDS, 8, 0.25),
    ],
)
async def test_it_solves_tasks_of_every_difficulty(layout: str, kinds: Sequence[str], n: int, noise: float) -> None:
    tasks = make_tasks(kinds, range(HELDOUT_SEED, HELDOUT_SEED + 100), n, seed=11, layout=layout)
    config = BrowserConfig(viewport_px=VIEWPORTS[layout])
    with SiteServer() as server:
        async with BrowserPool(config, MemoryImages(), server.hosts) as pool:
            gate = asyncio.Semaphore(4)

            async def run(task: Task) -> tuple[bool, int, str]:
                async with gate:
                    return await solve(task, pool, server, layout, noise, most=(40, WORDS[layout]))

            results = await asyncio.gather(*map(run, tasks))
    for success, _, log in results:
        assert success, log
    if n >= 24:
        steps = {d: [r[1] for t, r in zip(tasks, results, strict=True) if t.difficulty == d] for d in (1, 2, 3, 4)}
        means = [sum(steps[d]) / len(steps[d]) for d in (1, 2, 3, 4)]
        assert means[0] <= 2.5
        assert means[0] < means[1] < means[3], means


async def test_it_solves_tasks_of_every_kind_under_heavy_perturbations_and_nothing_leaves_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []

    async def accept(self: GuardProxy, reader: object, writer: asyncio.StreamWriter) -> None:
        asked.append(writer)
        writer.close()

    monkeypatch.setattr(GuardProxy, "_accept", accept)
    seeds = range(HELDOUT_SEED, HELDOUT_SEED + 100)
    tasks = make_tasks(list(KINDS), seeds, len(KINDS.built_in), seed=6, difficulties=range(1, 10))
    config = BrowserConfig(viewport_px=VIEWPORTS["auto"])
    with SiteServer() as server:
        async with BrowserPool(config, MemoryImages(), server.hosts) as pool:
            gate = asyncio.Semaphore(4)

            async def run(task: Task) -> tuple[bool, int, str]:
                async with gate:
                    return await solve(task, pool, server, "auto", level=max(LEVELS), most=(60, 60))

            for success, _, log in await asyncio.gather(*map(run, tasks)):
                assert success, log
    assert {task.kind for task in tasks} == set(KINDS)
    assert not asked


@pytest.mark.parametrize("kind", KINDS)
async def test_it_errs_and_recovers_on_every_kind(kind: str) -> None:
    seeds = range(HELDOUT_SEED, HELDOUT_SEED + 100)
    tasks = make_tasks([kind], seeds, 2, seed=8, difficulties=[3, 5])
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(viewport_px=VIEWPORTS["auto"]), MemoryImages(), server.hosts) as pool:

            async def run(task: Task) -> tuple[int, tuple[bool, int, str]]:
                _, straight, _ = await solve(task, pool, server, "auto", most=(60, 100))
                return straight, await solve(task, pool, server, "auto", noise=0.4, most=(60, 100))

            results = await asyncio.gather(*map(run, tasks))
    for _, (success, _, log) in results:
        assert success, log
    assert any(steps > straight for straight, (_, steps, _) in results), "it took no wrong turn"


async def test_it_reads_pages_that_go_on_by_themselves() -> None:
    config = BrowserConfig(viewport_px=VIEWPORTS["compact"])
    with SiteServer() as server:
        async with BrowserPool(config, MemoryImages(), server.hosts) as pool:
            session = await pool.open("http://shop-1.localhost/", server.headers("", "compact"))
            await session.page.add_init_script("setTimeout(() => location.reload(), 2)")
            await session.page.evaluate("location.reload()")
            for _ in range(3):
                assert (await read_page(session.page))["host"] == "shop-1.localhost"
            await session.close()


def test_an_option_with_a_comma_in_it_is_one_option() -> None:
    base = {"action": "/do/poll", "clear": True, "x": 50, "name": "vote", "label": "", "text": "Vote", "tag": "input"}
    options = [
        {**base, "type": "radio", "value": value, "checked": False, "y": y}
        for y, value in enumerate(("Yes", "Yes, always", "No"))
    ]
    button = {**base, "tag": "button", "type": "submit", "name": "", "y": 90}
    move = fill("/do/poll", {"vote": "Yes, always"}, {"elements": [*options, button], "width": 100, "height": 100})
    assert move is not None and move[2][0].arguments == {"x": 500, "y": 10}


def test_a_task_without_a_plan_is_an_error() -> None:
    task = make_tasks(["shop"], [0], 1, 0)[0].model_copy(update={"metadata": {}})
    with pytest.raises(TaskError, match="plan"):
        Oracle(task)
