"""Screenshots by the hash of their bytes: stored once and passed by reference.

Invariants: the name is the SHA-256 of the content, so equal screenshots share one file, and a file that does not
match its name is reported and never returned; `put` returns a reference only when the bytes are stored, so that no
record can refer to a missing image. Both stores may be used by several threads at a time.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from webdojo.errors import StoreError, StoreFailure
from webdojo.store.files import write_atomic, writing
from webdojo.types import ImageRef

SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp"}


class ImageStore:
    """Images under `folder/ab/ab12….jpg`: 256 folders, so that a million files stay quick to find."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.new_bytes = 0
        """Encoded bytes of images that were new."""
        self.known_bytes = 0
        """Encoded bytes of images that the store had already."""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[ImageStore], tuple[Path]]:
        """Pickle the folder alone, for the ranks of a learner, which read images in processes of their own."""
        return ImageStore, (self.folder,)

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef:
        """Store an encoded image, of a size in pixels and a mime type of `SUFFIXES`, and return its reference."""
        image = ImageRef(sha=hashlib.sha256(data).hexdigest(), width=width, height=height, mime=mime)
        path = self.path(image)
        with self._lock:
            # A file that a power cut left empty has another size.
            if path.is_file() and path.stat().st_size == len(data):
                self.known_bytes += len(data)
            else:
                with writing(path):
                    try:
                        # Without its parents: if the whole folder was deleted, its images are lost: to be noticed.
                        path.parent.mkdir(exist_ok=True)
                    except FileNotFoundError:
                        raise self._gone() from None
                # Not flushed: a run writes tens a second, and `get` notices files that a power cut left damaged.
                write_atomic(path, data, durable=False)
                self.new_bytes += len(data)
        return image

    def get(self, image: ImageRef) -> bytes:
        """Return the encoded bytes; StoreFailure if there are none, or they do not match the name of their file."""
        path = self.path(image)
        if path.is_file():
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != image.sha:
                raise StoreFailure(f"screenshot {path} is damaged: its bytes do not match its name; delete it")
            return data
        if not self.folder.is_dir():
            raise self._gone()
        raise StoreFailure(f"no screenshot {image.sha} in {self.folder}: put it back, or do without what needs it")

    def has(self, image: ImageRef) -> bool:
        """Whether the image is stored and intact."""
        try:
            self.get(image)
        except StoreFailure:
            return False
        return True

    def path(self, image: ImageRef) -> Path:
        """The file that holds the image, or would hold it; StoreError for an unknown mime type."""
        if image.mime not in SUFFIXES:
            raise StoreError(f"cannot store an image of type {image.mime!r} (known: {', '.join(SUFFIXES)})")
        return self.folder / image.sha[:2] / f"{image.sha}{SUFFIXES[image.mime]}"

    def files(self) -> Iterator[Path]:
        """All files in the folder, half-written ones included."""
        return (path for path in self.folder.glob("*/*") if path.is_file())

    def _gone(self) -> StoreFailure:
        return StoreFailure(
            f"{self.folder} was deleted while its run went on: put it back, or go on without it, and the episodes that "
            "need it run again"
        )


@dataclass(frozen=True)
class ImageStores:
    """Several stores to read from, as one."""

    stores: tuple[ImageStore, ...]

    def get(self, image: ImageRef) -> bytes:
        """As `ImageStore.get`, of the first store that has it."""
        there = (store for store in self.stores if store.path(image).is_file())
        return next(there, self.stores[0]).get(image)


class MemoryImages:
    """Images in memory, for evaluation without a run folder: all, or if `capacity` is not 0 so many of the newest."""

    def __init__(self, capacity: int = 0) -> None:
        self._capacity = capacity
        self._data: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef:
        sha = hashlib.sha256(data).hexdigest()
        with self._lock:
            self._data.pop(sha, None)  # so that it stands last
            self._data[sha] = data
            if 0 < self._capacity < len(self._data):
                del self._data[next(iter(self._data))]
        return ImageRef(sha=sha, width=width, height=height, mime=mime)

    def get(self, image: ImageRef) -> bytes:
        with self._lock:
            if image.sha not in self._data:
                raise StoreError(f"no screenshot {image.sha} in memory ({len(self._data)} are there)")
            return self._data[image.sha]

    def clear(self) -> None:
        """Forget all images."""
        self._data.clear()

    def __len__(self) -> int:
        return len(self._data)
