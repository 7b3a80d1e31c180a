"""What goes between an OpenEnv client and our server.

OpenEnv drops an observation's `metadata` on the wire, so all that a trainer needs is a field of its own; `done` and
`reward` travel beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field, model_validator

from webdojo.interop.refusals import check_action
from webdojo.types import Feedback, Tab, ToolCall


class WebdojoAction(Action):
    """One turn of the agent: its calls, or the text that holds them."""

    calls: list[ToolCall] | None = Field(
        default=None,
        description="Calls of browser tools, in order; the first observation lists the tools. `done` ends the episode.",
    )
    text: str | None = Field(
        default=None,
        description="Instead of calls, the model's whole response in the form "
        '<think>why</think><tool_call>{"name": "click", "arguments": {"x": 450, "y": 250}}</tool_call>.',
    )

    @model_validator(mode="before")
    @classmethod
    def _is_one_turn(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            # OpenEnv would tell a client that its message is invalid, and not why; it passes this error on.
            check_action({**given, "calls": _plain(given.get("calls"))})
        return given


def _plain(calls: Any) -> Any:
    """The same calls as they are sent, where a client has made them of our records."""
    if not isinstance(calls, list | tuple):
        return calls
    return [call.model_dump() if isinstance(call, ToolCall) else call for call in calls]


class WebdojoObservation(Observation):
    """What the browser shows and says; `done` is `terminated or truncated`, and `reward` comes with it."""

    task_id: str = ""
    instruction: str = ""
    system_prompt: str = Field(
        default="",
        description="The protocol, for agents with native tool calls that see the latest screenshot; at a reset.",
    )
    tools: list[dict[str, Any]] = Field(default=[], description="The tools as OpenAI functions; at a reset.")
    screenshot: str = Field(default="", description="The encoded image in base64.")
    screenshot_mime: str = ""
    viewport_px: tuple[int, int] = (0, 0)
    url: str = ""
    title: str = ""
    tabs: list[Tab] = Field(default=[])
    text: str = Field(
        default="", description="The state of the browser in words, and the page, if the server reads it."
    )
    feedback: list[Feedback] = Field(default=[], description="What the browser says about each call.")
    error: str = Field(default="", description="Why the turn could not be read, or what failed.")
    terminated: bool = Field(default=False, description="The agent or the environment ended the episode.")
    truncated: bool = Field(default=False, description="It ended by its limit of steps, or because something failed.")
    termination: str = Field(default="", description="Why it ended, as `webdojo.types.Termination`.")
    success: bool | None = None
    valid: bool | None = Field(
        default=None,
        description="False: the web or the system failed, so that the episode should train nothing; it has no reward.",
    )
    reason: str = Field(default="", description="What the reward function says.")


class WebdojoState(State):
    """The episode of a session."""

    task_id: str = ""
    group: str = ""
