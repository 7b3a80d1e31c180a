"""Finding a Chromium, or saying in one line how to get one."""

from pathlib import Path

import pytest

from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.errors import BrowserError
from webdojo.store.images import MemoryImages


def program(path: Path, script: str = "exit 1") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_the_headless_shell_is_preferred_unless_a_window_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell, full = program(tmp_path / "chromium-headless-shell"), program(tmp_path / "chromium")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium(BrowserConfig()) == shell
    assert find_chromium(BrowserConfig(headless=False)) == full


def test_playwrights_newest_download_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "chromium-999/chrome-linux/chrome")
    newest = program(tmp_path / "chromium-1200/chrome-linux64/chrome")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert find_chromium(BrowserConfig()) == newest
    shell = program(tmp_path / "chromium_headless_shell-1200/chrome-linux/headless_shell")
    assert find_chromium(BrowserConfig()) == shell


def test_none_at_all_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    with pytest.raises(BrowserError, match=r"no Chromium found; install one with .*browser\.executable"):
        find_chromium(BrowserConfig())
    with pytest.raises(BrowserError, match=r"no Chromium that shows a window found; install .* chromium`"):
        find_chromium(BrowserConfig(headless=False))


async def test_a_wrong_executable_is_named_with_the_way_out() -> None:
    with pytest.raises(BrowserError, match=r"browser\.executable '/nonexistent' is not a program; .*install") as caught:
        async with BrowserPool(BrowserConfig(executable="/nonexistent"), MemoryImages()):
            pass
    assert "\n" not in str(caught.value)


async def test_a_program_that_is_no_browser_is_named(tmp_path: Path) -> None:
    fake = program(tmp_path / "fake")
    with pytest.raises(BrowserError, match="fake did not start") as caught:
        async with BrowserPool(BrowserConfig(executable=fake), MemoryImages()):
            pass
    assert "\n" not in str(caught.value)


async def test_where_sandboxes_are_forbidden_it_starts_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = find_chromium(BrowserConfig())
    picky = program(
        tmp_path / "picky",
        f'case "$*" in *--no-sandbox*) exec {real} "$@";; esac; echo "No usable sandbox!" >&2; exit 1',
    )
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    async with BrowserPool(BrowserConfig(executable=picky), MemoryImages()):
        pass
