"""The OpenWebRL harness (§4.1, A.2, A.3): the last K screenshots, all responses, all feedback.

Layout of a prompt, ChatML as in Qwen3-VL, one part a line; each text part is tokenised once:

    system              protocol and tools, the same for every episode
    user                task, observation text
    screenshot          <|vision_start|> image <|vision_end|>; only the last K are there
    turn                end of the user's turn, start of the assistant's
    response            the ids as they were sampled, reasoning included
    user                <tool_response> feedback, observation text
    screenshot, turn, response, user, …

A dropped screenshot disappears with its two markers and nothing else changes, so consecutive prompts
share every token before the first screenshot that one of them lacks. Turns that are dropped, by the
token budget or by `keep_reasoning: action_only`, become one line each after the task.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from webdojo.agent import toolcall
from webdojo.agent.chatml import USER, ChatML, Segment
from webdojo.agent.harness import Codec, ElementAt, HarnessConfig, no_elements
from webdojo.agent.toolcall import plain
from webdojo.agent.transcript import HistoryLimits, fit
from webdojo.browser.tools import TOOLS, json_schema, signature
from webdojo.types import Feedback, Observation, Parsed, Prompt, Response, Task, TextSegment, ToolCall

_URL_CHARACTERS = 300
_TITLE_CHARACTERS = 120

_SYSTEM_JSON = """\
You are a web agent. You finish the user's task in a real browser, through tools.

Each turn shows what your last calls did, the state of the browser and a screenshot. Coordinates are \
integers from 0 to 1000: x from the left edge of the screenshot to the right, y from the top to the bottom.

Answer every turn in this format:
<think>
what you see, what is done, what comes next
</think>
<tool_call>
{{"name": "click", "arguments": {{"x": 450, "y": 250}}}}
</tool_call>

Several calls in one turn run in order; you see the screen after the last one. Only {kept} can be seen; \
{memory}. When the task is finished, call done with the \
answer, or with a short report where no answer was asked for.

<tools>
{tools}
</tools>"""

_SYSTEM_SIGNATURE = """\
You are a web agent. Think, then call tools:
<think>why</think><tool_call>{{"name": "click", "arguments": {{"x": 450, "y": 250}}}}</tool_call>
x and y: 0 to 1000. End with done.
{tools}"""

_MEMORY = {
    "full": "your own words stay, so write down what you will need later",
    "hidden": "of your earlier turns only the calls and what they did stay",
    "action_only": "of your earlier turns one line each stays, with the calls and what they did",
}


class OpenWebRLConfig(HarnessConfig):
    native_tools: ClassVar[bool] = True

    name: str = "openwebrl"
    screenshots_kept: int = Field(default=1, ge=1)
    """K of OpenWebRL §4.1: the most recent screenshots that stay in the context."""
    keep_feedback: bool = True
    """The browser's feedback on each call stays in the context (OpenWebRL, table 4)."""
    keep_reasoning: Literal["full", "hidden", "action_only"] = "full"
    """Past turns stay as they were sampled, without their thoughts, or as one line each (OpenWebRL, table 4)."""
    tool_schemas: Literal["json", "signature"] = "json"
    """How the system prompt shows the tools: full JSON schemas, or one line each."""

    @property
    def images(self) -> int:
        return self.screenshots_kept

    def build(self, codec: Codec) -> OpenWebRLHarness:
        return OpenWebRLHarness(self, codec)


class OpenWebRLHarness:
    """Makes conversations, and renders responses, for one codec."""

    view = None

    def __init__(self, config: OpenWebRLConfig, codec: Codec) -> None:
        self.config = config
        self.codec = codec
        self._brief = config.tool_schemas == "signature"
        self.chat = ChatML(codec, self.system_prompt())

    def system_prompt(self) -> str:
        """The protocol and the tools, which are full JSON schemas or one line each."""
        if self._brief:
            return _SYSTEM_SIGNATURE.format(tools="\n".join(signature(name) for name in TOOLS))
        kept = self.config.screenshots_kept
        return _SYSTEM_JSON.format(
            kept="the latest screenshot" if kept == 1 else f"the latest {kept} screenshots",
            memory=_MEMORY[self.config.keep_reasoning],
            tools="\n".join(json.dumps(json_schema(name)) for name in TOOLS),
        )

    def start(self, task: Task, observation: Observation) -> OpenWebRLConversation:
        return OpenWebRLConversation(self, task, observation)

    def render(self, think: str, calls: Sequence[ToolCall], element_at: ElementAt = no_elements) -> tuple[str, int]:
        return toolcall.render(think, calls, separator="" if self._brief else "\n"), len(calls)

    def opening(self, task: Task) -> str:
        """The user's message with the task."""
        return f"{USER}{'task ' if self._brief else 'Task: '}{plain(task.instruction)}\n"

    def describe(self, observation: Observation, first: bool) -> str:
        """The observation as text (x_t of §4.1), without the feedback."""
        scrolled, hidden = observation.scroll_px[1], max(observation.page_px[1] - observation.viewport_px[1], 0)
        url = plain(observation.url, _URL_CHARACTERS)
        if self._brief:
            lines = [f"url {url}", f"scroll {scrolled}/{hidden}"]
        else:
            lines = [f"Active tab: {plain(observation.title, _TITLE_CHARACTERS)} ({url})"]
            lines += [f"Scroll position: {scrolled} of {hidden} px"]
            if first:
                lines.insert(0, "Viewport: {} x {} px".format(*observation.viewport_px))
        if observation.blocked:
            lines.append(
                f"{'blocked' if self._brief else 'The site may be blocking you:'} {plain(observation.blocked)}"
            )
        if len(observation.tabs) > 1:
            lines += ["tabs" if self._brief else "Tabs:"]
            for tab in observation.tabs:
                title, address = plain(tab.title, _TITLE_CHARACTERS), plain(tab.url, _URL_CHARACTERS)
                mark = "*" if tab.active else ""
                lines += [f"{tab.index}{mark} {address}" if self._brief else f"[{tab.index}]{mark} {title} ({address})"]
        return "\n".join(lines)


@dataclass(frozen=True)
class _Exchange:
    """A response and the browser's answer to it."""

    response: TextSegment
    """The response as it was sampled."""
    answer: TextSegment
    """The user's words after it: feedback, then the next observation's text."""
    seen: str
    """The next observation's text alone."""
    line: str


class OpenWebRLConversation:
    """The messages and screenshots of one episode."""

    def __init__(self, harness: OpenWebRLHarness, task: Task, observation: Observation) -> None:
        self._harness = harness
        self._chat = harness.chat
        self._opening = harness.opening(task)
        self._heads = {0: self._chat.text(f"{self._opening}{harness.describe(observation, first=True)}\n")}
        """The user's first words, by how many of the oldest turns they sum up in one line each."""
        self._exchanges: list[_Exchange] = []
        self._images = [self._chat.image(observation.screenshot)]

    def prompt(self, max_tokens: int) -> Prompt:
        turns = len(self._exchanges)
        wanted = HistoryLimits(
            images=min(self._harness.config.screenshots_kept, turns + 1),
            pages=1,
            turns=0 if self._harness.config.keep_reasoning == "action_only" else turns,
        )
        return fit(self._assemble, wanted, max_tokens)

    def parse(self, text: str) -> Parsed:
        return toolcall.parse(text)

    def add(self, response: Response, parsed: Parsed, feedback: list[Feedback], observation: Observation) -> None:
        config = self._harness.config
        lines = [plain(entry.text) for entry in feedback] if config.keep_feedback else []
        if parsed.error is not None:
            lines.append(f"Error: {plain(parsed.error)}")
        said = "\n".join(lines)
        if said or config.keep_feedback:
            said = f"<tool_response>\n{said}\n</tool_response>\n"
        seen = f"{self._harness.describe(observation, first=False)}\n"
        self._exchanges.append(
            _Exchange(
                response=self._past(response),
                answer=self._chat.text(f"{self._chat.after(response)}{said}{seen}"),
                seen=seen,
                line=f"Step {len(self._exchanges) + 1}: {' -> '.join([toolcall.brief(parsed.calls), *lines])}\n",
            )
        )
        self._images.append(self._chat.image(observation.screenshot))

    def _past(self, response: Response) -> TextSegment:
        """A response in the form in which later prompts show it."""
        if self._harness.config.keep_reasoning == "full":
            return TextSegment(ids=tuple(response.ids))
        said = self._harness.codec.decode(response.ids)
        _, end_tag, rest = said.partition(toolcall.THINK_END)
        return self._chat.text(rest.lstrip("\n") if end_tag else said)

    def _assemble(self, limits: HistoryLimits) -> Prompt:
        summarised = len(self._exchanges) - limits.turns
        parts: list[Segment] = [self._chat.system, self._head(summarised)]
        oldest = len(self._images) - limits.images
        for index in range(summarised, len(self._images)):
            if index > summarised:
                parts += [self._exchanges[index - 1].response, self._exchanges[index - 1].answer]
            if index >= oldest:
                parts += self._images[index]
            parts.append(self._chat.turn)
        return self._chat.prompt(parts)

    def _head(self, summarised: int) -> TextSegment:
        if summarised not in self._heads:
            lines = "".join(exchange.line for exchange in self._exchanges[:summarised])
            self._heads[summarised] = self._chat.text(f"{self._opening}{lines}{self._exchanges[summarised - 1].seen}")
        return self._heads[summarised]
