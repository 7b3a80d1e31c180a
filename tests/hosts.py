"""Network namespaces of this machine as hosts: each has an address of its own, and a cable to one switch."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest

SUBNET = "10.213.7"
CABLE = "cable"


@dataclass(frozen=True)
class Host:
    name: str
    """Of the namespace."""
    address: str

    @property
    def inside(self) -> list[str]:
        """The words before a command that runs there."""
        return ["ip", "netns", "exec", self.name]

    def cut(self) -> None:
        """Pull its cable: nobody reaches it any more, and it does not know."""
        _ip("-n", self.name, "link", "set", CABLE, "down")

    def kill(self) -> None:
        """Kill all that runs there."""
        for pid in _ip("netns", "pids", self.name).split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """So many hosts; skips the test where they cannot be made."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2: it makes network namespaces")
    switch = f"webdojo-{os.getpid()}-switch"
    made = [Host(f"webdojo-{os.getpid()}-{number}", f"{SUBNET}.{number}") for number in range(1, count + 1)]
    names = [switch, *(host.name for host in made)]
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip("-n", switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", switch, "link", "set", "switch", "up")
        for number, host in enumerate(made):
            port = f"port{number}"
            _ip("link", "add", CABLE, "netns", host.name, "type", "veth", "peer", "name", port, "netns", switch)
            _ip("-n", switch, "link", "set", port, "master", "switch", "up")
            _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", CABLE)
            for device in ("lo", CABLE):
                _ip("-n", host.name, "link", "set", device, "up")
    except subprocess.CalledProcessError as error:
        _remove(names)
        pytest.skip(f"this kernel or container makes no network namespaces: {error.stderr.strip()}")
    try:
        yield made
    finally:
        _remove(names)


def _remove(names: list[str]) -> None:
    for name in names:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
