"""`scripts/setup.sh` on machines that lack something: what it says, and that it leaves nothing half-done."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that set-up reads, without a .venv."""
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/setup.sh", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def fake_python(folder: Path, version: str, supported: bool) -> Path:
    """A python of that version without the venv module."""
    file = folder / "python-fake"
    check = "exit 0" if supported else "exit 1"
    file.write_text(
        f"""#!/bin/bash
case "$*" in
  *"(3, 11) <="*) {check} ;;
  *ensurepip*) exit 1 ;;
  *python%d*) echo python{version}-venv ;;
  --version) echo Python {version}.0 ;;
esac
"""
    )
    file.chmod(0o755)
    return file


def setup(clone: Path, **environment: str) -> str:
    """Standard error of a set-up that must fail with one `setup: error` line."""
    command = ["bash", "scripts/setup.sh"]
    done = subprocess.run(
        command, cwd=clone, env=os.environ | environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert not (clone / ".venv").exists()
    assert done.stderr.strip().splitlines()[-1].startswith("setup: error: ")
    return done.stderr


def test_a_python_that_is_too_old(clone):
    message = setup(clone, PYTHON=str(fake_python(clone, "3.9", supported=False)))
    assert "Python 3.11, 3.12 or 3.13" in message
    assert "is Python 3.9.0" in message
    assert "make setup PYTHON=" in message


def test_a_python_that_is_not_there(clone):
    assert "nowhere-python is not there" in setup(clone, PYTHON="nowhere-python")


def test_a_python_without_venv_names_the_package_to_install(clone):
    # Without apt-get on PATH it cannot install the package itself, whoever runs it.
    tools = clone / "bin"
    tools.mkdir()
    for tool in ("bash", "cat", "dirname", "id", "head"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    message = setup(clone, PYTHON=str(fake_python(clone, "3.12", supported=True)), PATH=str(tools))
    assert "sudo apt-get install python3.12-venv" in message
