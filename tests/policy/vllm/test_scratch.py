"""The folder of an engine's weights is gone after its end, or after the next engine's beginning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from webdojo.policy.vllm.server import Scratch

KILLED = """
import os, signal, sys
from webdojo.policy.vllm.server import Scratch

scratch = Scratch(sys.argv[1])
(scratch.path / "weights-1").mkdir()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_engine_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path) -> None:
    living = Scratch(str(tmp_path))
    (tmp_path / "webdojo-vllm-mine").mkdir()
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = [path for path in tmp_path.iterdir() if (path / "weights-1").exists()]
    after = Scratch(str(tmp_path))
    assert not left.exists()
    assert {path.name for path in tmp_path.iterdir()} == {living.path.name, after.path.name, "webdojo-vllm-mine"}
    living.remove()
    after.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["webdojo-vllm-mine"]
