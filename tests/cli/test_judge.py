"""`webdojo judge …` as a user runs it."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest

from tests.cli.commands import loaded, one_line_error, start, webdojo
from tests.loops.judging.known import RECIPE, fill
from tests.loops.results.evaluated import evaluation_in
from webdojo.store.run import RunStore

MINE = """
import asyncio
from pathlib import Path

from webdojo.reward.function import RewardFunction
from webdojo.types import Reward


class Mine(RewardFunction):
    slow_after: int = 1000

    async def score(self, trajectory, images):
        calls = Path("calls")
        n = len(calls.read_text()) if calls.exists() else 0
        calls.write_text("." * (n + 1))
        if n >= self.slow_after:
            await asyncio.sleep(60)
        return Reward(value=1.0, success=True, reason="so be it")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with RunStore.create(tmp_path / "run", RECIPE, {}) as store:
        fill(store)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_an_audit_prints_tables_and_writes_what_programs_read(folder: Path) -> None:
    done = webdojo("judge", "audit", "run", "--judge", "./mine.py:Mine", "reward.max_concurrency=1", cwd=folder)
    assert done.returncode == 0, done.stderr
    for text in ("accuracy", "by difficulty", "by termination", "reward-hacking gap", "left out: 1 episode "):
        assert text in done.stdout
    assert "6 right accepts, 6 false accepts, 0 false rejects, 1 right rejects, 0 invalid" in done.stdout
    report = json.loads((folder / "run" / "judgements" / "mine-py-Mine-audit.json").read_text())
    calls = (folder / "calls").read_text()
    again = webdojo("judge", "audit", "run", "--judge", "./mine.py:Mine", "--json", "--out", "o/a.json", cwd=folder)
    assert (folder / "calls").read_text() == calls, "a verdict was asked for twice"
    shown = json.loads(again.stdout)
    assert shown["overall"] == report["overall"] and json.loads((folder / "o" / "a.json").read_text()) == shown


def test_an_audit_whose_verdicts_are_all_invalid_says_why(folder: Path) -> None:
    (folder / "mine.py").write_text(
        MINE.replace('success=True, reason="so be it"', 'success=True, valid=False, reason="no model"')
    )
    done = webdojo("judge", "audit", "run", "--judge", "./mine.py:Mine", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert re.search(r"why verdicts are invalid +verdicts\s[─\s]+no model +12\s", done.stdout), done.stdout


def test_a_judge_is_held_against_what_people_say(folder: Path) -> None:
    with RunStore.open(folder / "run", readonly=True) as store:
        ids = [row.id for row in store.rows()]
    labels = folder / "labels.jsonl"
    labels.write_text("".join(json.dumps({"id": id, "success": n < 3}) + "\n" for n, id in enumerate(ids[:5])))
    command: list[str | Path] = ["judge", "audit", "run", "--judge", "./mine.py:Mine", "--labels", labels]
    report = json.loads(webdojo(*command, "--json", cwd=folder).stdout)
    assert report["left_out"] == {"without a label": len(ids) - 5}
    assert (report["overall"]["counts"]["tp"] + report["overall"]["counts"]["fn"], report["overall"]["n"]) == (3, 5)
    labels.write_text(f'{{"id": "{ids[0]}", "success": true}}\n{{"id": "{ids[0]}", "success": 0}}\n')
    assert "line 2 of" in (told := one_line_error(webdojo(*command, cwd=folder))) and "contradicts" in told
    labels.write_text('{"id": "a"}')
    assert "line 1 of" in (told := one_line_error(webdojo(*command, cwd=folder))) and "is no label" in told
    assert "cannot be read" in one_line_error(webdojo(*command[:-1], folder / "none.jsonl", cwd=folder))


def test_a_run_is_judged_again_by_two(folder: Path) -> None:
    done = webdojo("judge", "run", "--judge", "rules", "--judge", "./mine.py:Mine", "--phase", "rl", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "rules, ./mine.py:Mine" in done.stdout and "0.031" in done.stdout
    named = webdojo("judge", "--judge", "rules", folder / "run", cwd=folder)
    assert named.returncode == 0 and "1.00 (1.00 .. 1.00)" in named.stdout
    assert "left out: 1 episode of a task that the judge cannot score" in named.stdout


def test_stress_prints_false_accepts_and_false_rejects(folder: Path) -> None:
    done = webdojo("judge", "stress", "run", "--judge", "./mine.py:Mine", "reward.max_concurrency=1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "must not be accepted" in done.stdout and "false rejects" in done.stdout
    assert "answer changed" in done.stdout and "100.0%" in done.stdout
    shown = webdojo("judge", "stress", "run", "--judge", "rules", "--limit", "5", "--json", cwd=folder)
    assert json.loads(shown.stdout)["false_accepts"]["successes"] == 0


def test_ctrl_c_keeps_what_was_judged(folder: Path) -> None:
    command = ["judge", "audit", "run", "--judge", "./mine.py:Mine", "reward.max_concurrency=1"]
    with start(*command, "reward.slow_after=3", cwd=folder) as process:
        for _ in range(300):
            if (folder / "calls").exists() and len((folder / "calls").read_text()) == 4:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted; what was judged is kept in run" in errors
    (log,) = (folder / "run" / "judgements").glob("mine*.jsonl")
    assert len(log.read_text().splitlines()) == 3
    assert not list((folder / "run" / "judgements").glob("*.json")), "there is a report of a part"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judge", "audit", "run", "--judge", "rulez"], "did you mean 'rules'"),
        (["judge", "audit", "run", "--judge", "rules", "env.kinds=[shop]"], "'env.kinds=[shop]' would do nothing"),
        (["judge", "nowhere", "--judge", "rules"], "nowhere does not exist"),
        (["judge", "stress", "run", "--judge", "rules", "--phase", "eval"], "no phase 'eval' in run"),
        (["judge", "distill", "run", "--judge", "rules", "--out", "o"], "name the student's protocol, such as reward="),
        (["judge", "distill", "run", "--judge", "rules", "--out", "o", "env.kinds=[shop]"], "does not use env.kinds"),
        (["judge", "distill", "run", "--judge", "rules", "--out", "o", "seed=3"], "use --seed"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    assert message in one_line_error(webdojo(*arguments, cwd=folder))
    assert not (folder / "run" / "judgements").exists()


def test_a_judge_is_needed(folder: Path) -> None:
    done = webdojo("judge", "run", cwd=folder)
    assert done.returncode == 2 and "name at least one: --judge rules" in done.stderr


def test_judging_by_rules_loads_no_torch(folder: Path) -> None:
    assert (
        loaded(folder, ["judge", "audit", "run", "--judge", "rules"]) & {"torch", "transformers", "playwright"} == set()
    )


def test_an_evaluation_is_judged_again_and_a_verdict_that_changes_is_told(tmp_path: Path) -> None:
    folder = evaluation_in(tmp_path / "run")
    done = webdojo("judge", "replay", "run", cwd=tmp_path)
    assert (done.returncode, "every verdict is the same" in done.stdout) == (0, True), done.stderr
    report = json.loads((folder / "judgements" / "rules-replay.json").read_text())
    assert report["again"] == report["was"]
    kit = (folder / "evaluation.json").read_text()
    (folder / "evaluation.json").write_text(kit.replace('"success": true', '"success": false', 1))
    done = webdojo("judge", "replay", "run/evaluation.json", cwd=tmp_path)
    assert (done.returncode, "verdicts that changed" in done.stdout) == (1, True), done.stderr
