"""The interface of harnesses, which translate between the text of a model and the records of `types`.

Token-in, token-out: a conversation encodes every piece of text exactly once, keeps sampled ids as
they were sampled, and joins pieces without retokenising, so what was sampled is what is trained.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from pydantic import Field

from webdojo.plugins import Plug
from webdojo.types import Feedback, Observation, Parsed, Prompt, Response, Task, ToolCall, View


class Codec(Protocol):
    """Encodes and decodes text, special tokens included (`policy/model/processor.py` for real models)."""

    def encode(self, text: str) -> list[int]:
        """The ids of the text; special tokens in it become their ids, and nothing is added."""
        ...

    def decode(self, ids: list[int]) -> str:
        """The text of the ids, special tokens included."""
        ...

    def image_tokens(self, width: int, height: int) -> int:
        """The number of tokens that an image of this size in pixels takes in a prompt."""
        ...


class Conversation(Protocol):
    """One episode as the model sees it."""

    def prompt(self, max_tokens: int) -> Prompt:
        """The prompt for the next response.

        Args:
            max_tokens: longer prompts lose their oldest parts (`transcript.py`); a prompt that cannot be made
                short enough is returned as it is.
        """
        ...

    def parse(self, text: str) -> Parsed:
        """Parse a response. Never raises: `Parsed.error` says what is wrong with it."""
        ...

    def add(self, response: Response, parsed: Parsed, feedback: list[Feedback], observation: Observation) -> None:
        """Append a response, the browser's feedback, and what the browser shows now."""
        ...


ElementAt = Callable[[int, int], int | None]
"""Returns the number of the control at a point in 0..1000, in the model's view of the page."""


def no_elements(x: int, y: int) -> int | None:
    """The `ElementAt` of agents that point: nothing has a number."""
    return None


class HarnessConfig(Plug):
    """The options of a harness; `build` makes it."""

    native_tools: ClassVar[bool] = False
    """Whether its calls are the 13 browser tools themselves, so that an endpoint can get them as `tools`."""

    max_format_errors: int = Field(default=3, ge=1)
    """The number of consecutive malformed responses that ends the episode with reward -1."""

    @property
    def images(self) -> int:
        """The most screenshots in a prompt."""
        return 1

    @abstractmethod
    def build(self, codec: Codec) -> Harness:
        """Build the harness for the model of this codec."""


class Harness(Protocol):
    """One protocol between model and browser: prompt layout, response format and its parser."""

    @property
    def config(self) -> HarnessConfig: ...

    @property
    def codec(self) -> Codec: ...

    @property
    def view(self) -> View | None:
        """The view of pages that its agent needs; None for plain screenshots."""
        ...

    def start(self, task: Task, observation: Observation) -> Conversation:
        """Start a conversation with the task and the first observation."""
        ...

    def render(self, think: str, calls: Sequence[ToolCall], element_at: ElementAt = no_elements) -> tuple[str, int]:
        """The response of an ideal agent for the first of these calls, and how many calls it covers.

        A conversation's `parse` reads back calls that do the same; formats without scroll amounts use their own.

        Raises:
            HarnessError: the format cannot express the first call.
        """
        ...
