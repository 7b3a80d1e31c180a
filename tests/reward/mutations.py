"""Forty wrong evaluators, each one line away from the right one: operators, thresholds, readers' rules, dialects.

`python tests/reward/mutations.py` puts one after the other into a copy of the package and runs the tests of rewards on
it; a mutation that they do not notice is printed, and the exit code is 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
TESTS = ["tests/reward/judges", "tests/reward/test_reward.py"]
LEFT_OUT = ["endpoint", "hostile_page", "tiny_judge"]
"""Modules of `tests/reward/judges` that are not fast."""


class Mutation(NamedTuple):
    file: str
    """In `webdojo/reward`."""
    right: str
    """Stands there once."""
    wrong: str


MUTATIONS = [
    # --- how answers are read
    Mutation("judges/verdict.py", '"NOT SUCCESS": False}', '"NOT SUCCESS": False, "UNSUCCESSFUL": True}'),
    Mutation(
        "judges/verdict.py",
        "return choices.get(chosen)",
        "return choices.get(chosen.split()[-1] if chosen else chosen)",
    ),
    Mutation("judges/verdict.py", "for line in reversed(lines) if line", "for line in lines if line"),
    Mutation("judges/verdict.py", "!= label.lower()", "== choices"),
    Mutation(
        "judges/verdict.py", 'return "" if rest.lstrip().startswith(_THOUGHTS) else rest.strip()', "return rest.strip()"
    ),
    Mutation("judges/verdict.py", "text.rpartition(_THOUGHTS_END)[2]", "text.partition(_THOUGHTS_END)[2] or text"),
    Mutation("judges/verdict.py", 'for line in said(text).split("\\n")]', "for line in said(text).splitlines()]"),
    Mutation("judges/verdict.py", "if len(found) != len(pairs):", "if len(found) > len(pairs):"),
    Mutation("judges/verdict.py", ".rpartition(_FENCE)[2]", ".partition(_FENCE)[2]"),
    Mutation("judges/verdict.py", 'return body.rpartition("\\n")[0].strip()', "return body.strip()"),
    # --- what a judge is shown
    Mutation("judges/case.py", 'r"[<\\x7f', 'r"[\\x7f'),
    Mutation("judges/case.py", "if self.screens and self.screens[-1].image == last.image:", "if self.screens:"),
    Mutation("judges/case.py", "number in steps]", "number not in steps]"),
    Mutation("judges/case.py", "shown = redact(trajectory, trajectory.secrets)", "shown = trajectory"),
    Mutation(
        "judges/case.py", 'line += f" format_error={quoted(step.error)}"', 'line += f" format_error={step.error}"'
    ),
    # --- whose doing it is
    Mutation("judges/blame.py", "trajectory.turns[good[-1] :]", "trajectory.turns[good[-1] + 1 :]"),
    Mutation("judges/blame.py", "trajectory.turns[good[-1] :]", "trajectory.turns[good[0] :]"),
    Mutation("judges/blame.py", "return not (seen.blocked or seen.dead)", "return not seen.blocked"),
    Mutation("judges/blame.py", "not in own)", "in own)"),
    Mutation("judges/blame.py", '([^/?#\\s]+)"', '([^/:?#\\s]+)"'),
    # --- what all judges share
    Mutation(
        "judges/judge.py",
        "screens[-self.max_images :] if self.max_images",
        "screens[: self.max_images] if self.max_images",
    ),
    Mutation("judges/hearing.py", "for _ in range(2):", "for _ in range(3):"),
    Mutation("judges/hearing.py", 'reward = invalid("unreadable", str(error))', "reward = failed(str(error))"),
    Mutation("judges/judge.py", "max(image.width, image.height) > most", "min(image.width, image.height) > most"),
    # --- the protocols
    Mutation("judges/webvoyager.py", 'return failed("no answer")', 'return passed("no answer")'),
    Mutation("judges/webjudge.py", "if score >= self.score_threshold", "if score > self.score_threshold"),
    Mutation("judges/webjudge.py", "kept[: self.max_images]", "kept[-self.max_images :]"),
    Mutation("judges/webjudge.py", "range(1, 6)", "range(0, 6)"),
    Mutation("judges/agenttrek.py", "case.history(thoughts=True)", "case.history()"),
    Mutation("judges/deepshop.py", "if not value]", "if value is None]"),
    Mutation("judges/deepshop.py", 'not in ("", "None")', 'not in ("",)'),
    Mutation("judges/webgym.py", "if kept), last]", "if kept)]"),
    Mutation("judges/webgym.py", "if not supported:", "if supported is None:"),
    Mutation("judges/webgym.py", "if reference and await _is_right", "if reference and not await _is_right"),
    Mutation("judges/rubric.py", 'return facts or [Fact("", task.instruction)]', "return facts"),
    Mutation("judges/process_outcome.py", 'if outcome == "prevented" and beyond:', 'if outcome == "prevented":'),
    Mutation("judges/process_outcome.py", "score.score < 1 and score.blame", "score.blame"),
    # --- the gate
    Mutation("gate.py", "if malformed is not None and format_reward:", "if malformed is not None:"),
    Mutation("gate.py", "if not verdict.valid:", "if verdict.valid and not unfinished_because:"),
    Mutation("gate.py", "excused = function.excuse(trajectory)", "excused = None"),
]


def killed(mutation: Mutation) -> bool:
    """Whether the tests notice a mutation."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / "webdojo" / "reward" / mutation.file
        text = file.read_text()
        assert text.count(mutation.right) == 1, f"{mutation} stands there {text.count(mutation.right)} times"
        file.write_text(text.replace(mutation.right, mutation.wrong))
        ignored = [f"--ignore=tests/reward/judges/test_{name}.py" for name in LEFT_OUT]
        words = [sys.executable, "-m", "pytest", *TESTS, *ignored, "-x", "-q", "-p", "no:cacheprovider"]
        run = subprocess.run(
            words, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}, capture_output=True
        )
        assert run.returncode in (0, 1, 2), run.stdout.decode()[-2000:]
        return run.returncode != 0


if __name__ == "__main__":
    survivors = [mutation for mutation in MUTATIONS if not killed(mutation)]
    for each in survivors:
        print(f"not noticed: {each.file}: {each.right} -> {each.wrong}")
    print(f"{len(MUTATIONS) - len(survivors)} of {len(MUTATIONS)} wrong evaluators were noticed")
    sys.exit(bool(survivors))
