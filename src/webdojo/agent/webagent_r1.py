"""The WebAgent-R1 harness (§2.1, §2.3, appendices A and D): text only, one named action a turn.

A page is simplified HTML whose elements have numbers; a response is a thought and one call such as
`do(action="Type", argument="red mug", element="7")`. No prompt holds an image.

Dynamic context compression: a prompt shows only the last `pages_kept` pages (`harness.py`). A placeholder
stands for each older page; all responses stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from webdojo.agent import pycall
from webdojo.agent.harness import LINE_CHARACTERS, Codec, ElementAt, Harness, HarnessConfig, no_elements
from webdojo.agent.toolcall import IM_END, THINK, THINK_END, plain
from webdojo.agent.webarena_actions import ADDRESS_BAR, FUNCTIONS, action_for, calls_of
from webdojo.types import Observation, Parsed, Task, ToolCall, View

ANSWER = "<answer>"
ANSWER_END = "</answer>"

_URL_CHARACTERS = 300
_TITLE_CHARACTERS = 120

_MARKER = re.compile(r"<(?=\|[^|<>\s]{1,40}\|>|/?(?:think|answer|tools|tool_call|tool_response)>)")
"""Matches the first character of any marker of the protocol."""

_SYSTEM = """\
You are a web agent. You finish the user's task in a real browser, one action a turn.

Each turn shows the page as simplified HTML. What can be clicked, typed into or chosen from has an id, by which \
actions name it. Only {kept} can be seen. Your own words stay, so write down what you will need later.

{form}

Actions:
do(action="Click", element="7")
do(action="Right Click", element="7")
do(action="Hover", element="7")
do(action="Type", argument="red mug", element="7") types into a field that is cleared first
do(action="Search", argument="red mug", element="7") types, and presses Enter
do(action="Select Dropdown Option", argument="Large", element="7")
do(action="Press Enter")
do(action="Scroll Up")
do(action="Scroll Down")
do(action="Switch Tab", argument="1") where 0 is the first tab
do(action="Wait")
go_backward()
go_forward()
{more}exit(message="29.90") ends the task, with the answer or, where none was asked for, a short report

An element that is out of view comes into view by itself. Where an action changes nothing, try another."""

_THINKING = """\
Answer every turn with a thought and one action:
<think># Element: the search field at the top</think><answer>do(action="Search", argument="mug", element="3")</answer>
In the thought say what you see, what is done and what comes next: "# Element" before the element that you choose, \
"# Note" before what you need later."""

_PLAIN = """\
Answer every turn with one action:
# Element: the search field at the top
do(action="Search", argument="mug", element="3")
Only lines that begin with # may stand before it: "# Element" for the element that you choose, "# Note" for what you \
need later."""

_MORE = """\
goto(url="http://shop.example/") opens an address
new_tab() opens a blank tab
close_tab() closes this one
"""


class WebAgentR1Config(HarnessConfig):
    name: str = "webagent_r1"
    thinking: bool = True
    """Responses are `<think>…</think><answer>…</answer>`; if off, they have no such tags (WebAgent-R1 §3.5)."""
    pages_kept: int = Field(default=1, ge=1)
    """The most recent pages that stay in the context (dynamic context compression, WebAgent-R1 §2.3)."""
    page_tokens: int = Field(default=4096, ge=16)
    """About how many tokens the simplified HTML of a page may have."""
    address_bar: bool = False
    """Adds `goto(url)`, `new_tab()` and `close_tab()` to the paper's actions, for tasks on sites that no link leads
    to."""

    @property
    def images(self) -> int:
        return 0

    def build(self, codec: Codec) -> WebAgentR1Harness:
        return WebAgentR1Harness(self, codec)


class WebAgentR1Harness(Harness):
    config: WebAgentR1Config
    old_page = "(simplified HTML of an older page)\n"
    action_section = "action"

    def __init__(self, config: WebAgentR1Config, codec: Codec) -> None:
        self.view = View(kind="simplified_html", whole_page=True, max_tokens=config.page_tokens)
        self.pages_kept = config.pages_kept
        self.functions = FUNCTIONS | (ADDRESS_BAR if config.address_bar else {})
        super().__init__(config, codec)

    def system_prompt(self) -> str:
        kept = self.config.pages_kept
        return _SYSTEM.format(
            kept="the latest page" if kept == 1 else f"the latest {kept} pages",
            form=_THINKING if self.config.thinking else _PLAIN,
            more=_MORE if self.config.address_bar else "",
        )

    def render(
        self,
        think: str,
        calls: Sequence[ToolCall],
        element_at: ElementAt = no_elements,
        earlier: Sequence[str] = (),
    ) -> tuple[str, int]:
        (function, arguments), said = action_for(calls, element_at, self.functions)
        action = pycall.write(function, arguments, _MARKER)
        thought = _unmarked(think.strip())
        if self.config.thinking:
            return f"{THINK}{thought}{THINK_END}{ANSWER}{action}{ANSWER_END}{IM_END}", said
        notes = "".join(f"# {line}\n" for line in thought.splitlines())
        return f"{notes}{action}{IM_END}", said

    def parse(self, text: str) -> Parsed:
        """In linear time. A second action is an error (appendix D: one action a round), but the first is kept."""
        body = text.encode(errors="replace").decode().partition(IM_END)[0]
        return self._parse_answer(body) if self.config.thinking else self._parse_action(body)

    def opening(self, task: Task) -> str:
        return f"Task: {plain(task.instruction)}\n"

    def page(self, observation: Observation) -> str:
        """The simplified HTML, preceded by the address, tabs and blocks that it does not contain."""
        lines = [f"Address: {plain(observation.url, _URL_CHARACTERS)}"]
        if observation.blocked:
            lines.append(f"The site may be blocking you: {plain(observation.blocked)}")
        if len(observation.tabs) > 1:
            lines.append("Tabs:")
            for tab in observation.tabs:
                lines.append(f"{tab.index}{'*' if tab.active else ''} {plain(tab.title, _TITLE_CHARACTERS)}")
        return "\n".join([*lines, f"{_unmarked(observation.text)}\n"])

    def complaint(self, errors: Sequence[str]) -> str:
        return "".join(f"Error: {plain(error)}\n" for error in errors)

    def _parse_answer(self, body: str) -> Parsed:
        think, end_tag, rest = body.partition(THINK_END)
        if not end_tag:
            return Parsed(error="no think end tag; think first, close the thought, then answer")
        thought = think.strip().removeprefix(THINK).strip()
        _, tag, answer = rest.partition(ANSWER)
        if not tag:
            return Parsed(think=thought, error="no answer tag after the thought")
        parsed = self._parse_action(answer)
        parsed.think = thought
        if parsed.error is None and ANSWER_END not in answer:
            parsed.error = "no answer end tag after the action"
        return parsed

    def _parse_action(self, body: str) -> Parsed:
        begin = pycall.find(self.functions, body)
        if begin is None:
            return Parsed(error=f"no action; functions are {', '.join(self.functions)}")
        notes = [line.strip().removeprefix("#").strip() for line in body[: begin.start()].splitlines()]
        parsed = Parsed(think="\n".join(notes))
        try:
            call, end = pycall.read(body, begin)
            parsed.sections["action"] = plain(body[begin.start() : end], limit=LINE_CHARACTERS)
            parsed.calls = calls_of(call)
        except ValueError as error:
            parsed.error = plain(str(error), limit=LINE_CHARACTERS)
        else:
            if pycall.find(self.functions, body, end) is not None:
                parsed.error = "more than one action; only the first was done"
        return parsed


def _unmarked(text: str) -> str:
    return _MARKER.sub("< ", text)
