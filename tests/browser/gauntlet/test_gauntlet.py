"""webdojo's browser through the whole gauntlet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio

from tests.browser.gauntlet.ours import CONFIG, open_session
from tests.browser.gauntlet.pages import Trial, trials
from tests.browser.gauntlet.run import Open, attempt
from webdojo.browser.pool import BrowserPool
from webdojo.store.images import MemoryImages

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_at() -> AsyncIterator[Open]:
    images = MemoryImages()
    async with BrowserPool(CONFIG, images) as pool:
        yield partial(open_session, pool, images)


@pytest.mark.parametrize("trial", trials(), ids=lambda trial: trial.name)
async def test_a_trial_is_handled(trial: Trial, open_at: Open) -> None:
    outcome = await attempt(trial, open_at)
    assert not outcome.failures, f"{trial.says} {outcome.told}"
