"""What applications in PHP share, and what is said where packages of Debian are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from tests.envs.apps.notes import Notes
from webdojo.cli import app
from webdojo.envs.apps import php
from webdojo.envs.apps.application import Home
from webdojo.errors import Missing

SEALED = """
import importlib.util, socket, subprocess, sys
spec = importlib.util.spec_from_file_location("php", sys.argv[1])
php = importlib.util.module_from_spec(spec)
spec.loader.exec_module(php)
php.seal()
child = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
said = [subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stderr.splitlines()[-1]]
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
    try:
        socket.socket(family).close()
        said.append("open")
    except PermissionError:
        said.append("refused")
print("/".join(said))
"""


def test_a_sealed_process_and_its_children_have_no_sockets_but_local_ones() -> None:
    command = [sys.executable, "-c", SEALED, php.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    child, *own = done.stdout.strip().split("/")
    assert child == "PermissionError: [Errno 13] Permission denied"
    assert own == ["open", "refused", "refused", "refused"]


class Printed(Notes):
    name = "printed"
    debian: ClassVar[dict[str, str]] = {"sh-package": "/bin/sh", "no-such": "/no/such/*", "nor-this": "/nor/this"}


def test_missing_packages_of_debian_are_said_with_the_command_that_installs_them(tmp_path: Path) -> None:
    home = Home(Printed(), tmp_path)
    says = (
        "the application 'printed' needs the Debian packages no-such, nor-this, which are not on this machine; "
        "as root: apt-get install --no-install-recommends sh-package no-such nor-this"
    )
    for act in (home.check, home.install):
        with pytest.raises(Missing) as caught:
            act()
        assert str(caught.value) == says
    assert not home.is_installed


def test_the_command_line_says_what_a_missing_application_needs(tmp_path: Path) -> None:
    name = f"{__file__}:Printed"
    done = CliRunner().invoke(app, ["apps", "install", name, "--folder", str(tmp_path)])
    assert isinstance(done.exception, Missing)
    listed = CliRunner().invoke(app, ["apps", "list", "--folder", str(tmp_path)])
    assert "mediawiki: MediaWiki" in listed.output
