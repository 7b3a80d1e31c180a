"""Screenshots by the hash of their bytes: stored once, named for ever, passed by reference.

Invariant: the name is the SHA-256 of the content, so equal screenshots share one file and a file
that does not match its name is reported, never handed out.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from webdojo.errors import StoreError
from webdojo.store.files import write_atomic
from webdojo.types import ImageRef

SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp"}


class ImageStore:
    """Images under `folder/ab/ab12….jpg`: 256 folders, so that a million files stay quick to find."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef:
        """Store encoded bytes and return their reference.

        Args:
            data: the encoded image.
            width, height: in pixels.
            mime: one of `SUFFIXES`.

        Raises:
            StoreError: an unknown mime type, or the folder cannot be written.
        """
        if mime not in SUFFIXES:
            raise StoreError(f"cannot store an image of type {mime!r} (known: {', '.join(SUFFIXES)})")
        sha = hashlib.sha256(data).hexdigest()
        path = self._path(sha, mime)
        # The size tells a file that a power cut left empty from one that is already there.
        if not path.is_file() or path.stat().st_size != len(data):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                # Not flushed: a run writes tens of these a second, and `get` finds what a power cut tore.
                write_atomic(path, data, durable=False)
            except OSError as error:
                raise StoreError(f"cannot write screenshot {path} ({error.strerror}): check disk and access") from None
        return ImageRef(sha=sha, width=width, height=height, mime=mime)

    def get(self, sha: str) -> bytes:
        """The encoded bytes.

        Raises:
            StoreError: no such image here, or its file does not match its name.
        """
        for mime in SUFFIXES:
            path = self._path(sha, mime)
            if path.is_file():
                data = path.read_bytes()
                if hashlib.sha256(data).hexdigest() != sha:
                    raise StoreError(f"screenshot {path} is damaged: its bytes do not match its name; delete it")
                return data
        raise StoreError(f"no screenshot {sha} in {self.folder}")

    def _path(self, sha: str, mime: str) -> Path:
        return self.folder / sha[:2] / f"{sha}{SUFFIXES[mime]}"


class MemoryImages:
    """The same in memory, for evaluation without a run folder and for training the tiny model.

    Args:
        capacity: keep only so many images, those put last; 0 keeps all.
    """

    def __init__(self, capacity: int = 0) -> None:
        self._capacity = capacity
        self._data: dict[str, bytes] = {}

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef:
        sha = hashlib.sha256(data).hexdigest()
        self._data.pop(sha, None)  # so that it stands last
        self._data[sha] = data
        if 0 < self._capacity < len(self._data):
            del self._data[next(iter(self._data))]
        return ImageRef(sha=sha, width=width, height=height, mime=mime)

    def get(self, sha: str) -> bytes:
        """The encoded bytes; StoreError where there is no such image."""
        if sha not in self._data:
            raise StoreError(f"no screenshot {sha} in memory ({len(self._data)} are there)")
        return self._data[sha]

    def clear(self) -> None:
        """Forget all images."""
        self._data.clear()

    def __len__(self) -> int:
        return len(self._data)
