"""The WebGym harness (§5.2, C, E.1): one tool, a memory that only grows, and a limited history.

A response is Memory, Progress, Intention, Action and one call of `computer_use`; without memory it is Action and
the call, and thoughts may stand before either. New names in a response's Memory are added to the memory; a name that
is taken keeps its value, and the agent gets an error. A prompt shows the last `history_turns` exchanges in full
(`transcript.py`). Older exchanges are one line each, followed by the memory up to there; later notes stand in the
responses.

As in the paper, only the screenshot shows what a call did, except if it failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from webdojo.agent import gestures
from webdojo.agent.chatml import ChatML
from webdojo.agent.computer_use import TOOL, ComputerUse
from webdojo.agent.gestures import GestureKind
from webdojo.agent.harness import Codec, ElementAt, HarnessConfig, no_elements
from webdojo.agent.toolcall import (
    CALL,
    CALL_END,
    IM_END,
    THINK,
    THINK_END,
    dumps,
    plain,
    read_block,
    read_json,
    reason,
    skip_space,
)
from webdojo.agent.transcript import LINE_CHARACTERS, Transcript, errors_of
from webdojo.types import Feedback, Observation, Parsed, Prompt, Response, Task, ToolCall, View

_SYSTEM = """\
You are a web agent. You finish the user's task in a real browser with one tool. {seeing}

<tools>
{tool}
</tools>

Answer every turn with these parts, in this order, and with nothing else:
{parts}
{example}

Of your earlier turns you can read {past}. When the task is finished, answer."""

_SEEING = {
    "coordinates": "Every turn shows a screenshot. A place in it is [x, y], two integers from 0 to 1000: x from the "
    "left edge to the right, y from the top to the bottom.",
    "marks": "Every turn shows a screenshot in which all that can be used has a frame with a number. A place is such "
    "a number; those of earlier screenshots mean nothing any more.",
}
_PARTS = {
    "Memory": 'what you learned that later steps need, as a JSON object, for example {"Price of the red mug": "$9"}; '
    "{} if nothing. It is added to what you noted before, which cannot be changed.",
    "Progress": 'the parts of the task and how each stands, as a JSON object, for example {"Compare two mugs": "not '
    'finished"}. Split them up as you learn more.',
    "Intention": "the part that you work on now.",
    "Action": "what you do next, in one short sentence.",
}
_JSON = ("Memory", "Progress")

_FACT = re.compile(r"(?P<name>\S.* of .+?)(?: is|:) (?!not |in view)(?P<value>.+)\.")
"""Matches a sentence of a script that is worth remembering, such as `Price of Red Mug is $9.`"""


class WebGymConfig(HarnessConfig):
    name: str = "webgym"
    memory: bool = True
    """The response begins with Memory, Progress and Intention (WebGym §5.2, E.1)."""
    mode: Literal["coordinates", "marks"] = "coordinates"
    """How actions name places: points in 0..1000, or numbers that are drawn into the screenshot (WebGym §5.1)."""
    history_turns: int = Field(default=4, ge=0)
    """The most recent exchanges shown in full; older ones are one line each, followed by the memory up to there."""
    screenshots_kept: int = Field(default=1, ge=1)
    """The most recent screenshots of those exchanges that stay in the context, the current one included."""
    fill: bool = True
    """An action of its own types without Enter, for forms of several fields; the paper's agent always presses it."""

    @property
    def images(self) -> int:
        return min(self.screenshots_kept, self.history_turns + 1)

    def build(self, codec: Codec) -> WebGymHarness:
        return WebGymHarness(self, codec)


class WebGymHarness:
    """Makes conversations, and renders responses, for one codec."""

    def __init__(self, config: WebGymConfig, codec: Codec) -> None:
        self.config = config
        self.codec = codec
        self.view = View(kind="marks") if config.mode == "marks" else None
        self.tool = ComputerUse(marks=config.mode == "marks", fill=config.fill)
        self.parts = tuple(_PARTS) if config.memory else ("Action",)
        self.chat = ChatML(codec, self.system_prompt())

    def system_prompt(self) -> str:
        """The protocol and the tool."""
        return _SYSTEM.format(
            seeing=_SEEING[self.config.mode],
            tool=json.dumps(self.tool.schema()),
            parts="\n".join(f"{name}: {_PARTS[name]}" for name in self.parts),
            example=_block(self.tool.example()),
            past=self._past(),
        )

    def _past(self) -> str:
        turns = self.config.history_turns
        past = f"the last {turns} in full and a line each of those before" if turns else "a line each"
        return f"{past}, and all that you noted" if self.config.memory else past

    def start(self, task: Task, observation: Observation) -> WebGymConversation:
        return WebGymConversation(self, task, observation)

    def render(self, think: str, calls: Sequence[ToolCall], element_at: ElementAt = no_elements) -> tuple[str, int]:
        """See `Harness.render`. The first sentence of the thought is the task, the last ones are the action."""
        gesture, said = gestures.read(calls)
        task, *rest = re.split(r"(?<=[.?!]) ", plain(think))
        facts = {sentence: fact for sentence in rest if (fact := _FACT.fullmatch(sentence)) is not None}
        says = {
            "Memory": dumps({fact["name"]: fact["value"] for fact in facts.values()}),
            "Progress": dumps({task: "finished" if gesture.kind is GestureKind.ANSWER else "not finished"}),
            "Intention": task,
            "Action": " ".join(sentence for sentence in rest if sentence not in facts) or task,
        }
        parts = "".join(f"{name}: {says[name]}\n" for name in self.parts)
        return f"{parts}{_block(self.tool.write(gesture, element_at))}{IM_END}", said

    def parse(self, text: str) -> Parsed:
        """Parse a response; see `Conversation.parse`."""
        body = text.partition(IM_END)[0]
        thought, end_tag, rest = body.partition(THINK_END)
        if not end_tag:
            thought, rest = "", body
        parsed = Parsed(think=thought.strip().removeprefix(THINK).strip())
        try:
            position = self._read_parts(rest, parsed)
            name, arguments, position = read_block(rest, position + len(CALL))
            if name != TOOL:
                raise ValueError(f'there is one tool, "{TOOL}", and not "{plain(name, 40)}"')
            parsed.calls = self.tool.read(arguments).calls()
        except (ValueError, RecursionError) as error:
            parsed.error = reason(error)
            return parsed
        if rest.find(CALL, position) >= 0:
            parsed.error = "more than one tool call; only the first was carried out"
        return parsed

    def _read_parts(self, text: str, parsed: Parsed) -> int:
        """Parse the parts before the call into `parsed.sections`, and return where the call's tag begins."""
        position = 0
        for index, name in enumerate(self.parts):
            position = skip_space(text, position)
            if not text.startswith(f"{name}:", position):
                raise ValueError(f"{name} is missing; answer with {', '.join(self.parts)} and a tool call")
            position += len(name) + 1
            if name in _JSON:
                try:
                    value, position = read_json(text, position)
                except (ValueError, RecursionError) as error:
                    raise ValueError(f"{name}: {reason(error)}") from None
                if not isinstance(value, dict):
                    raise ValueError(f"{name} must be a JSON object")
                parsed.sections[name] = dumps({key: _flat(entry) for key, entry in value.items()})
                continue
            closing = CALL if name == self.parts[-1] else f"\n{self.parts[index + 1]}:"
            end = text.find(closing, position)
            if end < 0:
                after = "no tool call" if closing == CALL else f"no {self.parts[index + 1]}"
                raise ValueError(f"{after} after {name}")
            parsed.sections[name] = text[position:end].strip()
            position = end
        parsed.think = parsed.think or parsed.sections["Action"]
        return position


class WebGymConversation:
    """One episode, with the agent's memory."""

    def __init__(self, harness: WebGymHarness, task: Task, observation: Observation) -> None:
        self._harness = harness
        opening = f"Task: {plain(task.instruction)}\nWebsite: {plain(task.start_url)}\n"
        self._transcript = Transcript(harness.chat, opening, observation)
        self._memory: dict[str, Any] = {}

    def prompt(self, max_tokens: int) -> Prompt:
        config = self._harness.config
        return self._transcript.prompt(max_tokens, images=config.screenshots_kept, turns=config.history_turns)

    def parse(self, text: str) -> Parsed:
        return self._harness.parse(text)

    def add(self, response: Response, parsed: Parsed, feedback: list[Feedback], observation: Observation) -> None:
        errors = errors_of(parsed, feedback) + self._remember(parsed)
        self._transcript.add(
            response,
            feedback="".join(f"Error: {plain(error, LINE_CHARACTERS)}\n" for error in errors),
            action=parsed.sections.get("Action", "no action"),
            errors=errors,
            observation=observation,
            memory=f"Memory: {dumps(self._memory)}\n" if self._memory else "",
        )

    def _remember(self, parsed: Parsed) -> list[str]:
        """Add what a response notes, and return an error for each name that it would have changed."""
        noted = json.loads(parsed.sections.get("Memory", "{}"))
        taken = [name for name, value in noted.items() if self._memory.setdefault(name, value) != value]
        return [
            f"{name!r} is in the memory already and stays as it was; note news under another name" for name in taken
        ]


def _flat(value: Any) -> Any:
    """A value for the memory: lists and objects become their JSON, others stay as they are."""
    return dumps(value) if isinstance(value, dict | list) else value


def _block(arguments: dict[str, Any]) -> str:
    return f"{CALL}\n{dumps({'name': TOOL, 'arguments': arguments})}\n{CALL_END}"
