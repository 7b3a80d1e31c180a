"""The OpenWebVoyager harness (§3.2–3.4, A): an accessibility tree and a screenshot of the window, one action a turn.

A response is `Thought: …` and then `Action: …`, which names an element by its number in the tree (table 7 of the
paper). All thoughts and actions stay in the context, with the last `screenshots_kept` screenshots and the last
`trees_kept` trees (equation 5); a placeholder stands for older trees. After an action that failed or could not be
parsed, the agent is asked to look again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from webdojo.agent import gestures
from webdojo.agent.gestures import ABOUT, POINTED, Gesture, GestureKind
from webdojo.agent.harness import LINE_CHARACTERS, Codec, Conversation, ElementAt, Harness, HarnessConfig, no_elements
from webdojo.agent.toolcall import IM_END, plain, unmarked
from webdojo.errors import HarnessError
from webdojo.types import Observation, Parsed, ToolCall, View

WAIT_S = 5
"""The seconds that `Wait` takes (table 7)."""

_SYSTEM = """\
You are a web agent. You finish the user's task in a real browser, one action a turn.

Every turn shows the accessibility tree of what is in the window, in which all that can be used has a number, and a \
screenshot of it. Of the past you see {trees}, {screenshots} and your own words, so write down what you will need \
later. Numbers of an older tree mean nothing any more.

Answer every turn in two parts:
Thought: what you see, what is done and what comes next, in short
Action: one of the actions below

{actions}

N is the number of an element. When the task is finished, answer."""

_WINDOW = "WINDOW"
_VERB = re.compile(r"([A-Za-z]+)[ \t]*")
_ELEMENT = r"(?P<element>[1-9][0-9]{0,5})"
_TYPED = rf"\[?{_ELEMENT}\]?[ \t]*;(?P<value>.*)"
_ACTIONS = {
    GestureKind.CLICK: ("Click [N]", rf"\[?{_ELEMENT}\]?", "click an element"),
    GestureKind.TYPE: ("Type [N]; TEXT", _TYPED, ABOUT[GestureKind.TYPE]),
    GestureKind.FILL: ("Fill [N]; TEXT", _TYPED, ABOUT[GestureKind.FILL]),
    GestureKind.SCROLL: (
        "Scroll [N or WINDOW]; up or down",
        rf"\[?(?:{_ELEMENT}|{_WINDOW})\]?[ \t]*;[ \t]*(?P<value>up|down)",
        "scroll the page, or the part of it where an element is",
    ),
    GestureKind.WAIT: ("Wait", "", f"pause for {WAIT_S} seconds"),
    GestureKind.BACK: ("GoBack", "", ABOUT[GestureKind.BACK]),
    GestureKind.GO: ("Restart", "", "begin again at {start}"),
    GestureKind.ANSWER: ("ANSWER; TEXT", ";(?P<value>.*)", ABOUT[GestureKind.ANSWER]),
}
"""The form of each action as the agent is told, the pattern of what follows its verb, and its description."""
_VERB_OF = {kind: form.partition(" ")[0].rstrip(";") for kind, (form, *_) in _ACTIONS.items()}
_REFLECT = """\
Your last action could not be carried out: {}. Look at the page again: is it the right element, and is the action \
written as it should be? Then think anew.
"""


class OpenWebVoyagerConfig(HarnessConfig):
    name: str = "openwebvoyager"
    screenshots_kept: int = Field(default=3, ge=1)
    """The most recent screenshots that stay in the context (OpenWebVoyager §3.2)."""
    trees_kept: int = Field(default=1, ge=1)
    """The most recent accessibility trees that stay in the context."""
    tree_tokens: int = Field(default=4096, ge=16)
    """About how many tokens the accessibility tree of a window may have."""
    error_reflection: bool = True
    """After a failed action the agent is asked to look again (OpenWebVoyager, appendix A)."""
    restart_url: str = ""
    """The address that `Restart` opens, in the paper that of Google Search; empty is the task's start page."""
    system_prompt: bool = True
    """Every prompt begins with the protocol; an agent that learned it by imitation needs none (OpenWebVoyager §3.4)."""
    fill: bool = False
    """An action of its own types without Enter, for forms of several fields; the paper's agent always presses it."""

    @property
    def images(self) -> int:
        return self.screenshots_kept

    def build(self, codec: Codec) -> OpenWebVoyagerHarness:
        return OpenWebVoyagerHarness(self, codec)


class OpenWebVoyagerConversation(Conversation):
    harness: OpenWebVoyagerHarness

    def parse(self, text: str) -> Parsed:
        return self.harness.parse(text, self.harness.config.restart_url or self.task.start_url)


class OpenWebVoyagerHarness(Harness):
    config: OpenWebVoyagerConfig
    conversation = OpenWebVoyagerConversation
    old_page = "(an older accessibility tree was here)\n"

    def __init__(self, config: OpenWebVoyagerConfig, codec: Codec) -> None:
        self.view = View(kind="accessibility_tree", max_tokens=config.tree_tokens)
        self.pages_kept = config.trees_kept
        self.verbs = {verb: kind for kind, verb in _VERB_OF.items() if config.fill or kind is not GestureKind.FILL}
        super().__init__(config, codec)

    def system_prompt(self) -> str:
        if not self.config.system_prompt:
            return ""
        start = plain(self.config.restart_url) or "the page where the task began"
        forms = [_ACTIONS[kind] for kind in self.verbs.values()]
        return _SYSTEM.format(
            trees=_last(self.config.trees_kept, "tree"),
            screenshots=_last(self.config.screenshots_kept, "screenshot"),
            actions="\n".join(f"- {form}: {about.format(start=start)}" for form, _, about in forms),
        )

    def render(
        self,
        think: str,
        calls: Sequence[ToolCall],
        element_at: ElementAt = no_elements,
        earlier: Sequence[str] = (),
    ) -> tuple[str, int]:
        gesture, said = gestures.read(calls)
        return f"Thought: {plain(think)}\nAction: {self._write(gesture, element_at)}{IM_END}", said

    def parse(self, text: str, restart_url: str = "") -> Parsed:
        head, mark, action = text.partition(IM_END)[0].partition("\nAction:")
        parsed = Parsed(think=head.strip().removeprefix("Thought:").strip())
        if not head.lstrip().startswith("Thought:"):
            parsed.error = "no Thought; think first, in a line that begins with Thought:"
        elif not mark:
            parsed.error = "no Action after the thought; it stands in a line of its own that begins with Action:"
        else:
            parsed.sections["Action"] = action.partition("\nThought:")[0].strip()
            try:
                parsed.calls = self._read(parsed.sections["Action"], restart_url).calls()
            except ValueError as error:
                parsed.error = str(error)
        return parsed

    def page(self, observation: Observation) -> str:
        return f"{unmarked(observation.text)}\n"

    def complaint(self, errors: Sequence[str]) -> str:
        reflect = errors and self.config.error_reflection
        return _REFLECT.format(plain("; ".join(errors), LINE_CHARACTERS)) if reflect else ""

    def _read(self, action: str, restart_url: str) -> Gesture:
        """The gesture of an action; the message of a ValueError says in one line what is wrong with it."""
        line = action.partition("\n")[0].rstrip()
        verb = _VERB.match(action)
        kind = self.verbs.get(verb[1]) if verb is not None else None
        if verb is None or kind is None:
            known = ", ".join(_ACTIONS[kind][0] for kind in self.verbs.values())
            raise ValueError(f"no such action: {plain(line, 40)!r}; the actions are {known}")
        form, pattern, _ = _ACTIONS[kind]
        found = re.fullmatch(pattern, (action if kind is GestureKind.ANSWER else line)[verb.end() :], re.DOTALL)
        if found is None:
            raise ValueError(f"{plain(line, 40)!r} is not of the form {form}")
        said = found.groupdict()
        at = {"element": int(said["element"])} if said.get("element") else {}
        value: dict[GestureKind, str | float] = {GestureKind.WAIT: WAIT_S, GestureKind.GO: restart_url}
        return Gesture(kind, at, value.get(kind, said.get("value", "").strip()))

    def _write(self, gesture: Gesture, element_at: ElementAt) -> str:
        """The action for a gesture; raises as `render` does."""
        kind, value = gesture.kind, unmarked(str(gesture.value))
        verb = _VERB_OF[kind]
        if verb not in self.verbs:
            raise HarnessError(f"an agent that always presses Enter cannot just fill in {value!r} (harness.fill)")
        number = gesture.number(element_at)
        if kind in POINTED and number is None:
            raise HarnessError(f"nothing at {gesture.at} has a number")
        if kind is GestureKind.GO and value != self.config.restart_url:
            raise HarnessError(f"Restart leads to {self.config.restart_url or 'the first page'}, not to {value}")
        if kind in (GestureKind.TYPE, GestureKind.FILL) and "\n" in value:
            raise HarnessError(f"an action of one line cannot type {value!r}")
        match kind:
            case GestureKind.CLICK:
                return f"{verb} [{number}]"
            case GestureKind.TYPE | GestureKind.FILL | GestureKind.SCROLL:
                return f"{verb} [{number or _WINDOW}]; {value}"
            case GestureKind.ANSWER:
                return f"{verb}; {value}"
        return verb


def _last(count: int, what: str) -> str:
    return f"the last {what}" if count == 1 else f"the last {count} {what}s"
