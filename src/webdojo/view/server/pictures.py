"""Screenshots as the pages show them: those of ordinary size as they are stored, or small for film strips."""

from __future__ import annotations

import io
import re
from pathlib import Path

from webdojo.store.images import SUFFIXES
from webdojo.view.film import opened

SMALL_PX = 200
_NAME = re.compile(r"[0-9a-f]{64}\.(jpg|png|webp)")
MIMES = {suffix: mime for mime, suffix in SUFFIXES.items()}


def picture(folder: Path, name: str, small: bool) -> tuple[bytes, str] | None:
    """The bytes and mime type of an image by the name of its file, or of one of at most `SMALL_PX` a side.

    None: there is no such image, it is none of its format, or it is larger than any screen.
    """
    if not _NAME.fullmatch(name):
        return None
    path = folder / name[:2] / name
    mime = MIMES[path.suffix]
    try:
        data = path.read_bytes()
        image = opened(data, mime)
        if image is None:
            return None
        if not small:
            return data, mime
        image.draft("RGB", (SMALL_PX, SMALL_PX))
        image.thumbnail((SMALL_PX, SMALL_PX))
        out = io.BytesIO()
        image.convert("RGB").save(out, "JPEG", quality=75)
        return out.getvalue(), "image/jpeg"
    except OSError:
        return None
