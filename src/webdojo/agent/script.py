"""What a script is that does a task in place of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from webdojo.types import Task, ToolCall, View


class ScriptStep(Protocol):
    """What a script wants said and done in one turn."""

    @property
    def think(self) -> str: ...

    @property
    def calls(self) -> Sequence[ToolCall]: ...


class Script(Protocol):
    """Does one task by looking into the page of its session (`sites.oracle.Oracle`)."""

    async def step(self, session: Any) -> ScriptStep: ...


ScriptMaker = Callable[[Task, View | None, float, str], Script]
"""Makes the script of one episode, from its task, how the agent sees pages (`Harness.view`), the chance of a wrong turn
at each step, and the seed that draws these."""
