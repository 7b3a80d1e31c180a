"""The tables that commands print: success by stage, and where the time of online training went."""

from __future__ import annotations

import io
import time
from typing import Any

from rich.console import Console, RenderableType

from webdojo.evaluation.comparison import Measured, Outcome, compare
from webdojo.view.comparing import comparison_tables
from webdojo.view.tables import COLUMNS, SLOTS, episode_list, overview, sections, success_table, time_table

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


# --- in 80 columns -----------------------------------------------------------------------------


def narrow(*tables: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=80)
    for table in tables:
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_names_of_runs_and_their_recipes_stay_whole_in_a_narrow_terminal():
    def run(name: str, recipe: str) -> dict[str, Any]:
        counts = {"iteration": 12, "iterations": 18, "success": 0.53, "measured": False, "episodes": 4866}
        whole = {"bytes": 330_400_000, "created": time.time() - 900_000}
        return {"run": f"runs/{name}", "recipe": recipe, "state": "finished", **counts, **whole}

    shown = narrow(overview([run("eval-openwebrl-dojo-2", "openwebrl-dojo"), run("mine", "openwebrl-dojo")]))
    lines = [line.split() for line in shown.splitlines() if "openwebrl" in line or "mine" in line]
    row = ["finished", "12/18", "53.0%*", "4,866", "330", "MB", "250h"]
    assert lines == [["runs/eval-openwebrl-dojo-2", *row], ["runs/mine", *row], ["by", "openwebrl-dojo"]]


def test_all_columns_of_the_iterations_stay_whole_in_a_narrow_terminal():
    told = dict.fromkeys([name for name, *_ in COLUMNS], 0.25)
    told |= {"step": 128, "seconds_total": 3800, "reward": -0.125}
    none = dict.fromkeys(("results", "checkpoints", "episodes"))
    facts = dict.fromkeys(("run", "state", "recipe", "seed", "model", "created", "command", "git"), "x")
    shown = {"machine": {}, "versions": {}, "resumed": [], "seconds": {}, "iterations": 0, "bytes": 0}
    lines = narrow(*sections(facts | none | shown | {"metrics": [told]})).splitlines()
    assert ["iter", *(heading for _, heading, _ in COLUMNS)] in [line.split() for line in lines]
    assert "128   25.0% -0.125" in lines[-2] and "1h 03m" in lines[-2]


def test_the_phase_of_episodes_takes_no_column():
    def episode(phase: str) -> dict[str, Any]:
        said = {"task": "Find it", "termination": "completed", "reason": "not so", "reward": 0.0, "valid": True}
        return {"name": "604cc0296ffd-0", "phase": phase, "iteration": 3, "steps": 2, **said}

    assert "phase rl 3, the last 2 of 9 episodes" in narrow(episode_list([episode("rl")] * 2, 9))
    mixed = narrow(episode_list([episode("rl"), episode("eval_rl")], 2)).splitlines()
    assert [line.strip() for line in mixed if line.strip() in ("rl 3", "eval_rl 3")] == ["rl 3", "eval_rl 3"]


def test_policies_that_are_compared_are_named_whole_in_a_narrow_terminal():
    names = [f"runs/eval-openwebrl-dojo-{number}" for number in (1, 2, 3)]
    first, *others = [Measured(name=name, outcomes=[Outcome(task_id="t", success=True, valid=True)]) for name in names]
    shown = narrow(*comparison_tables([first, *others], [compare(first, other) for other in others]))
    words = " ".join(shown.split())
    for other in others:
        assert f"{other.name} against {first.name}, on the same tasks of episodes difference" in words
    assert [line.split()[0] for line in shown.splitlines() if line.startswith(" runs/")] == names
