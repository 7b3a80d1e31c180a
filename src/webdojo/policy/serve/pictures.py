"""Images that clients send, held while their requests run.

Only data URLs are read: a server that fetched addresses for strangers would reach its own network
for them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from PIL import Image, UnidentifiedImageError

from webdojo.errors import EngineError
from webdojo.policy.serve.wire import ApiError
from webdojo.types import ImageRef

FORMATS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
MAX_BYTES = 20 * 2**20
MAX_PIXELS = 40_000_000

_DATA_URL = re.compile(r"data:[^,;]*(?:;[^,;]*)*?;base64,", re.IGNORECASE)


class Pictures:
    """The `ImageSource` of a server's engine: what a request brought is there until the request ends."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def get(self, image: ImageRef) -> bytes:
        """The encoded bytes.

        Raises:
            EngineError: no request that runs has such an image; its client left while the engine was at it.
        """
        data = self._data.get(image.sha)
        if data is None:
            raise EngineError(f"no request that runs has an image {image.sha}")
        return data

    @contextmanager
    def hold(self, urls: Iterable[str]) -> Iterator[list[ImageRef]]:
        """References to the images of data URLs, good inside the block.

        Raises:
            ApiError: not a data URL, or no picture that can be read.
        """
        decoded = [_decode(url) for url in urls]
        with self._lock:
            for ref, data in decoded:
                self._data[ref.sha] = data
                self._held[ref.sha] += 1
        try:
            yield [ref for ref, _ in decoded]
        finally:
            with self._lock:
                for ref, _ in decoded:
                    self._held[ref.sha] -= 1
                    if not self._held[ref.sha]:
                        del self._held[ref.sha], self._data[ref.sha]

    def __len__(self) -> int:
        return len(self._data)


def _decode(url: str) -> tuple[ImageRef, bytes]:
    header = _DATA_URL.match(url)
    if header is None:
        shown = url if len(url) <= 60 else f"{url[:59]}…"
        raise _refused(
            f"image_url is {shown!r}: this server fetches nothing, so send the picture itself as a data URL, "
            "data:image/png;base64,…"
        )
    try:
        data = base64.b64decode(url[header.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise _refused("image_url holds base64 that cannot be decoded") from None
    if len(data) > MAX_BYTES:
        raise _refused(f"image_url holds {len(data)} bytes; at most {MAX_BYTES} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=list(FORMATS)) as image:
                width, height, kind = image.width, image.height, image.format
                if width * height > MAX_PIXELS:
                    raise _refused(f"image_url holds {width}x{height} pixels; at most {MAX_PIXELS} are read")
                image.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        raise _refused(f"image_url holds no picture that can be read; known: {', '.join(FORMATS)}") from None
    assert kind is not None
    return ImageRef(sha=hashlib.sha256(data).hexdigest(), width=width, height=height, mime=FORMATS[kind]), data


def _refused(message: str) -> ApiError:
    return ApiError(400, message, "invalid_image", "messages")
