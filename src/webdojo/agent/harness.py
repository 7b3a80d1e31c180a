"""Harnesses translate between the text of a model and the records of `types`.

Token-in, token-out: a conversation encodes every piece of text exactly once, keeps sampled ids as they were sampled,
and joins pieces without retokenising, so what was sampled is what is trained.

All harnesses drop in one order: old images go first, then old pages (text views, which a placeholder stands for), then
the oldest turns, each of which becomes one line. The task, the tools and the last observation always stay. If those
alone are too long, so is the prompt, and the episode ends with `context_length`.

Layout of a prompt, one part a line:

    system                the protocol, the same for every episode
    opening               user: the task; one part with the note where every exchange is shown in full
    line, line, …         one line for each exchange that is not shown in full
    note                  what those exchanges leave for later, such as the agent's memory
    page, screenshot      what the browser showed; old pages become a placeholder, old screenshots disappear
    turn                  end of the user's turn, start of the assistant's
    response              the ids as they were sampled
    feedback              user: what the browser said
    page, screenshot, turn, response, feedback, …

Text stands before the screenshot, so consecutive prompts share every token before the first part that one of
them lacks.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from pydantic import Field

from webdojo.agent.chatml import Chat, Segment
from webdojo.agent.chatml import Codec as Codec
from webdojo.agent.toolcall import plain
from webdojo.plugins import Plug
from webdojo.types import Feedback, Observation, Parsed, Prompt, Response, Task, TextSegment, ToolCall, View

LINE_CHARACTERS = 300
"""The longest text of an exchange that is shown as one line."""
ElementAt = Callable[[int, int], int | None]
"""Returns the number of the control at a point in 0..1000, in the model's view of the page."""


def no_elements(x: int, y: int) -> int | None:
    """The `ElementAt` of agents that point: nothing has a number."""
    return None


class HarnessConfig(Plug):
    """The options of a harness; `build` makes it."""

    native_tools: ClassVar[bool] = False
    """Whether its calls are the 13 browser tools themselves, so that an endpoint can get them as `tools`; if so, it has
    `build_native`."""

    max_format_errors: int = Field(default=3, ge=1)
    """The number of consecutive malformed responses that ends the episode with reward -1."""

    @property
    def images(self) -> int:
        """The most screenshots in a prompt."""
        return 1

    @abstractmethod
    def build(self, codec: Codec) -> Harness:
        """Build the harness for the model of this codec."""

    def build_native(self, codec: Codec) -> Harness:
        """As `build`, for an endpoint that gets the tools beside the prompt, which says nothing of how calls are
        written."""
        raise NotImplementedError(f"the harness {self.name!r} has tools of its own")


@dataclass(frozen=True)
class _Exchange:
    response: TextSegment
    answer: TextSegment
    line: TextSegment
    noted: bool
    """Whether the response repeats the note."""


class Conversation:
    """One episode as the model sees it: what was said and seen so far."""

    def __init__(self, harness: Harness, task: Task, observation: Observation) -> None:
        self.harness = harness
        self.task = task
        self._chat = harness.chat
        self._old_page = self._chat.text(harness.old_page)
        self._exchanges: list[_Exchange] = []
        self._pages: list[TextSegment] = []
        self._notes: list[TextSegment] = []
        self._seen: list[Observation] = []
        self._see(observation, self._said_first)

    def parse(self, text: str) -> Parsed:
        """See `Harness.parse`."""
        return self.harness.parse(text)

    def add(self, response: Response, parsed: Parsed, feedback: list[Feedback], observation: Observation) -> None:
        """Append a response, the browser's feedback, and what the browser shows now."""
        answer, line = self.answer(parsed, feedback, observation)
        self._exchanges.append(
            _Exchange(
                response=self.harness.past(response),
                answer=self._chat.text(f"{self._chat.after(response)}{answer}"),
                line=self._chat.text(f"Step {len(self._exchanges) + 1}: {line}\n"),
                noted=self.repeats_note(parsed),
            )
        )
        self._see(observation)

    def answer(self, parsed: Parsed, feedback: Sequence[Feedback], observation: Observation) -> tuple[str, str]:
        """What the user says after a response, without the page, and the line that may stand for the exchange."""
        errors = self.errors(parsed, feedback)
        action = parsed.sections.get(self.harness.action_section, "no action")
        return self.harness.complaint(errors), plain(" Error: ".join([action, *errors]), LINE_CHARACTERS)

    def errors(self, parsed: Parsed, feedback: Sequence[Feedback]) -> list[str]:
        """The errors of a turn: what the browser could not do, then what could not be parsed."""
        return [entry.text for entry in feedback if not entry.ok] + ([parsed.error] if parsed.error else [])

    def note(self, observation: Observation) -> str:
        """What stands before an observation where exchanges before it are not shown in full."""
        return ""

    def repeats_note(self, parsed: Parsed) -> bool:
        """Whether a response has all that the note says, so that a prompt that shows the response needs no note."""
        return False

    def prompt(self, max_tokens: int) -> Prompt:
        """The prompt for the next response; a longer one loses its oldest parts, as many as can be spared."""
        turns = len(self._exchanges)
        wanted = {
            "image": min(self.harness.config.images, turns + 1),
            "page": min(self.harness.pages_kept, turns + 1),
            "turn": min(self.harness.turns_kept, turns),
        }
        kept, prompt = dict(wanted), self._assemble(wanted)
        for kind, least in (("image", 1), ("page", 1), ("turn", 0)):
            while len(prompt) > max_tokens and kept[kind] > least:
                kept[kind] -= 1
                prompt = self._assemble(kept)
        dropped = {kind: count - kept[kind] for kind, count in wanted.items() if count > kept[kind]}
        return prompt.model_copy(update={"dropped": dropped})

    @property
    def _said_first(self) -> str:
        return f"{self._chat.user}{self.harness.opening(self.task)}"

    @cached_property
    def _opening(self) -> TextSegment:
        return self._chat.text(self._said_first)

    def _see(self, observation: Observation, before: str = "") -> None:
        self._pages.append(self._chat.text(self.harness.page(observation)))
        self._notes.append(self._chat.text(f"{before}{self.note(observation)}"))
        self._seen.append(observation)

    def _assemble(self, kept: dict[str, int]) -> Prompt:
        """A prompt with the newest images, pages (the last observation's included) and exchanges."""
        start, end = len(self._exchanges) - kept["turn"], len(self._seen)
        parts: list[Segment] = [self._chat.system]
        if start:
            parts += [self._opening, *(each.line for each in self._exchanges[:start])]
        if not start or not any(each.noted for each in self._exchanges[start:]):
            parts.append(self._notes[start])
        for index in range(start, end):
            if index > start:
                parts += [self._exchanges[index - 1].response, self._exchanges[index - 1].answer]
            parts.append(self._pages[index] if index >= end - kept["page"] else self._old_page)
            if index >= end - kept["image"]:
                parts += self._chat.image(self._seen[index].screenshot)
            parts.append(self._chat.turn)
        empty = self._chat.text("")
        return Prompt(segments=tuple(part for part in parts if part != empty))


class Harness(ABC):
    """One protocol between model and browser: prompt layout, response format and its parser."""

    conversation: type[Conversation] = Conversation
    view: View | None = None
    """The view of pages that its agent needs; None for plain screenshots."""
    pages_kept = 1
    """The most recent pages that stay in a prompt."""
    turns_kept = sys.maxsize
    """The most recent exchanges that stay in full; those before them are one line each."""
    old_page = ""
    """The placeholder of an older page."""
    action_section = "Action"
    """The section of a response that says what the agent does."""

    def __init__(self, config: HarnessConfig, codec: Codec) -> None:
        self.config = config
        self.codec = codec
        self.chat = Chat(codec, self.system_prompt())

    def start(self, task: Task, observation: Observation) -> Conversation:
        """Start a conversation with the task and the first observation."""
        return self.conversation(self, task, observation)

    @abstractmethod
    def system_prompt(self) -> str:
        """The protocol and the tools; empty for agents that know both."""

    @abstractmethod
    def render(
        self,
        think: str,
        calls: Sequence[ToolCall],
        element_at: ElementAt = no_elements,
        earlier: Sequence[str] = (),
    ) -> tuple[str, int]:
        """The response of an ideal agent for the first of these calls, and how many calls it covers.

        `earlier` are the thoughts of the episode's responses before it, for formats that repeat what was noted.
        A conversation's `parse` reads back calls that do the same; formats without scroll amounts use their own.

        Raises:
            HarnessError: the format cannot express the first call.
        """

    @abstractmethod
    def parse(self, text: str) -> Parsed:
        """Parse a response. Never raises: `Parsed.error` says what is wrong with it."""

    def opening(self, task: Task) -> str:
        """The user's first words, without the observation."""
        return f"Task: {plain(task.instruction)}\nWebsite: {plain(task.start_url)}\n"

    def page(self, observation: Observation) -> str:
        """The page as text; empty for agents that see screenshots only."""
        return ""

    def past(self, response: Response) -> TextSegment:
        """A response in the form in which later prompts show it: as it was sampled."""
        return TextSegment(ids=tuple(response.ids))

    def complaint(self, errors: Sequence[str]) -> str:
        """What the user says about the errors of a turn."""
        return "".join(f"Error: {plain(error, LINE_CHARACTERS)}\n" for error in errors)
