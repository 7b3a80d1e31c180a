"""The OpenWebRL harness (§4.1, A.2, A.3): the last K screenshots, all responses, all feedback.

What the browser says stands in `<tool_response>`, followed by the text of the observation (layout: `harness.py`). Turns
that are dropped, by the token budget or by `keep_reasoning: action_only`, become one line each after the task.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from webdojo.agent import toolcall
from webdojo.agent.harness import Codec, Conversation, ElementAt, Harness, HarnessConfig, no_elements
from webdojo.agent.toolcall import plain
from webdojo.browser.tools import TOOLS, json_schema, signature
from webdojo.types import Feedback, Observation, Parsed, Response, Task, TextSegment, ToolCall

_URL_CHARACTERS = 300
_TITLE_CHARACTERS = 120

_SYSTEM = """\
You are a web agent. You finish the user's task in a real browser, through tools.

Each turn shows what your last calls did, the state of the browser and a screenshot. Coordinates are \
integers from 0 to 1000: x from the left edge of the screenshot to the right, y from the top to the bottom.

{form}

Several calls in one turn run in order; {order}. {seen}. When the task is finished, call done with the \
answer, or with a short report where no answer was asked for."""

_FORM = """\
Answer every turn in this format:
<think>
what you see, what is done, what comes next
</think>
<tool_call>
{"name": "click", "arguments": {"x": 450, "y": 250}}
</tool_call>"""

_NATIVE_FORM = "Every turn, say what you see, what is done and what comes next, and call at least one tool."

_ORDER = "you see the screen after the last one"

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


def system_prompt(native: bool, screenshots_kept: int = 1, memory: str = "full", order: str = _ORDER) -> str:
    """The protocol (A.2, A.3).

    Args:
        native: leaves out how calls are written, and the tools, which go beside the prompt.
        screenshots_kept: the latest ones that the model sees; 0: all.
        memory: a key of `_MEMORY`, where not all screenshots are seen.
        order: what follows from several calls in one turn.
    """
    kept = "the latest screenshot" if screenshots_kept == 1 else f"the latest {screenshots_kept} screenshots"
    seen = f"Only {kept} can be seen; {_MEMORY[memory]}" if screenshots_kept else "All screenshots and your words stay"
    protocol = _SYSTEM.format(form=_NATIVE_FORM if native else _FORM, order=order, seen=seen)
    tools = "\n".join(json.dumps(json_schema(name)) for name in TOOLS)
    return protocol if native else f"{protocol}\n\n<tools>\n{tools}\n</tools>"


def describe(observation: Observation, first: bool, brief: bool = False) -> str:
    """The observation as text (x_t of §4.1), without the feedback."""
    scrolled, hidden = observation.scroll_px[1], max(observation.page_px[1] - observation.viewport_px[1], 0)
    url = plain(observation.url, _URL_CHARACTERS)
    if brief:
        lines = [f"url {url}", f"scroll {scrolled}/{hidden}"]
    else:
        lines = [f"Active tab: {plain(observation.title, _TITLE_CHARACTERS)} ({url})"]
        lines += [f"Scroll position: {scrolled} of {hidden} px"]
        if first:
            lines.insert(0, "Viewport: {} x {} px".format(*observation.viewport_px))
    if observation.blocked:
        warning = "blocked" if brief else "The site may be blocking you:"
        lines.append(f"{warning} {plain(observation.blocked)}")
    if len(observation.tabs) > 1:
        lines += ["tabs" if brief else "Tabs:"]
        for tab in observation.tabs:
            title, address = plain(tab.title, _TITLE_CHARACTERS), plain(tab.url, _URL_CHARACTERS)
            mark = "*" if tab.active else ""
            lines += [f"{tab.index}{mark} {address}" if brief else f"[{tab.index}]{mark} {title} ({address})"]
    return "\n".join(lines)


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

    def build_native(self, codec: Codec) -> OpenWebRLHarness:
        return OpenWebRLHarness(self, codec, native=True)


class OpenWebRLConversation(Conversation):
    """One episode. All of the browser's feedback and the text of all observations stay, so both are in the answer."""

    harness: OpenWebRLHarness

    def answer(self, parsed: Parsed, feedback: Sequence[Feedback], observation: Observation) -> tuple[str, str]:
        keep_feedback = self.harness.config.keep_feedback
        lines = [plain(entry.text) for entry in feedback] if keep_feedback else []
        if parsed.error is not None:
            lines.append(f"Error: {plain(parsed.error)}")
        said = "\n".join(lines)
        if said or keep_feedback:
            said = f"<tool_response>\n{said}\n</tool_response>\n"
        seen = f"{self.harness.describe(observation, first=False)}\n"
        return f"{said}{seen}", " -> ".join([toolcall.brief(parsed.calls), *lines])

    def note(self, observation: Observation) -> str:
        return f"{self.harness.describe(observation, first=not self._exchanges)}\n"


class OpenWebRLHarness(Harness):
    config: OpenWebRLConfig
    conversation = OpenWebRLConversation

    def __init__(self, config: OpenWebRLConfig, codec: Codec, native: bool = False) -> None:
        self._brief = config.tool_schemas == "signature"
        self._native = native
        if config.keep_reasoning == "action_only":
            self.turns_kept = 0
        super().__init__(config, codec)

    def system_prompt(self) -> str:
        if self._brief and not self._native:
            return _SYSTEM_SIGNATURE.format(tools="\n".join(signature(name) for name in TOOLS))
        return system_prompt(self._native, self.config.screenshots_kept, self.config.keep_reasoning)

    def render(
        self,
        think: str,
        calls: Sequence[ToolCall],
        element_at: ElementAt = no_elements,
        earlier: Sequence[str] = (),
    ) -> tuple[str, int]:
        return toolcall.render(think, calls, separator="" if self._brief else "\n"), len(calls)

    def parse(self, text: str) -> Parsed:
        return toolcall.parse(text)

    def opening(self, task: Task) -> str:
        return f"{'task ' if self._brief else 'Task: '}{plain(task.instruction)}\n"

    def past(self, response: Response) -> TextSegment:
        if self.config.keep_reasoning == "full":
            return super().past(response)
        said = self.codec.decode(response.ids)
        _, end_tag, rest = said.partition(toolcall.THINK_END)
        return self.chat.text(rest.lstrip("\n") if end_tag else said)

    def describe(self, observation: Observation, first: bool) -> str:
        """See `describe`."""
        return describe(observation, first, self._brief)
