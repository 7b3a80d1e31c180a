"""The terminal as the desk of a person who demonstrates."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

import typer

from webdojo.loops.collection.person import HELP, Desk


class Terminal(Desk):
    """Says on stderr what there is to say, and takes the lines of stdin."""

    def start(self) -> None:
        self.say(HELP)
        given = (asyncio.get_running_loop(), sys.stdin.fileno())
        threading.Thread(target=self._read, args=given, daemon=True).start()

    def say(self, text: str) -> None:
        typer.echo(text, err=True)

    def _read(self, loop: asyncio.AbstractEventLoop, file: int) -> None:
        """Take lines until there are no more; nobody waits for this thread, which waits for the person."""
        with suppress(RuntimeError):  # the loop has ended
            for line in _lines(file):
                loop.call_soon_threadsafe(self.put, line)
            loop.call_soon_threadsafe(self.put, None)


def _lines(file: int) -> Iterator[str]:
    """The lines of a file as they come, past Python's own buffer, which would stay locked by whoever waits for it."""
    read, decoder = "", codecs.getincrementaldecoder("utf-8")("replace")
    while data := os.read(file, 65536):
        *lines, read = (read + decoder.decode(data)).split("\n")
        yield from lines
    if read:
        yield read
