"""Checks of what a run needs from this machine, each with the remedy if it fails.

A failed check means that no run works; a warning costs speed or concerns some pages only. The
browser check does all that a run does: site server, Chromium, a context, a screenshot.
"""

from __future__ import annotations

import asyncio
import io
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil
from PIL import Image
from rich import box
from rich.table import Table
from rich.text import Text

from webdojo.browser.config import BrowserConfig
from webdojo.browser.find import find_chromium
from webdojo.browser.pool import BrowserPool
from webdojo.errors import BrowserError, ModelError
from webdojo.sites import host_of
from webdojo.sites.serving.server import SiteServer
from webdojo.store.images import MemoryImages

GIB = 2**30
SANDBOX_SWITCHES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "user.max_user_namespaces": ("0", "10000"),
}
"""Kernel settings, each with the value that breaks Chromium's sandbox and one that allows it."""


class Status(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One row of the table."""

    name: str
    status: Status
    found: str
    todo: str = ""

    @property
    def failed(self) -> bool:
        return self.status is Status.FAIL


def examine() -> list[Check]:
    """Run all checks, each after those that it depends on; takes a few seconds."""
    checks: list[Callable[[], Check]] = [python, torch, transformers, tiny_model, chromium, browser, sandbox]
    checks += [shared_memory, memory, disk, fonts]
    return [check() for check in checks]


def table(checks: list[Check]) -> Table:
    """The checks as a table for people, with what to do about each problem."""
    colours = {Status.OK: "green", Status.WARN: "yellow", Status.FAIL: "bold red"}
    out = Table(title="webdojo doctor", box=box.SIMPLE_HEAD, title_justify="left")
    out.add_column("check", no_wrap=True)
    out.add_column("", no_wrap=True)
    out.add_column("found", overflow="fold")
    for check in checks:
        found = Text(check.found)
        if check.todo:
            found.append(f"\n-> {check.todo}", style="cyan")
        out.add_row(check.name, Text(check.status, style=colours[check.status]), found)
    return out


def python() -> Check:
    version = platform.python_version()
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Check("python", Status.OK, version)
    return Check("python", Status.FAIL, version, "use Python 3.11, 3.12 or 3.13: make setup PYTHON=python3.12")


def torch() -> Check:
    try:
        import torch
    except (ImportError, OSError) as error:
        return Check("torch", Status.FAIL, _line(error), "run: make setup")
    if torch.cuda.is_available():
        name, total = torch.cuda.get_device_name(0), torch.cuda.get_device_properties(0).total_memory
        return Check(
            "torch", Status.OK, f"{torch.__version__}, {torch.cuda.device_count()} x {name}, {total / GIB:.0f} GB"
        )
    found = f"{torch.__version__}, CPU, {torch.get_num_threads()} threads"
    if shutil.which("nvidia-smi") is None:
        return Check("torch", Status.OK, found)
    return Check(
        "torch",
        Status.WARN,
        found,
        "there is an NVIDIA driver, but this torch does not use it: rm -rf .venv; make setup",
    )


def transformers() -> Check:
    try:
        import transformers
        from transformers import Qwen3VLForConditionalGeneration
    except (ImportError, RuntimeError) as error:
        return Check("transformers", Status.FAIL, _line(error), "run: make setup")
    return Check("transformers", Status.OK, f"{transformers.__version__}, {Qwen3VLForConditionalGeneration.__name__}")


def tiny_model() -> Check:
    from webdojo.policy.model.loading import load_model

    started = time.monotonic()
    try:
        model, _ = load_model("tiny")
    except ModelError as error:
        return Check("tiny model", Status.FAIL, _line(error), "install the package again, or run: webdojo tiny train")
    size = sum(parameter.numel() for parameter in model.parameters())
    return Check("tiny model", Status.OK, f"{size / 1e6:.1f} M parameters, loads in {time.monotonic() - started:.1f} s")


def chromium() -> Check:
    try:
        path = find_chromium(BrowserConfig())
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (BrowserError, OSError, subprocess.TimeoutExpired) as error:
        return Check("chromium", Status.FAIL, _line(error), "run: make setup, or: playwright install chromium")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it exits without a message"])[0]
        return Check(
            "chromium", Status.FAIL, f"{path}: {reason}", "its libraries may be missing: playwright install-deps"
        )
    return Check("chromium", Status.OK, f"{done.stdout.strip()}, {path}")


def browser() -> Check:
    try:
        return asyncio.run(_browse())
    except BrowserError as error:
        return Check("browser", Status.FAIL, _line(error), "see the rows on Chromium, sandbox and shared memory")


async def _browse() -> Check:
    images = MemoryImages()
    started = time.monotonic()
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(), images, server.hosts) as pool:
            session = await pool.open(f"http://{host_of('shop', 0)}/", server.headers("doctor", "auto"))
            opened = time.monotonic()
            shot = (await session.observe()).screenshot
            seen = time.monotonic()
            await session.close()
    colours = Image.open(io.BytesIO(images.get(shot))).convert("RGB").getcolors(maxcolors=shot.width * shot.height)
    if colours is not None and len(colours) < 2:
        return Check("browser", Status.FAIL, "the screenshot of a shop is one flat colour", "try another Chromium")
    return Check(
        "browser",
        Status.OK,
        f"opens a site in {opened - started:.1f} s, {shot.width} x {shot.height} screenshot in {seen - opened:.2f} s",
    )


def sandbox() -> Check:
    if os.geteuid() == 0:
        return Check(
            "sandbox", Status.WARN, "off, because this is root", "fine in a container; elsewhere run as a normal user"
        )
    for switch, (closed, opened) in SANDBOX_SWITCHES.items():
        file = Path("/proc/sys", switch.replace(".", "/"))
        if file.is_file() and file.read_text().strip() == closed:
            todo = f"sudo sysctl -w {switch}={opened}"
            return Check("sandbox", Status.WARN, f"{switch} is {closed}: Chromium may refuse to start", todo)
    return Check("sandbox", Status.OK, "user namespaces are allowed")


def shared_memory() -> Check:
    if not Path("/dev/shm").is_dir():
        return Check("shared memory", Status.WARN, "no /dev/shm", "Chromium falls back to /tmp; mount a tmpfs there")
    total = shutil.disk_usage("/dev/shm").total
    found = f"/dev/shm {total / GIB:.2f} GB"
    if total < 0.5 * GIB:
        return Check("shared memory", Status.WARN, found, "start the container with --shm-size=2g (or --ipc=host)")
    return Check("shared memory", Status.OK, found)


def memory() -> Check:
    available = psutil.virtual_memory().available
    found = f"{available / GIB:.1f} GB available, {os.cpu_count()} cores"
    if available < 4 * GIB:
        return Check("memory", Status.WARN, found, "the quickstart wants up to 6 GB: set rollout.concurrency=8")
    return Check("memory", Status.OK, found)


def disk() -> Check:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    found = f"{free / GIB:.1f} GB free in {here}"
    if free < 0.5 * GIB:
        return Check("disk", Status.FAIL, found, "free some space, or choose another disk with --run")
    if free < 5 * GIB:
        return Check("disk", Status.WARN, found, "enough for the quickstart; a long run stores every screenshot")
    return Check("disk", Status.OK, found)


def fonts() -> Check:
    """The embedded sites carry their own fonts; pages of the public web use those of the system."""
    if shutil.which("fc-list") is None:
        return Check("fonts", Status.WARN, "fontconfig is not installed", "apt-get install fontconfig fonts-noto")
    families = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    count = len({family for family in families if family})
    if count == 0:
        return Check(
            "fonts", Status.WARN, "no system fonts", "text on public pages will be boxes: apt-get install fonts-noto"
        )
    return Check("fonts", Status.OK, f"{count} families")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
