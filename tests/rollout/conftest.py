"""A small site and a pool of browsers, for each module that drives episodes on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.rollout.stage import BROWSER, IMAGES, serving
from webdojo.browser.pool import BrowserPool


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(BROWSER, IMAGES) as pool:
        yield pool
