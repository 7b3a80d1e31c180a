"""Exported traces, in Playwright's own viewer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, expect
from typer.testing import CliRunner

from tests.store.fabricate import page_image, trajectory, turn
from webdojo.cli import app
from webdojo.store.run import RunStore
from webdojo.types import Feedback, ToolCall

CLICK, WRITE = (
    ToolCall(name="click", arguments={"x": 250, "y": 500}),
    ToolCall(name="write", arguments={"text": "open-sesame"}),
)
NOWHERE = ToolCall(name="click", arguments={"x": "left", "y": 5})
FAILED = [
    Feedback(ok=True, text="click at (250, 500): field is focused"),
    Feedback(ok=False, text="write failed: full"),
]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an episode with a click, a call that fails, babble and a call that cannot be; and of one without a turn."""
    run = tmp_path_factory.mktemp("traces") / "run"
    with RunStore.create(run, "name: mine", {}) as store:
        screens = [page_image(store.images, 7, scroll=9 * step) for step in (0, 1, 1)]
        turns = [
            turn(screens[0], [CLICK], "The lamp is there."),
            turn(screens[1], [CLICK, WRITE], "Say the word.", feedback=FAILED),
            turn(screens[2], [], "Well.", error="no tool call"),
            turn(screens[2], [NOWHERE], "Where?"),
        ]
        made = trajectory("a", store.images, success=False, turns=turns, reason="the lamp is off", began=1e9)
        store.add_trajectory(made.model_copy(update={"secrets": ["open-sesame"]}), "eval_rl", 1)
        store.add_trajectory(trajectory("empty", store.images, turns=[]), "eval_rl", 1)
    done = CliRunner().invoke(app, ["runs", "export", str(run), "--format", "playwright"])
    assert done.stdout == f"1 trajectory in {run / 'playwright'}; left out 1 without a turn\n", done.output
    return run / "playwright"


@contextmanager
def shown(trace: Path) -> Iterator[str]:
    """The address at which Playwright shows a trace."""
    command = [sys.executable, "-m", "playwright", "show-trace", "--host", "127.0.0.1", "--port", "0", str(trace)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as viewer:
        assert viewer.stdout is not None
        try:
            yield next(line for line in viewer.stdout if "Listening on" in line).split()[-1]
        finally:
            os.killpg(viewer.pid, signal.SIGTERM)  # Playwright's command is a child of Python's


def test_playwrights_viewer_shows_calls_screens_and_the_verdict(traces: Path, browser: Browser) -> None:
    with shown(traces / "00000.zip") as address:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(address)
        actions = page.locator(".action-title")
        expect(actions).to_contain_text(
            ["click(250, 500)", "click(250, 500)", 'write("***")', "no call", 'click("left", 5)', "failure, reward 0"],
            timeout=60_000,
        )
        for number, told in ((0, "The lamp is there."), (5, "the lamp is off")):
            actions.nth(number).click()
            expect(page.get_by_text(told).first).to_be_visible()
        page.get_by_role("tab", name="Errors").click()
        expect(page.get_by_text("write failed: full").first).to_be_visible()
        actions.first.click()
        copy = page.frame_locator("iframe[name=snapshot]:visible")
        expect(copy.locator("img")).to_have_js_property("naturalWidth", 320)
        page.close()


def test_a_trace_holds_each_screenshot_once_and_no_secret(traces: Path) -> None:
    assert [file.name for file in traces.iterdir()] == ["00000.zip"]
    with ZipFile(traces / "00000.zip") as zipped:
        names = zipped.namelist()
        text = zipped.read("trace.trace").decode()
    assert names[:2] == ["trace.trace", "trace.network"] and len(names) == 2 + 3
    assert "sesame" not in text
    events = [json.loads(line) for line in text.splitlines()]
    assert sum('"IMG"' in json.dumps(event) for event in events) == 3
    assert [event["point"] for event in events if event["type"] == "input"] == [{"x": 80, "y": 128}] * 2
