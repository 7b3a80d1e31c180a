"""SIGTERM ends a command wherever it comes, also where a shell's script has it ignore Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, sys, time
import typer
from webdojo.cli.app import interruptible

class Slow:
    def __del__(self):  # an exception that comes here is lost
        time.sleep(0.02)

async def work():
    print("at work", flush=True)
    while True:
        Slow()
        await asyncio.sleep(0)

try:
    with interruptible("; bye"):
        asyncio.run(work())
except typer.Exit as end:
    sys.exit(end.exit_code)
"""


@pytest.mark.parametrize("ctrl_c", [signal.SIG_DFL, signal.SIG_IGN])
def test_sigterm_is_not_lost_where_an_object_is_deleted(ctrl_c: signal.Handlers) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, ctrl_c),
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "at work\n"
            if ctrl_c is signal.SIG_IGN:
                process.send_signal(signal.SIGINT)
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(timeout=0.5)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, errors) == (143, "\nterminated; bye\n")
