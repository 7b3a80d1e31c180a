"""A browser for what people look at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(BrowserConfig()), args=["--no-sandbox"])
        yield browser
        browser.close()
