"""The kind that `docs/new-kind.md` shows works as it stands there."""

import asyncio
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.sites.oracle.test_oracle import VIEWPORTS, solve
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.kinds import KINDS
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import Task

PAGE = Path(__file__).parents[2] / "docs" / "new-kind.md"


@pytest.fixture
def _seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    source = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    assert source.count("\n") < 130
    module = ModuleType("webdojo.sites.seeds")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, str(PAGE), "exec"), module.__dict__)
    monkeypatch.setitem(KINDS.built_in, "seeds", module.Seeds)


@pytest.mark.usefixtures("_seeds")
async def test_the_oracle_solves_tasks_of_the_kind_in_the_docs() -> None:
    tasks = make_tasks(["seeds"], range(HELDOUT_SEED, HELDOUT_SEED + 50), 9, seed=3, difficulties=range(1, 10))
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(viewport_px=VIEWPORTS["auto"]), MemoryImages(), server.hosts) as pool:
            gate = asyncio.Semaphore(3)

            async def run(task: Task) -> tuple[bool, int, str]:
                async with gate:
                    return await solve(task, pool, server, "auto", most=(60, 80))

            for success, _, log in await asyncio.gather(*map(run, tasks)):
                assert success, log
