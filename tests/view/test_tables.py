"""The tables that commands print: success by stage, and where the time of online training went."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from webdojo.view.tables import SLOTS, success_table, time_table

SHARES = {f"slot_{name}": 0.0 for name in SLOTS} | {"slot_engine": 0.8, "slot_act": 0.2}


def success_lines(result: dict[str, Any]) -> list[list[str]]:
    """The words of the heading, and of each row."""
    console = Console(file=io.StringIO(), width=100)
    console.print(success_table(result))
    assert isinstance(console.file, io.StringIO)
    return [line.split() for line in console.file.getvalue().splitlines() if "%" in line]


def test_stages_stand_in_the_order_of_the_story_and_missing_ones_are_left_out():
    result = {
        "success_rl": {"rate": 0.61, "ci95": [0.541, 0.675], "n": 200},
        "success_base": {"rate": 0.025, "ci95": [0.011, 0.057], "n": 200},
        "seed": 0,
    }
    heading, *rows = success_lines(result)
    assert "interval" in heading
    assert rows == [
        ["Base", "2.5%", "1.1%", "..", "5.7%", "200"],
        ["After", "RL", "61.0%", "54.1%", "..", "67.5%", "200"],
    ]


def test_episodes_that_the_web_failed_are_told_beside_the_rate():
    result = {"success_eval": {"rate": 0.5, "ci95": [0.2, 0.8], "n": 10, "valid_n": 7}}
    heading, model = success_lines(result)
    assert (heading[-1], model[-2:]) == ("invalid", ["10", "3"])


def test_several_episodes_of_a_task_are_not_called_tasks():
    result = {"success_eval": {"rate": 0.5, "ci95": [0.2, 0.8], "n": 30, "tasks": 10}}
    heading, model = success_lines(result)
    assert (heading[-1], model[-1]) == ("episodes", "30")


def test_each_section_is_all_of_its_time_and_longer_iterations_weigh_more():
    long = {"seconds_total": 30.0, "seconds_wait": 15.0, "seconds_update": 11.0, "slots_busy": 0.8, **SHARES}
    short = {"seconds_total": 10.0, "seconds_wait": 5.0, "seconds_update": 5.0, "slots_busy": 0.4}
    long |= {"bytes_record": 1200.0, "bytes_screenshots": 34_000.0, "bytes_screenshots_again": 500.0}
    console = Console(file=io.StringIO(), width=100)
    console.print(time_table([long, short]))
    assert isinstance(console.file, io.StringIO)
    text = (line.strip() for line in console.file.getvalue().splitlines())
    lines = {line.partition("  ")[0]: line.split() for line in text}
    assert lines["waiting for groups"][-3:] == ["50", "%", "20s"]
    assert lines["updates"][-3:] == ["40", "%", "16s"]
    # 28 of 40 seconds a slot was busy.
    assert lines["engine"][-2:] == ["56", "%"]
    assert lines["browser acting"][-2:] == ["14", "%"]
    assert lines["free"][-2:] == ["30", "%"]
    assert lines["record"][-2:] == ["1.2", "kB"]
    assert lines["new screenshots"][-2:] == ["34.0", "kB"]
