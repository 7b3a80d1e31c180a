"""An engine that writes what a script decides: the oracle's demonstrations, in the model's own format.

The ids come from the harness's `render` and the codec, so a scripted episode holds the same tokens
that a model would have sampled. Log-probabilities are zeros: nothing was sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.async_api import Error as PlaywrightError

from webdojo.agent.harness import Harness
from webdojo.agent.script import Script
from webdojo.browser.interface import Session
from webdojo.browser.session import BrowserSession
from webdojo.errors import ConfigError, EngineError, HarnessError
from webdojo.types import FinishReason, Prompt, Response, Sampling, Task, ToolCall

_GOING_ON = "Now the rest of that."


class ScriptedEngine:
    """Answers every prompt with the next step of its script, whatever the prompt says."""

    def __init__(self, script: Script, session: BrowserSession, harness: Harness) -> None:
        self._script = script
        self._session = session
        self._harness = harness
        self._unsaid: list[ToolCall] = []
        """Calls of the last step that did not fit into one response."""
        self._thoughts: list[str] = []

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """The rendered step, cut at `sampling.max_tokens` as a model's response would be.

        A step of more calls than the harness says in one response is said in several.
        """
        think, calls = _GOING_ON, self._unsaid
        if not calls:
            try:
                step = await self._script.step(self._session)
            except PlaywrightError as error:
                if (lost := self._session.lost(error)) is not None:
                    raise lost from error
                raise EngineError(f"the script cannot look at {self._session.page.url}: {error.message}") from error
            think, calls = step.think, list(step.calls)
        try:
            text, said = self._harness.render(think, calls, self._session.elements.at, self._thoughts)
        except HarnessError as error:
            name = self._harness.config.name
            raise EngineError(f"harness {name!r} cannot say the script's step {think!r}: {error}") from error
        self._unsaid = calls[said:]
        self._thoughts.append(think)
        ids = self._harness.codec.encode(text)
        cut = len(ids) > sampling.max_tokens
        ids = ids[: sampling.max_tokens]
        return Response(
            ids=ids,
            logprobs=[0.0] * len(ids),
            versions=[0] * len(ids),
            finish_reason=FinishReason.LENGTH if cut else FinishReason.STOP,
        )


@dataclass(frozen=True)
class ScriptedActor:
    """An actor for `run_episode`: one fresh script an episode, for example `ScriptedActor(harness, Oracle)`.

    It raises ConfigError for a session on a browser server: a script looks into the page itself.
    """

    harness: Harness
    script_for: Callable[[Task], Script]

    def __call__(self, task: Task, session: Session) -> ScriptedEngine:
        if not isinstance(session, BrowserSession):
            raise ConfigError(
                "a script (the oracle of demonstrations) looks into the page, and only browsers of this machine let it "
                "(browser.servers do not): models act, train and are evaluated on servers all the same"
            )
        return ScriptedEngine(self.script_for(task), session, self.harness)
