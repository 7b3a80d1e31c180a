"""Images as `data:` URLs, which is how messages to a model carry them."""

from __future__ import annotations

import base64


def data_url(data: bytes, mime: str) -> str:
    """The URL that holds an encoded image of this MIME type."""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"
