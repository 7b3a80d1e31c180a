"""`docs/one-gpu.md` and `docs/eight-gpus.md`, executed as dry runs without a GPU: files are written, commands run,
outputs compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["one-gpu.md", pytest.param("eight-gpus.md", marks=pytest.mark.slow)])
def test_the_plan_is_what_the_page_shows(page: str, tmp_path: Path) -> None:
    # No GPU of this machine, which would be planned with instead, and no hub.
    environment = os.environ | {
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HOME": str(tmp_path),
        "HF_ENDPOINT": "http://127.0.0.1:9",
    }
    printed = ""
    for language, title, text in BLOCK.findall((DOCS / page).read_text()):
        if title:
            (tmp_path / title).write_text(text)
        elif language == "bash":
            _, *arguments = shlex.split(text)
            dry = [] if "--dry-run" in arguments else ["--dry-run"]
            command = [sys.executable, "-m", "webdojo.cli", *arguments, *dry]
            done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            printed = done.stdout
        else:
            for line in text.splitlines():
                assert f"# {line}\n" in printed
