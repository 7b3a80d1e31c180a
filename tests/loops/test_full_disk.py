"""`webdojo train` on a disk that becomes full, with the real model and browser: its exit code and what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loops.conftest import SMALL

MOUNT = ["unshare", "--map-root-user", "--mount"]
ROOT = Path(__file__).parents[2]

INSIDE = """
import json, re, shlex, subprocess, sys

def webdojo(*arguments):
    command = [sys.executable, "-m", "webdojo.cli", *arguments]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"], check=True)
full = webdojo("train", "quickstart", *sys.argv[1:], "--run", "/mnt/run")
subprocess.run(["mount", "-o", "remount,size=1g", "/mnt"], check=True)
again = shlex.split(full.stderr.strip().splitlines()[-1].rpartition("go on with: webdojo ")[2])
done = webdojo(*again)
codes = [full.returncode, done.returncode]
print(json.dumps({"codes": codes, "again": again, "full": full.stderr, "done": done.stderr}))
"""


def test_training_on_a_full_disk_says_how_to_go_on(model_dir: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run([*MOUNT, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    options = [*SMALL, f"model.path={model_dir}", "sft.demos=0", "evaluate.tasks=1"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONPATH": f"{ROOT / 'src'}"}
    command = [*MOUNT, sys.executable, "-c", INSIDE, *options]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["codes"] == [2, 0], found
    assert found["again"] == ["train", "quickstart", "--run", "/mnt/run", "--resume"]
    assert "Traceback" not in found["full"]
    last = found["full"].strip().splitlines()[-1]
    message = r"error: cannot write .*/mnt/run.*: free space .*\. Everything stored before is kept\. Then go on with: "
    assert re.match(message, last), last
