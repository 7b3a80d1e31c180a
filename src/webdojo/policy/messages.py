"""An engine as a model that answers messages: what a judge asks of a checkpoint instead of an endpoint.

Messages are those of OpenAI's chat API, with images as data URLs; they are laid out in the model's chat format. Text in
them cannot forge its markers. An image is held for as long as a request needs it.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from PIL import Image

from webdojo.agent.chatml import Chat, Segment
from webdojo.agent.toolcall import IM_END, unmarked
from webdojo.errors import EngineError
from webdojo.policy.model.processor import Processor
from webdojo.types import Engine, ImageRef, Prompt, Sampling

_DATA_URL = "data:"


class RequestImages:
    """The images of the requests that are under way, as an `ImageSource`."""

    def __init__(self) -> None:
        self._bytes: dict[str, bytes] = {}
        self._users: Counter[str] = Counter()

    def get(self, image: ImageRef) -> bytes:
        return self._bytes[image.sha]

    @contextmanager
    def held(self) -> Iterator[_Request]:
        """Holds the images that a request adds until the block ends."""
        request = _Request(self._bytes, self._users)
        try:
            yield request
        finally:
            for sha in request.used:
                self._users[sha] -= 1
                if not self._users[sha]:
                    del self._bytes[sha], self._users[sha]


class _Request:
    def __init__(self, data: dict[str, bytes], users: Counter[str]) -> None:
        self._data, self._users = data, users
        self.used: list[str] = []

    def add(self, url: str) -> ImageRef:
        """The reference of the image in a data URL."""
        head, _, body = url.removeprefix(_DATA_URL).partition(",")
        data = base64.b64decode(body)
        sha = hashlib.sha256(data).hexdigest()
        self._data[sha] = data
        self._users[sha] += 1
        self.used.append(sha)
        width, height = Image.open(io.BytesIO(data)).size
        return ImageRef(sha=sha, width=width, height=height, mime=head.partition(";")[0])


class EngineMessages:
    """A `policy.engine.MessageModel` on an engine of this or another process."""

    def __init__(self, engine: Engine, processor: Processor, images: RequestImages, max_context_tokens: int) -> None:
        self._engine = engine
        self._processor = processor
        self._images = images
        self._max_context_tokens = max_context_tokens
        self._chat = Chat(processor, "")

    async def say(
        self, messages: Sequence[dict[str, Any]], sampling: Sampling, keep: Callable[[str], bool] = bool
    ) -> str:
        with self._images.held() as request:
            prompt = self._prompt(messages, request)
            room = self._max_context_tokens - sampling.max_tokens
            if len(prompt) > room:
                raise EngineError(
                    f"a request of {len(prompt)} tokens leaves no room for an answer of {sampling.max_tokens} in a "
                    f"context of {self._max_context_tokens}: show fewer or smaller images, or raise max_context_tokens"
                )
            response = await self._engine.generate(prompt, sampling)
        return self._processor.decode(response.ids).removesuffix(IM_END)

    def _prompt(self, messages: Sequence[dict[str, Any]], request: _Request) -> Prompt:
        chat, said = self._chat.format, set[str]()
        segments: list[Segment] = []
        for message in messages:
            role, content = message["role"], message["content"]
            parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            opening = chat.next_user if "assistant" in said else chat.user if said else chat.first_user
            before, after = {
                "system": chat.system,
                "user": (opening, chat.user_end),
                "assistant": (chat.assistant, IM_END),
            }[role]
            said.add(role)
            segments.append(self._chat.text(before))
            for part in parts:
                if part["type"] == "text":
                    segments.append(self._chat.text(unmarked(part["text"])))
                else:
                    segments += self._chat.image(request.add(part["image_url"]["url"]))
            segments.append(self._chat.text(after))
        segments.append(self._chat.text(chat.assistant))
        return Prompt(segments=tuple(segments))
