"""`webdojo analyze` as a user runs it, on real episodes: the oracle's, and of an agent that gives up at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import one_line_error, webdojo
from tests.loops.judging.oracle_run import make_oracle_run
from webdojo.loops.analysis.questions import QUESTIONS


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "oracle"
    make_oracle_run(folder, 6, 3)
    return folder


def test_every_question_is_answered_without_a_warning(run: Path, tmp_path: Path) -> None:
    done = webdojo("analyze", run, "--out", tmp_path / "analysis")
    assert (done.returncode, done.stderr) == (0, "")
    printed = " ".join(done.stdout.split())
    for question in QUESTIONS:
        assert question.title in printed
    assert f"page: {tmp_path / 'analysis' / 'analysis.html'}" in printed
    written = {file.name for file in (tmp_path / "analysis").iterdir()}
    assert {"lengths.parquet", "lengths-steps.svg", "lengths-steps.png", "tables.txt"} <= written


def test_programs_get_what_they_ask_for(run: Path) -> None:
    done = webdojo("analyze", run, "--json", "--question", "errors", "--question", "difficulty", "--phase", "rl")
    found = json.loads(done.stdout)
    assert list(found) == ["errors", "difficulty"]
    assert sum(row["episodes"] for row in found["errors"]["rows"]) == 3
    assert sum(row["episodes"] for row in found["difficulty"]["rows"]) == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs/nowhere"], "does not exist"),
        (["RUN", "--question", "length"], "no question 'length': choose among lengths"),
        (["RUN", "--phase", "sft"], "no phase 'sft'"),
    ],
)
def test_a_mistake_is_one_line(run: Path, arguments: list[str], message: str) -> None:
    done = webdojo("analyze", *(str(run) if each == "RUN" else each for each in arguments))
    assert message in one_line_error(done)
