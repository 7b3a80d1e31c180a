"""A release as its users get it: built, installed beside its dependencies alone, and used away from the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.test_readme import SHORT
from webdojo.version import __version__

ROOT = Path(__file__).parent.parent
LARGEST = 10_000_000
"""Bytes of the wheel and of the sdist; CONTRIBUTING.md tells the same."""
SYSTEM_PATH = os.pathsep.join(
    folder for folder in os.environ["PATH"].split(os.pathsep) if not (Path(folder) / "webdojo").exists()
)


def run(*command: str | Path, cwd: Path, path: str = SYSTEM_PATH, timeout_s: float = 900) -> str:
    """Standard output of a command that sees neither the checkout nor its environment; fails unless it succeeds."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"PATH": path, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "venv", folder / "tools", cwd=folder)
    python = folder / "tools" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "build", cwd=folder)
    run(python, "-m", "build", ROOT, "--outdir", folder / "dist", cwd=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return built / f"webdojo-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the wheel, whose dependencies lie where those of this one do."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "--no-deps", wheel, cwd=folder.parent)
    (purelib,) = folder.glob("lib/python*/site-packages")
    (purelib / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return folder / "bin"


def webdojo(bare: Path, cwd: Path, *arguments: str) -> str:
    return run(bare / "webdojo", *arguments, cwd=cwd, path=f"{bare}{os.pathsep}{SYSTEM_PATH}")


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: Path, wheel: Path) -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/webdojo"]
    tracked = {line.removeprefix("src/") for line in run(*listed, cwd=ROOT).splitlines()}
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    about = {name for name in packed if name.startswith(f"webdojo-{__version__}.dist-info/")}
    assert packed - about == tracked
    assert {name.partition("/")[2] for name in about} >= {"METADATA", "entry_points.txt", "licenses/LICENSE"}
    assert {
        *("webdojo/py.typed", "webdojo/recipes/quickstart.yaml", "webdojo/policy/weights/tiny/model.safetensors"),
        *("webdojo/sites/static/fonts/jetbrains-mono-latin-700-normal.woff2", "webdojo/store/schema.sql"),
    } <= packed
    with tarfile.open(built / f"webdojo-{__version__}.tar.gz") as archive:
        top = {name.split("/")[1] for name in archive.getnames()}
    ours = {"src", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "pyproject.toml"}
    assert top == ours | {"PKG-INFO", ".gitignore"}


def test_a_download_is_as_small_as_is_told(built: Path) -> None:
    sizes = {file.name: file.stat().st_size for file in built.iterdir()}
    assert len(sizes) == 2 and max(sizes.values()) < LARGEST, sizes
    assert f"{LARGEST // 1_000_000} MB" in (ROOT / "CONTRIBUTING.md").read_text()


def test_the_installed_package_is_the_wheels_and_lacks_no_dependency(bare: Path, tmp_path: Path) -> None:
    code = "import importlib.metadata as m, webdojo; print(webdojo.__file__, m.version('webdojo'))"
    file, version = run(bare / "python", "-c", code, cwd=tmp_path).split()
    assert Path(file).is_relative_to(bare.parent) and version == __version__
    checked = subprocess.run([bare / "python", "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert "webdojo" not in checked.stdout, checked.stdout
    assert webdojo(bare, tmp_path, "--version").split() == ["webdojo", __version__]


def test_the_quickstart_trains_away_from_the_checkout(bare: Path, tmp_path: Path) -> None:
    assert shutil.which("webdojo", path=SYSTEM_PATH) is None
    assert "fail" not in webdojo(bare, tmp_path, "doctor")
    assert "name: quickstart" in webdojo(bare, tmp_path, "train", "quickstart", "--dry-run")
    assert not (tmp_path / "runs").exists()
    assert "After RL" in webdojo(bare, tmp_path, "train", "quickstart", *SHORT)
    result = json.loads((tmp_path / "runs" / "quickstart" / "result.json").read_text())
    assert result["success_rl"]["n"] == 2 and result["versions"]["webdojo"] == __version__
