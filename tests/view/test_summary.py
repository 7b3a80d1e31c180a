"""The closing table of a run."""

from __future__ import annotations

import io

from rich.console import Console

from webdojo.view.summary import summary


def test_stages_stand_in_the_order_of_the_story_and_missing_ones_are_left_out():
    result = {
        "success_rl": {"rate": 0.61, "ci95": [0.541, 0.675], "n": 200},
        "success_base": {"rate": 0.025, "ci95": [0.011, 0.057], "n": 200},
        "seed": 0,
    }
    console = Console(file=io.StringIO(), width=100)
    console.print(summary(result))
    assert isinstance(console.file, io.StringIO)
    rows = [line.split() for line in console.file.getvalue().splitlines() if "%" in line and "interval" not in line]
    assert rows == [
        ["Base", "2.5%", "1.1%", "..", "5.7%", "200"],
        ["After", "RL", "61.0%", "54.1%", "..", "67.5%", "200"],
    ]
