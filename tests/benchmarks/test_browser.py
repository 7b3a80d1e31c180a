"""The browser benchmark: its ways carry out the same actions, and its record has the figures that it promises."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Script


@pytest.fixture
def browser(script: Script) -> ModuleType:
    return script("browser")


@pytest.mark.slow
def test_it_measures_both_ways_and_keeps_a_record(
    tmp_path: Path, browser: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(browser, "LEAST_STEPS", 2)
    monkeypatch.setattr(browser, "OPENINGS", 1)
    monkeypatch.setattr(browser.record, "RESULTS", tmp_path)
    command = "browser.py --json --sessions 1 2 --steps 2 --repeats 1 --pages static --ways default playwright_png"
    monkeypatch.setattr(sys, "argv", command.split())
    browser.main()
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed == json.loads((tmp_path / "browser.json").read_text())
    assert set(printed) == {"name", "commit", "machine", "headline", "rows"}
    assert list(tmp_path.iterdir()) == [tmp_path / "browser.json"], "the half-done record was left behind"

    rows = {(row["measure"], row["way"], row["sessions"]): row for row in printed["rows"]}
    for way in ("default", "playwright_png"):
        for sessions in (1, 2):
            row = rows["steps", way, sessions]
            assert (row["steps"], row["crashes"], row["lost_actions"]) == (2 * sessions, 0, 0), row
            assert row["screenshots_read"] >= sessions
            assert row["cpu_ms_step"] > 1 and row["cpu_ms_step_by_kind"]["renderer"] > 0
            assert row["processes_left"] == 0
        assert rows["new_session", way, 1]["new_session_ms"] > 1
    assert all(rows["steps", "default", n]["screenshots_late"] == 0 for n in (1, 2))

    headline = printed["headline"]
    assert headline["cpu_ms_default"] == rows["steps", "default", 2]["cpu_ms_step"]
    assert headline["x_playwright_png"] > 0
    one, two = (rows["steps", "default", n]["chromium_pss_mb"] for n in (1, 2))
    assert min(one, two) > 20, "pages shared with a Chromium of another test count in part"
    assert headline["pss_mb_per_session"] == pytest.approx(two - one, abs=0.1)
    assert headline["sessions_max"] == 2
    assert headline["new_session_ms"] == rows["new_session", "default", 1]["new_session_ms"]
    assert headline["cpu_ms_begin_frame"] is None and headline["x_browsergym"] is None


def test_a_figure_of_lost_actions_is_no_headline(browser: ModuleType) -> None:
    job = browser.Job("steps", "default", "static", "", 8, 12, "")
    found = {"steps_per_s": 9.0, "cpu_ms_step": 7.0, "chromium_pss_mb": 5.0, "crashes": 0, "lost_actions": 1}
    rows = browser.summarise([(job, found), (job, found | {"lost_actions": 0})])
    assert rows[0]["lost_actions"] == 1
    assert set(browser.headline(rows).values()) == {None}


def test_a_stopped_benchmark_goes_on_at_the_same_commit_only(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser.record, "RESULTS", tmp_path)
    part = browser.record.Part("browser")
    part.add({"done": 1})
    part.add({"done": 2})
    assert part.entries() == [{"done": 1}, {"done": 2}]
    monkeypatch.setattr(browser.record, "git_hash", lambda: "another")
    assert part.entries() == []
    assert not list(tmp_path.iterdir())
    part.add({"done": 3})
    part.end()
    assert not list(tmp_path.iterdir())


def test_a_run_counts_for_one_repeat(browser: ModuleType) -> None:
    job = browser.Job("steps", "default", "static", "http://127.0.0.1:1/static", 8, 12, "chromium")
    runs = [(job, {"steps_per_s": 9.0})]
    elsewhere = browser.replace(job, url="http://127.0.0.1:2/static")
    assert browser.take(runs, browser.replace(job, sessions=4)) is None
    assert browser.take(runs, elsewhere) == {"steps_per_s": 9.0}
    assert browser.take(runs, elsewhere) is None


def test_a_row_is_the_median_with_its_spread_and_says_what_failed(browser: ModuleType) -> None:
    job = browser.Job("steps", "default", "static", "", 1, 12, "")
    found = [{"cpu_ms_step": cpu, "crashes": 1} for cpu in (70.0, 50.0, 90.0)]
    (row,) = browser.summarise([*((job, each) for each in found), (job, {"failed": "exit code 1"})])
    assert (row["cpu_ms_step"], row["spread"]["cpu_ms_step"]) == (70.0, [50.0, 90.0])
    assert (row["crashes"], row["repeats"], row["failed"]) == (3, 3, ["exit code 1"])


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (["/usr/lib/chromium/chromium-headless-shell", "--headless"], "browser"),
        (["/usr/lib/chromium/chromium --type=renderer --no-sandbox"], "renderer"),
        (["chromium", "--type=utility", "--utility-sub-type=network.mojom.NetworkService"], "network"),
        (["chromium", "--type=gpu-process"], "gpu"),
        (["/x/playwright/driver/node", "cli.js"], "driver"),
        (["/usr/bin/python3.11", "browser_run.py"], "python"),
        (["/bin/sh", "-e", "/usr/bin/chromium-headless-shell"], "other"),
        ([], "other"),
    ],
)
def test_processes_are_told_apart(command: list[str], kind: str, script: Script) -> None:
    assert script("process_tree").kind_of(command) == kind
