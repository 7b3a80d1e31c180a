"""`docs/your-own.md` and `docs/your-own-environment.md`, executed in one folder: their files are written, and their
commands run, on an app that nobody here wrote and on one that keeps the state of each episode."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from webdojo.store.run import RunStore

ROOT = Path(__file__).parent.parent
PAGES = "\n".join((ROOT / "docs" / name).read_text() for name in ("your-own.md", "your-own-environment.md"))
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
ENVIRONMENT = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}


def test_someones_own_app_trains_evaluates_and_acts(tmp_path: Path) -> None:
    commands: list[str] = []
    for language, title, text in BLOCK.findall(PAGES):
        if title:
            (tmp_path / title).write_text(text)
        elif language == "bash":
            lines = [line for line in text.splitlines() if not line.startswith("pip install")]
            # The tiny model need not do the task: 1 says that it did not.
            commands += [f"{line} || [ $? = 1 ]" if line.startswith("webdojo act") else line for line in lines]
    assert len((tmp_path / "zoo_reward.py").read_text().splitlines()) <= 15
    assert len((tmp_path / "tasks.jsonl").read_text().splitlines()) == 10
    script = "set -euxo pipefail\n" + "\n".join(commands)
    with subprocess.Popen(
        ["bash", "-c", script], cwd=tmp_path, env=ENVIRONMENT, text=True, stdout=-1, stderr=-2, start_new_session=True
    ) as bash:
        try:
            output, _ = bash.communicate(timeout=540)
        finally:
            with contextlib.suppress(ProcessLookupError):  # Datasette runs in the background
                os.killpg(bash.pid, signal.SIGKILL)
    assert bash.returncode == 0, output
    with RunStore.open(tmp_path / "runs" / "zoo", readonly=True) as store:
        assert store.count()["rl"] >= 12
        rewards = [episode.reward for episode in store.trajectories("rl")]
        assert {reward.value for reward in rewards if reward is not None and reward.valid} - {0.0, -1.0}
        assert store.metrics("rl")[0]["effective_groups"] == 2
    for result in re.findall(r"^\{\n.*?^\}", output, re.MULTILINE | re.DOTALL):
        assert json.loads(result)["valid_n"] == 10
    assert "1.0 True True" in output, "the episode of Gymnasium, which marks a thing as done"
    assert not list((tmp_path / "todo").iterdir()), "an episode left its database behind"
