"""Checks of what a run needs from this machine, each with the remedy if it fails.

A failed check means that no run works; a warning costs speed or concerns some pages only. The checks that take long
come last, and import what they look at themselves.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import psutil
from rich.text import Text

from webdojo.browser.config import BrowserConfig
from webdojo.errors import WebdojoError

GIB = 2**30
SANDBOX_SWITCHES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "user.max_user_namespaces": ("0", "10000"),
}
"""Kernel settings, each with the value that breaks Chromium's sandbox and one that allows it."""
COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}


class Finding(NamedTuple):
    status: Literal["ok", "warn", "fail"]
    found: str
    todo: str = ""


def examine() -> Iterator[tuple[str, Finding]]:
    """Run the checks, each after those that it depends on: what each found, as soon as it is known."""
    for name, (check, todo) in CHECKS.items():
        try:
            yield name, check()
        except (ImportError, OSError, RuntimeError, subprocess.TimeoutExpired, WebdojoError) as error:
            yield name, Finding("fail", " ".join(str(error).split()), todo)


def line(name: str, finding: Finding) -> Text:
    """One row of the report, and below it what is to be done."""
    width = max(map(len, CHECKS))
    row = Text.assemble(f"{name:<{width}}  ", (f"{finding.status:<4}", COLOURS[finding.status]), f"  {finding.found}")
    if finding.todo:
        row.append(f"\n{'':<{width + 8}}-> {finding.todo}", style="cyan")
    return row


def python() -> Finding:
    version = platform.python_version()
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Finding("ok", version)
    return Finding("fail", version, "use Python 3.11, 3.12 or 3.13: make setup PYTHON=python3.12")


def torch() -> Finding:
    import torch

    if torch.cuda.is_available():
        name, total = torch.cuda.get_device_name(0), torch.cuda.get_device_properties(0).total_memory
        return Finding("ok", f"{torch.__version__}, {torch.cuda.device_count()} x {name}, {total / GIB:.0f} GB")
    found = f"{torch.__version__}, CPU, {torch.get_num_threads()} threads"
    if shutil.which("nvidia-smi") is None:
        return Finding("ok", found)
    todo = "there is an NVIDIA driver, but this torch does not use it: rm -rf .venv; make setup"
    return Finding("warn", found, todo)


def transformers() -> Finding:
    import transformers
    from transformers import Qwen3VLForConditionalGeneration

    return Finding("ok", f"{transformers.__version__}, {Qwen3VLForConditionalGeneration.__name__}")


def tiny_model() -> Finding:
    from webdojo.policy.model.loading import load_model

    started = time.monotonic()
    model, _ = load_model("tiny")
    size = sum(parameter.numel() for parameter in model.parameters())
    return Finding("ok", f"{size / 1e6:.1f} M parameters, loads in {time.monotonic() - started:.1f} s")


def chromium() -> Finding:
    from webdojo.browser.chromium import find_chromium

    path = find_chromium(BrowserConfig())
    done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it exits without a message"])[0]
        return Finding("fail", f"{path}: {reason}", "its libraries may be missing: playwright install-deps")
    return Finding("ok", f"{done.stdout.strip()}, {path}")


def browser() -> Finding:
    return asyncio.run(_browse())


async def _browse() -> Finding:
    from PIL import Image

    from webdojo.browser.pool import BrowserPool
    from webdojo.sites import host_of
    from webdojo.sites.serving.server import SiteServer
    from webdojo.store.images import MemoryImages

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
        return Finding("fail", "the screenshot of a shop is one flat colour", "try another Chromium")
    screenshot = f"{shot.width} x {shot.height} screenshot in {seen - opened:.2f} s"
    return Finding("ok", f"opens a site in {opened - started:.1f} s, {screenshot}")


def sandbox() -> Finding:
    if os.geteuid() == 0:
        return Finding("warn", "off, because this is root", "fine in a container; elsewhere run as a normal user")
    for switch, (closed, opened) in SANDBOX_SWITCHES.items():
        file = Path("/proc/sys", switch.replace(".", "/"))
        if file.is_file() and file.read_text().strip() == closed:
            found = f"{switch} is {closed}: Chromium may refuse to start"
            return Finding("warn", found, f"sudo sysctl -w {switch}={opened}")
    return Finding("ok", "user namespaces are allowed")


def shared_memory() -> Finding:
    if not Path("/dev/shm").is_dir():
        return Finding("warn", "no /dev/shm", "Chromium falls back to /tmp; mount a tmpfs there")
    total = shutil.disk_usage("/dev/shm").total
    found = f"/dev/shm {total / GIB:.2f} GB"
    if total < 0.5 * GIB:
        return Finding("warn", found, "start the container with --shm-size=2g (or --ipc=host)")
    return Finding("ok", found)


def memory() -> Finding:
    available = psutil.virtual_memory().available
    found = f"{available / GIB:.1f} GB available, {os.cpu_count()} cores"
    if available < 4 * GIB:
        return Finding("warn", found, "the quickstart wants up to 6 GB: set rollout.concurrency=8")
    return Finding("ok", found)


def disk() -> Finding:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    found = f"{free / GIB:.1f} GB free in {here}"
    if free < 0.5 * GIB:
        return Finding("fail", found, "free some space, or choose another disk with --run")
    if free < 5 * GIB:
        return Finding("warn", found, "enough for the quickstart; a long run stores every screenshot")
    return Finding("ok", found)


def fonts() -> Finding:
    """The embedded sites carry their own fonts; pages of the public web use those of the system."""
    if shutil.which("fc-list") is None:
        return Finding("warn", "fontconfig is not installed", "apt-get install fontconfig fonts-noto")
    listed = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False).stdout
    if not (families := {*listed.split("\n")} - {""}):
        todo = "text on public pages will be boxes: apt-get install fonts-noto"
        return Finding("warn", "no system fonts", todo)
    return Finding("ok", f"{len(families)} families")


CHECKS = {
    "python": (python, ""),
    "memory": (memory, ""),
    "shared memory": (shared_memory, ""),
    "disk": (disk, ""),
    "fonts": (fonts, ""),
    "sandbox": (sandbox, ""),
    "chromium": (chromium, "run: make setup, or: playwright install chromium"),
    "browser": (browser, "see the rows on Chromium, sandbox and shared memory"),
    "torch": (torch, "run: make setup"),
    "transformers": (transformers, "run: make setup"),
    "tiny model": (tiny_model, "install the package again, or run: webdojo tiny train"),
}
"""The checks in their order, each with what to do where it raises an error."""
