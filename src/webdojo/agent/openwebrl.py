"""The OpenWebRL harness (§4.1, A.2, A.3): the last K screenshots, all responses, all feedback.

Layout of a prompt, ChatML as in Qwen3-VL, one part a line; each text part is tokenised once:

    system              protocol and tools, the same for every episode
    user                task, observation text
    screenshot          <|vision_start|> image <|vision_end|>; only the last K are there
    turn                end of the user's turn, start of the assistant's
    response            the ids as they were sampled, reasoning included
    user                <tool_response> feedback, observation text
    screenshot, turn, response, user, …

A dropped screenshot vanishes with its two markers and nothing else moves, so consecutive prompts
share every token before the first screenshot that one of them lacks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from webdojo.agent import toolcall
from webdojo.agent.harness import Codec
from webdojo.agent.toolcall import IM_END, plain
from webdojo.browser.tools import TOOLS, json_schema, signature
from webdojo.config import HarnessConfig
from webdojo.types import (
    Feedback,
    ImageRef,
    ImageSegment,
    Observation,
    Parsed,
    Prompt,
    Response,
    Task,
    TextSegment,
    ToolCall,
)

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
your own words stay, so write down what you will need later. When the task is finished, call done with the \
answer, or with a short report where no answer was asked for.

<tools>
{tools}
</tools>"""

_SYSTEM_SIGNATURE = """\
You are a web agent. Think, then call tools:
<think>why</think><tool_call>{{"name": "click", "arguments": {{"x": 450, "y": 250}}}}</tool_call>
x and y: 0 to 1000. End with done.
{tools}"""


class OpenWebRLHarness:
    """Makes conversations, and parses and renders responses, for one codec."""

    def __init__(self, config: HarnessConfig, codec: Codec) -> None:
        self.config = config
        self.codec = codec
        self._brief = config.tool_schemas == "signature"
        self.system = self.text(f"<|im_start|>system\n{self.system_prompt()}{IM_END}\n")
        self.vision_start = self.text("<|vision_start|>")
        self.vision_end = self.text("<|vision_end|>")
        self.turn = self.text(f"{IM_END}\n<|im_start|>assistant\n")
        self._im_end_id = codec.encode(IM_END)[-1]

    def system_prompt(self) -> str:
        """The protocol and the tools, as full JSON schemas or as one line each."""
        if self._brief:
            return _SYSTEM_SIGNATURE.format(tools="\n".join(signature(name) for name in TOOLS))
        kept = self.config.screenshots_kept
        return _SYSTEM_JSON.format(
            kept="the latest screenshot" if kept == 1 else f"the latest {kept} screenshots",
            tools="\n".join(json.dumps(json_schema(name)) for name in TOOLS),
        )

    def start(self, task: Task, observation: Observation) -> OpenWebRLConversation:
        label = "task " if self._brief else "Task: "
        opening = f"<|im_start|>user\n{label}{plain(task.instruction)}\n{self.describe(observation, first=True)}\n"
        return OpenWebRLConversation(self, opening, observation.screenshot)

    def parse(self, text: str) -> Parsed:
        return toolcall.parse(text)

    def render(self, think: str, calls: Sequence[ToolCall]) -> str:
        return toolcall.render(think, calls, separator="" if self._brief else "\n")

    def text(self, text: str) -> TextSegment:
        return TextSegment(ids=tuple(self.codec.encode(text)))

    def ended(self, response: Response) -> bool:
        """False where sampling stopped before the model closed its turn."""
        return bool(response.ids) and response.ids[-1] == self._im_end_id

    def describe(self, observation: Observation, first: bool) -> str:
        """The observation as text: x_t of §4.1, without the feedback."""
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


class OpenWebRLConversation:
    """One episode: text segments in order, with the screenshots between them."""

    def __init__(self, harness: OpenWebRLHarness, opening: str, screenshot: ImageRef) -> None:
        self._harness = harness
        self._parts: list[TextSegment | ImageSegment] = [harness.system, harness.text(opening)]
        self._show(screenshot)

    def prompt(self) -> Prompt:
        images = [index for index, part in enumerate(self._parts) if isinstance(part, ImageSegment)]
        kept = set(images[-self._harness.config.screenshots_kept :])
        segments: list[TextSegment | ImageSegment] = []
        for index, part in enumerate(self._parts):
            if not isinstance(part, ImageSegment):
                segments.append(part)
            elif index in kept:
                segments += [self._harness.vision_start, part, self._harness.vision_end]
        return Prompt(segments=tuple(segments))

    def add(self, response: Response, parsed: Parsed, feedback: list[Feedback], observation: Observation) -> None:
        lines = [plain(entry.text) for entry in feedback]
        if parsed.error is not None:
            lines.append(f"Error: {plain(parsed.error)}")
        if response.ids:
            self._parts.append(TextSegment(ids=tuple(response.ids)))
        close = "" if self._harness.ended(response) else IM_END
        text = "\n".join(lines)
        self._parts.append(
            self._harness.text(
                f"{close}\n<|im_start|>user\n<tool_response>\n{text}\n</tool_response>\n"
                f"{self._harness.describe(observation, first=False)}\n"
            )
        )
        self._show(observation.screenshot)

    def _show(self, screenshot: ImageRef) -> None:
        tokens = self._harness.codec.image_tokens(screenshot.width, screenshot.height)
        self._parts += [ImageSegment(image=screenshot, tokens=tokens), self._harness.turn]
