"""What an application of the environment `apps` is, and how it gets and keeps its data.

An application is installed once, from package registries and with fixed versions, into a Python environment of its own
under a cache folder; one that is not written in Python is in packages of Debian, which only root can install. Its world
is a pure function of a seed, and is written once a seed through the application's own models; an episode gets a copy of
what came out. Whatever of this changes gets a new folder, so that no old data is used for new tasks.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from webdojo.browser.config import StorageState
from webdojo.envs.apps.changes import Change, changes
from webdojo.envs.apps.goal import Template
from webdojo.errors import Missing, SiteError

INSIDE = Path(__file__).with_name("inside.py")
DATABASE, LOGINS = "db.sqlite3", "logins.json"
DEFAULT_FOLDER = Path("~/.cache/webdojo/apps")


class Application(ABC):
    """One application. Derive a class in a folder of its own, with `requirements.txt` and `inside.py` beside it."""

    name: ClassVar[str]
    """In the names of its hosts, `NAME-17.localhost`, and on the command line."""
    about: ClassVar[str]
    """What it is, in a few words."""
    folder: ClassVar[Path]
    """Where its files are."""
    noise: ClassVar[Collection[str]] = ()
    """Tables and columns whose changes mean nothing: sessions, times, statistics (`changes.changes`)."""
    debian: ClassVar[Mapping[str, str]] = {}
    """The packages of Debian that it needs, in the order that `apt-get` gets them, each with a pattern of a file that
    it brings."""
    sources: ClassVar[Collection[Path]] = ()
    """Files that its data comes from, besides `requirements.txt`, `inside` and the packages of Debian."""
    templates: ClassVar[Mapping[str, Template]]
    """Its tasks: each draws goals of one sort from a world."""

    @abstractmethod
    def world(self, seed: int) -> dict[str, Any]:
        """The records of a seed, as plain JSON, for the templates and for `seed` of `inside.py`."""

    @cached_property
    def kept_world(self) -> Callable[[int], dict[str, Any]]:
        """As `world`, of which those of the last seeds are kept."""
        return lru_cache(maxsize=32)(self.world)

    def sign_in(self, seed: int) -> str:
        """How a person logs in by hand, in a few words; empty where there is no need."""
        return ""

    def host(self, seed: int) -> str:
        return f"{self.name}-{seed}.localhost"

    @property
    def lacking(self) -> list[str]:
        """The packages of Debian that it needs and that are not there."""
        return [package for package, pattern in self.debian.items() if not _found(pattern)]

    @property
    def apt(self) -> str:
        """The command by which root installs its packages of Debian."""
        return f"apt-get install --no-install-recommends {' '.join(self.debian)}"

    @property
    def requirements(self) -> Path:
        """What pip installs: every package with its version."""
        return self.folder / "requirements.txt"

    @property
    def inside(self) -> Path:
        """The module with `install`, `seed` and `application` that the Python of the application runs: `inside.py`, or
        the package `inside`."""
        package = self.folder / "inside" / "__init__.py"
        return package if package.exists() else self.folder / "inside.py"


@dataclass(frozen=True)
class Home:
    """Where an application is installed, and the data made for it there."""

    application: Application
    cache: Path

    @cached_property
    def environment(self) -> Path:
        """Its Python environment."""
        return self.cache.expanduser() / self.application.name / f"env-{_digest(self.application.requirements)}"

    @cached_property
    def data(self) -> Path:
        """Data that this version of its code has made."""
        packages = [file for pattern in self.application.debian.values() for file in _found(pattern) if file.is_file()]
        files = [self.application.requirements, self.application.inside, INSIDE, *self.application.sources, *packages]
        own = _digest(*files)
        return self.cache.expanduser() / self.application.name / f"data-{own}"

    @property
    def base(self) -> Path:
        """The empty database, `static` with the static files, and `shared` with what all visits read."""
        return self.data / "base"

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def is_installed(self) -> bool:
        packages = not self.application.lacking
        return packages and (self.environment / "installed").exists() and self.base.is_dir()

    def check(self) -> None:
        """Raise Missing where the application is not installed."""
        self.check_packages()
        if not self.is_installed:
            name = self.application.name
            raise Missing(f"the application {name!r} is not installed in {self.cache}: webdojo apps install {name}")

    def check_packages(self) -> None:
        """Raise Missing where packages of Debian are not installed."""
        if lacking := self.application.lacking:
            one = f"the Debian package {lacking[0]}, which is"
            what = one if len(lacking) == 1 else f"the Debian packages {', '.join(lacking)}, which are"
            name, command = self.application.name, self.application.apt
            raise Missing(f"the application {name!r} needs {what} not on this machine; as root: {command}")

    def install(self, say: Callable[[str], None] = lambda line: None) -> None:
        """Install it, unless it is: as an ordinary user, from the registry that pip is set up for.

        Raises:
            Missing: it needs packages of Debian that are not there.
            SiteError: pip or the application failed; the message has what it said last.
        """
        self.check_packages()
        if not (self.environment / "installed").exists():
            say(f"making a Python environment in {self.environment}")
            _run([sys.executable, "-m", "venv", "--clear", self.environment])
            say(f"installing {self.application.about}")
            _run([self.python, "-m", "pip", "install", "--quiet", "--requirement", self.application.requirements])
            (self.environment / "installed").touch()
        if not self.base.is_dir():
            say("making its empty database")
            self._make(self.base, "install")
        say(f"{self.application.name} is installed")

    def snapshot(self, seed: int) -> Path:
        """The folder with the database of a world, made on first use; `webdojo apps` never changes it afterwards."""
        world = self.application.kept_world(seed)
        given = json.dumps(world, sort_keys=True)
        folder = self.data / f"seed-{seed}-{hashlib.sha256(given.encode()).hexdigest()[:8]}"
        if not folder.is_dir():
            self.check()
            self._make(folder, "seed", given)
        return folder

    def _make(self, folder: Path, command: str, given: str = "") -> None:
        """Make a folder by a command of `inside.py`; it is there as a whole or not at all."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix="making-") as made:
            if command == "seed":
                shutil.copytree(self.base, made, ignore=shutil.ignore_patterns("static", "shared"), dirs_exist_ok=True)
            _run([*self.command, command], Path(made), given)
            (Path(made) / "media").mkdir(exist_ok=True)
            if not folder.is_dir():  # another process may have been faster
                Path(made).rename(folder)
                Path(made).mkdir()

    @property
    def command(self) -> list[str | Path]:
        """Runs `inside.py` of the application, which finds no module but those of its environment."""
        return [self.python, "-I", INSIDE, self.application.inside]

    def storage_state(self, snapshot: Path, role: str, host: str) -> StorageState:
        """The session of somebody who has logged in; nobody's for an empty role."""
        cookies = json.loads((snapshot / LOGINS).read_text())[role] if role else []
        more = {"domain": host, "path": "/", "expires": -1, "httpOnly": True, "secure": False, "sameSite": "Lax"}
        return {"cookies": [{**cookie, **more} for cookie in cookies], "origins": []}

    def changes(self, snapshot: Path, folder: Path) -> list[Change]:
        """What a visit in a folder has changed."""
        return changes(snapshot / DATABASE, folder / DATABASE, self.application.noise)


def _found(pattern: str) -> list[Path]:
    """The files of this machine that fit a pattern of an absolute path."""
    return sorted(Path(found) for found in glob(pattern))


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def _run(command: list[str | Path], folder: Path | None = None, given: str = "") -> None:
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise SiteError(f"{' '.join(map(str, command))} failed: {' / '.join(said[-4:])}")
