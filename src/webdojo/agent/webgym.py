"""The WebGym harness (§5.2, C, E.1): one tool, a memory that only grows, and a limited history.

A response is Memory, Progress, Intention, Action and one call of `computer_use`; without memory it is Action and
the call, and thoughts may stand before either. The Memory of a response is the whole updated memory. A prompt shows the
last `history_turns` exchanges in full (`harness.py`) and older ones as one line each; where none of the former has the
memory, it follows the latter. That entries are neither changed nor dropped is asked of the agent and not enforced.

With `memory_delta` a response notes only what is new. New names are added to the memory; a name that is taken keeps its
value, and the agent gets an error. The memory up to the oldest exchange in full then stands before that.

A place is `coordinate`, [x, y] in 0..1000, or `element`, the number of a mark in the screenshot. The action `fill`,
which types without Enter, is ours. As in the paper, only the screenshot shows what a call did, except if it failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import Field

from webdojo.agent import gestures
from webdojo.agent.gestures import ABOUT, POINTED, Gesture, GestureKind
from webdojo.agent.harness import Codec, Conversation, ElementAt, Harness, HarnessConfig, no_elements
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
from webdojo.browser.tools import COORDINATE_MAX, TOOLS
from webdojo.errors import HarnessError
from webdojo.types import Feedback, Observation, Parsed, Task, ToolCall, View

_TOOL = "computer_use"
_ACTIONS: dict[str, tuple[GestureKind, str, str]] = {
    "left_click": (GestureKind.CLICK, "", "click a place"),
    "type": (GestureKind.TYPE, "text", ABOUT[GestureKind.TYPE]),
    "fill": (GestureKind.FILL, "text", ABOUT[GestureKind.FILL]),
    "scroll": (GestureKind.SCROLL, "direction", "scroll the page, or the part of it at a place"),
    "wait": (GestureKind.WAIT, "time", "pause"),
    "go_back": (GestureKind.BACK, "", ABOUT[GestureKind.BACK]),
    "navigate": (GestureKind.GO, "url", "open an address"),
    "answer": (GestureKind.ANSWER, "text", ABOUT[GestureKind.ANSWER]),
}
"""The gesture of each action, the argument that holds its value, and its description."""
_MAX_ELEMENT = 1_000_000
_LONGEST_S = TOOLS["wait"].arguments["seconds"]["maximum"]
_VALUES: dict[str, tuple[dict[str, Any], str, Callable[[Any], bool]]] = {
    "text": ({"type": "string", "description": "To type or to answer."}, "a string", lambda v: isinstance(v, str)),
    "direction": (
        {"type": "string", "enum": ["up", "down"], "description": "Of a scroll."},
        "up or down",
        lambda value: value in ("up", "down"),
    ),
    "time": (
        {"type": "number", "minimum": 0, "maximum": _LONGEST_S, "description": "Seconds of a pause."},
        f"0 to {_LONGEST_S:g} seconds",
        lambda value: type(value) in (int, float) and 0 <= value <= _LONGEST_S,
    ),
    "url": (
        {"type": "string", "minLength": 1, "description": "The address to open."},
        "an address",
        lambda value: isinstance(value, str) and value != "",
    ),
}
"""The schema of each value, what it must be, and whether one is that."""

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
    "Memory": 'all that later steps need, as a JSON object, for example {"Price of the red mug": "$9"}; {} if nothing. '
    "Repeat your last memory, add what you learned in this step, and change no entry.",
    "Progress": 'the parts of the task and how each stands, as a JSON object, for example {"Compare two mugs": "not '
    'finished"}. Split them up as you learn more.',
    "Intention": "the part that you work on now.",
    "Action": "what you do next, in one short sentence.",
}
_MEMORY_DELTA = (
    'what you learned that later steps need, as a JSON object, for example {"Price of the red mug": "$9"}; '
    "{} if nothing. It is added to what you noted before, which cannot be changed."
)
_JSON = ("Memory", "Progress")
_OPEN_WEB = (
    "Addresses to navigate to begin with https://. If a site asks you to prove that you are no robot, do not try: "
    "navigate to another site where the task can be done.\n"
)
"""The rules of E.1 for sites of the open web."""

_FACT = re.compile(r"(?P<name>\S.* of .+?)(?: is|:) (?!not |in view)(?P<value>.+)\.")
"""Matches a sentence of a script that is worth remembering, such as `Price of Red Mug is $9.`"""


class WebGymConfig(HarnessConfig):
    name: str = "webgym"
    memory: bool = True
    """The response begins with Memory, Progress and Intention (WebGym §5.2, E.1)."""
    memory_delta: bool = False
    """The Memory of a response is what is new in this step, and names that are taken keep their value; otherwise it is
    the whole updated memory, as the agent writes it (WebGym §5.2)."""
    mode: Literal["coordinates", "marks"] = "coordinates"
    """How actions name places: points in 0..1000, or numbers that are drawn into the screenshot (WebGym §5.1)."""
    history_turns: int = Field(default=4, ge=0)
    """The most recent exchanges shown in full; older ones are one line each, followed by the memory up to there."""
    screenshots_kept: int = Field(default=1, ge=1)
    """The most recent screenshots of those exchanges that stay in the context, the current one included."""
    fill: bool = False
    """An action of its own types without Enter, for forms of several fields; the paper's agent always presses it."""

    @property
    def images(self) -> int:
        return min(self.screenshots_kept, self.history_turns + 1)

    def build(self, codec: Codec) -> WebGymHarness:
        return WebGymHarness(self, codec)


class WebGymConversation(Conversation):
    harness: WebGymHarness

    def __init__(self, harness: WebGymHarness, task: Task, observation: Observation) -> None:
        self._memory: dict[str, Any] = {}
        super().__init__(harness, task, observation)

    def errors(self, parsed: Parsed, feedback: Sequence[Feedback]) -> list[str]:
        """Those of the turn, and with `memory_delta` one for each name that the response would have changed."""
        noted = json.loads(parsed.sections.get("Memory", "{}"))
        if not self.harness.config.memory_delta:
            self._memory = noted if "Memory" in parsed.sections else self._memory
            return super().errors(parsed, feedback)
        taken = [name for name, value in noted.items() if self._memory.setdefault(name, value) != value]
        return super().errors(parsed, feedback) + [
            f"{name!r} is in the memory already and stays as it was; note news under another name" for name in taken
        ]

    def repeats_note(self, parsed: Parsed) -> bool:
        return "Memory" in parsed.sections and not self.harness.config.memory_delta

    def note(self, observation: Observation) -> str:
        return f"Memory: {dumps(self._memory)}\n" if self._memory else ""


class WebGymHarness(Harness):
    config: WebGymConfig
    conversation = WebGymConversation

    def __init__(self, config: WebGymConfig, codec: Codec) -> None:
        marks = config.mode == "marks"
        self.view = View(kind="marks") if marks else None
        self.place = "element" if marks else "coordinate"
        self.actions = {name: spec for name, spec in _ACTIONS.items() if config.fill or spec[0] is not GestureKind.FILL}
        self.parts = tuple(_PARTS) if config.memory else ("Action",)
        self.turns_kept = config.history_turns
        super().__init__(config, codec)

    def system_prompt(self) -> str:
        turns = self.config.history_turns
        past = f"the last {turns} in full and a line each of those before" if turns else "a line each"
        return _SYSTEM.format(
            seeing=_SEEING[self.config.mode],
            tool=json.dumps(self._schema()),
            parts="\n".join(f"{name}: {self._about(name)}" for name in self.parts),
            example=_block({"action": "left_click", self.place: 7 if self.place == "element" else [450, 250]}),
            past=f"{past}, and all that you noted" if self.config.memory else past,
        )

    def opening(self, task: Task) -> str:
        return f"{super().opening(task)}{_OPEN_WEB if task.start_url.startswith('https:') else ''}"

    def _about(self, part: str) -> str:
        return _MEMORY_DELTA if part == "Memory" and self.config.memory_delta else _PARTS[part]

    def _schema(self) -> dict[str, Any]:
        """The tool as an OpenAI function definition."""
        pointed = [name for name, (kind, *_) in self.actions.items() if kind in POINTED]
        where = f"The place; {', '.join(pointed)} need one, scroll may have one."
        if self.place == "element":
            place = {"type": "integer", "minimum": 1, "description": where}
        else:
            edge = {"type": "integer", "minimum": 0, "maximum": COORDINATE_MAX}
            place = {"type": "array", "items": edge, "minItems": 2, "maxItems": 2, "description": where}
        actions = {
            "type": "string",
            "enum": list(self.actions),
            "description": "; ".join(f"{name}: {about}" for name, (_, _, about) in self.actions.items()),
        }
        values = {name: schema for name, (schema, *_) in _VALUES.items()}
        return {
            "type": "function",
            "function": {
                "name": _TOOL,
                "description": "Use the browser with mouse and keyboard.",
                "parameters": {
                    "type": "object",
                    "properties": {"action": actions, self.place: place, **values},
                    "required": ["action"],
                    "additionalProperties": False,
                },
            },
        }

    def render(
        self,
        think: str,
        calls: Sequence[ToolCall],
        element_at: ElementAt = no_elements,
        earlier: Sequence[str] = (),
    ) -> tuple[str, int]:
        """See `Harness.render`. The first sentence of the thought is the task, the last ones are the action."""
        gesture, said = gestures.read(calls)
        task, *rest = _sentences(think)
        facts = {sentence: fact for sentence in rest if (fact := _FACT.fullmatch(sentence)) is not None}
        before = () if self.config.memory_delta else [s for thought in earlier for s in _sentences(thought)[1:]]
        learned = [*filter(None, map(_FACT.fullmatch, before)), *facts.values()]
        memory: dict[str, str] = {}
        for fact in learned:
            memory.setdefault(fact["name"], fact["value"])
        says = {
            "Memory": dumps(memory),
            "Progress": dumps({task: "finished" if gesture.kind is GestureKind.ANSWER else "not finished"}),
            "Intention": task,
            "Action": " ".join(sentence for sentence in rest if sentence not in facts) or task,
        }
        parts = "".join(f"{name}: {says[name]}\n" for name in self.parts)
        return f"{parts}{_block(self._write(gesture, element_at))}{IM_END}", said

    def parse(self, text: str) -> Parsed:
        body = text.partition(IM_END)[0]
        thought, end_tag, rest = body.partition(THINK_END)
        if not end_tag:
            thought, rest = "", body
        parsed = Parsed(think=thought.strip().removeprefix(THINK).strip())
        try:
            position = self._read_parts(rest, parsed)
            name, arguments, position = read_block(rest, position + len(CALL))
            if name != _TOOL:
                raise ValueError(f'there is one tool, "{_TOOL}", and not "{plain(name, 40)}"')
            parsed.calls = self._read(arguments).calls()
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
                # Lists and objects become their JSON, so that the memory has no levels.
                flat = {key: dumps(part) if isinstance(part, dict | list) else part for key, part in value.items()}
                parsed.sections[name] = dumps(flat)
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

    def _read(self, arguments: dict[str, Any]) -> Gesture:
        """The gesture that a call asks for; the message of a ValueError says in one line what is wrong with it."""
        action = arguments.get("action")
        if not isinstance(action, str) or action not in self.actions:
            raise ValueError(f"action must be one of {', '.join(self.actions)}, not {_shown(action)}")
        kind, name, _ = self.actions[action]
        needed = [*([self.place] if kind in POINTED else []), *([name] if name else [])]
        known = ["action", *needed, *([self.place] if kind is GestureKind.SCROLL else [])]
        for argument in arguments:
            if argument not in known:
                raise ValueError(f"{action} takes no {_shown(argument)}")
        for argument in needed:
            if argument not in arguments:
                raise ValueError(f"{action} needs {argument}")
        at = self._at(arguments[self.place]) if self.place in arguments else {}
        value = arguments[name] if name else ""
        if name and not _VALUES[name][2](value):
            raise ValueError(f"{name} must be {_VALUES[name][1]}, not {_shown(value)}")
        return Gesture(kind, at, value)

    def _at(self, value: Any) -> dict[str, int]:
        """The place of a call, in the form of the browser's tools."""
        if self.place == "element":
            if type(value) is int and 1 <= value <= _MAX_ELEMENT:
                return {"element": value}
            raise ValueError(f"element must be the number of a mark, not {_shown(value)}")
        pair: list[Any] = value if isinstance(value, list) and len(value) == 2 else [None]
        if all(type(part) is int and 0 <= part <= COORDINATE_MAX for part in pair):
            return {"x": pair[0], "y": pair[1]}
        raise ValueError(f"coordinate must be two integers from 0 to {COORDINATE_MAX}, not {_shown(value)}")

    def _write(self, gesture: Gesture, element_at: ElementAt) -> dict[str, Any]:
        """The arguments that ask for a gesture; raises as `render` does."""
        action, name = next((name, value) for name, (kind, value, _) in _ACTIONS.items() if kind is gesture.kind)
        if action not in self.actions:
            raise HarnessError(
                f"an agent that always presses Enter cannot just fill in {gesture.value!r} (harness.fill)"
            )
        arguments: dict[str, Any] = {"action": action}
        if self.place == "coordinate" and "x" in gesture.at:
            arguments["coordinate"] = [gesture.at["x"], gesture.at["y"]]
        elif self.place == "element" and (number := gesture.number(element_at)) is not None:
            arguments["element"] = number
        elif gesture.kind in POINTED:
            raise HarnessError(f"this agent has no {self.place} for what is at {gesture.at}")
        return arguments | ({name: gesture.value} if name else {})


def _sentences(thought: str) -> list[str]:
    return re.split(r"(?<=[.?!]) ", plain(thought))


def _block(arguments: dict[str, Any]) -> str:
    return f"{CALL}\n{dumps({'name': _TOOL, 'arguments': arguments})}\n{CALL_END}"


def _shown(value: object) -> str:
    return plain(repr(value), limit=40)
