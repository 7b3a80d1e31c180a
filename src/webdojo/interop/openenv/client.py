"""A typed client of `webdojo openenv serve`; OpenEnv's own `GenericEnvClient` works too, with dicts."""

from __future__ import annotations

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult

from webdojo.interop.openenv.models import WebdojoAction, WebdojoObservation, WebdojoState


class WebdojoEnv(EnvClient[WebdojoAction, WebdojoObservation, WebdojoState]):
    """One session.

    Examples:
        async with WebdojoEnv(base_url="http://127.0.0.1:8000") as env:
            result = await env.reset(seed=7)
            while not result.done:
                result = await env.step(WebdojoAction(text=model(result.observation)))
    """

    def _step_payload(self, action: WebdojoAction) -> dict[str, Any]:
        return action.model_dump(mode="json")

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[WebdojoObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        shown = WebdojoObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=shown, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> WebdojoState:
        return WebdojoState(**payload)
