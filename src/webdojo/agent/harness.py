"""What a harness is: the protocols between the text that a model reads and the records of `types`.

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
    """Text to ids and back, special tokens included (`policy/processor.py` for real models)."""

    def encode(self, text: str) -> list[int]:
        """Ids of the text; special tokens written out in it become their ids; nothing is added."""
        ...

    def decode(self, ids: list[int]) -> str:
        """The text of the ids, special tokens written out."""
        ...

    def image_tokens(self, width: int, height: int) -> int:
        """How many tokens an image of this size in pixels takes in a prompt."""
        ...


class Conversation(Protocol):
    """One episode as the model sees it."""

    def prompt(self, max_tokens: int) -> Prompt:
        """What the model reads before its next response.

        Args:
            max_tokens: longer prompts lose their oldest material (`transcript.fit`); one that cannot be made
                short enough is returned all the same.
        """
        ...

    def parse(self, text: str) -> Parsed:
        """Read a response. Never raises: what cannot be read is named in `Parsed.error`."""
        ...

    def add(self, response: Response, parsed: Parsed, feedback: list[Feedback], observation: Observation) -> None:
        """Append what was sampled, what the browser said, and what it shows now."""
        ...


ElementAt = Callable[[int, int], int | None]
"""The number of the control at a point in 0..1000, in the view that the model has."""


def no_elements(x: int, y: int) -> int | None:
    """For agents that point: nothing has a number."""
    return None


class HarnessConfig(Plug):
    """Options of a harness; `build` makes it."""

    native_tools: ClassVar[bool] = False
    """Whether its calls are the 13 browser tools themselves, which an endpoint can take as `tools`."""

    max_format_errors: int = Field(default=3, ge=1)
    """Consecutive malformed responses that end the episode with reward -1."""

    @property
    def images(self) -> int:
        """How many screenshots a prompt holds at most."""
        return 1

    @abstractmethod
    def build(self, codec: Codec) -> Harness:
        """The harness for the model of this codec."""


class Harness(Protocol):
    """One protocol between model and browser: prompt layout, response format and its parser."""

    @property
    def config(self) -> HarnessConfig: ...

    @property
    def codec(self) -> Codec: ...

    @property
    def view(self) -> View | None:
        """How its agent wants to see pages; None for plain screenshots."""
        ...

    def start(self, task: Task, observation: Observation) -> Conversation:
        """A conversation that holds the task and the first screen."""
        ...

    def render(self, think: str, calls: Sequence[ToolCall], element_at: ElementAt = no_elements) -> tuple[str, int]:
        """What an ideal agent would write for the first of these calls, and how many of them that says.

        A conversation's `parse` reads calls back that do the same; a format without amounts scrolls by its own.

        Raises:
            HarnessError: the format has no words for the first call.
        """
        ...
