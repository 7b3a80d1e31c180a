"""Screenshots of a run on a cluster: one process beside the run folder keeps them, the others send and ask for bytes.

A rollout worker sends each new screenshot before the reference to it leaves the worker; who needs one later, an engine
or a rank of the learner, asks for it once.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from pathlib import Path
from typing import Any, NamedTuple

import ray

from webdojo.errors import StoreError
from webdojo.store.images import ImageStore, MemoryImages
from webdojo.types import ImageRef

KEPT = 2048
"""Screenshots that a process keeps of those that it has asked for: contexts show them again."""


class Encoded(NamedTuple):
    """A screenshot, with the arguments of `ImageSink.put`."""

    data: bytes
    width: int
    height: int
    mime: str


class ImageServer:
    """The process that keeps the screenshots of a run folder."""

    def __init__(self, folder: Path) -> None:
        self._store = ImageStore(folder)

    def put(self, images: list[Encoded]) -> None:
        for image in images:
            self._store.put(*image)

    def get(self, image: ImageRef) -> bytes:
        return self._store.get(image)


class SentImages:
    """Where a rollout worker puts its screenshots; they are on their way when `flush` has returned."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._unsent: dict[str, Encoded] = {}
        self._lock = threading.Lock()
        self._sending = asyncio.Lock()

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef:
        sha = hashlib.sha256(data).hexdigest()
        with self._lock:
            self._unsent[sha] = Encoded(data, width, height, mime)
        return ImageRef(sha=sha, width=width, height=height, mime=mime)

    async def flush(self) -> None:
        """Return when the run folder has all that was put."""
        async with self._sending:  # others may be sending what this caller has put
            with self._lock:
                unsent, self._unsent = self._unsent, {}
            if unsent:
                await self._server.put.remote([*unsent.values()])


class AskedImages:
    """The screenshots of a run for a process that reads them; it may be pickled."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._known = MemoryImages(KEPT)

    def __reduce__(self) -> tuple[type[AskedImages], tuple[Any]]:
        return AskedImages, (self._server,)

    def get(self, image: ImageRef) -> bytes:
        try:
            return self._known.get(image)
        except StoreError:
            data: bytes = ray.get(self._server.get.remote(image))
            self._known.put(data, image.width, image.height, image.mime)
            return data
