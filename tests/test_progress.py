import io

import pytest
from rich.console import Console

from webdojo.progress import Progress, duration, plural, progress


def run(terminal: bool, total: int | None = 4, **options) -> str:
    out = io.StringIO()
    with progress("SFT", total, console=Console(file=out, force_terminal=terminal, width=110), **options) as bar:
        for k in range(4):
            bar.advance(1, loss=0.5 - k / 10, note="[bold]")
    return out.getvalue()


def test_log_file_gets_plain_lines_now_and_then():
    assert run(False, every_s=3600).count("\n") == 1
    lines = run(False, every_s=0).splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("SFT: 2/4 (50 %)  0s gone  ")
    assert " left  loss=0.4 note=[bold]" in lines[1]
    assert "\x1b" not in "".join(lines)


def test_what_was_done_before_says_nothing_about_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("webdojo.progress.time.monotonic", lambda: now)
    bar = Progress("collect", 100)
    bar.found(90)
    now = 10.0
    assert (bar.done, bar.pace()) == (90, "")
    bar.advance(2)
    assert bar.pace() == "5.0 s each, 40s left"


def test_work_that_reports_by_itself_leaves_nothing_behind():
    assert run(False, stays=False) == ""
    assert len(run(False, every_s=0, stays=False).splitlines()) == 4
    assert run(True, stays=False).endswith("\x1b[1A\x1b[2K")


def test_terminal_gets_a_bar_with_count_and_figures():
    shown = run(True)
    assert "4/4" in shown
    assert "loss=0.2" in shown
    assert "[bold]" in shown


def test_unknown_total_shows_the_count_alone():
    assert "SFT: 4  " in run(False, total=None)
    assert "left" not in run(False, total=None)


def test_durations_for_people():
    assert [duration(s) for s in (8.4, 200, 7500)] == ["8s", "3m 20s", "2h 05m"]


def test_one_is_no_plural():
    assert [plural(number, "episode") for number in (0, 1, 1200)] == ["0 episodes", "1 episode", "1,200 episodes"]
