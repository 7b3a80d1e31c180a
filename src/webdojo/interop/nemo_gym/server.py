"""A resources server of NeMo-Gym: tasks on web sites in a real browser, for its `aviary_agent`.

That agent's protocol carries screenshots, which one POST for each tool does not: `/seed_session` begins the episode of
a task, `/step` carries out the calls of one response, `/close` ends what is unfinished, and `/verify` tells the
verdict. An `env_id` is the id of a trajectory, so that nothing is remembered here: an episode is either under way in
the host, or stored in the run folder.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException
from nemo_gym.base_resources_server import BaseResourcesServerConfig, SimpleResourcesServer
from nemo_gym.openai_utils import NeMoGymEasyInputMessage, NeMoGymFunctionCallOutput
from pydantic import Field, PrivateAttr
from resources_servers.aviary.schemas import (
    AviaryAgentVerifyRequest,
    AviaryAgentVerifyResponse,
    AviaryCloseRequest,
    AviaryCloseResponse,
    AviarySeedSessionRequest,
    AviarySeedSessionResponse,
    AviaryStepRequest,
    AviaryStepResponse,
)

from webdojo.agent.openwebrl import system_prompt
from webdojo.browser.tools import TOOLS, json_schema
from webdojo.envs.env import Split
from webdojo.errors import WebdojoError
from webdojo.interop.chat import answers, read_calls, words
from webdojo.interop.host import EpisodeHost, HostedEpisode, Step
from webdojo.policy.data_url import data_url
from webdojo.recipe import load_recipe
from webdojo.types import Termination


class WebdojoResourcesServerConfig(BaseResourcesServerConfig):
    """The server's section of a NeMo-Gym configuration."""

    recipe: str = "quickstart"
    """Its sections `env`, `tasks`, `reward`, `browser` and `rollout` count."""
    overrides: list[str] = Field(default_factory=list)
    """Changes to the recipe: `section.key=value`."""
    split: Split = "train"
    tasks: int = 100
    """At most so many; a row's `task_idx` counts them from 0."""
    run: Path | None = None
    """Run folder that keeps the episodes; absent: they are kept as long as the server runs."""
    idle_timeout_s: float = 600
    """Episodes that nobody asks for so long are given up, as invalid; 0 has no limit."""


class WebdojoResourcesServer(SimpleResourcesServer):
    """Run it by `WebdojoResourcesServer.run_webserver()`, as an entrypoint of NeMo-Gym does."""

    config: WebdojoResourcesServerConfig
    _host: EpisodeHost = PrivateAttr()

    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        app.post("/step")(self.step)
        app.post("/close")(self.close)
        app.router.lifespan_context = self._serving
        return app

    async def seed_session(self, body: AviarySeedSessionRequest) -> AviarySeedSessionResponse:
        """Begin the episode of a task: its instruction, what the browser shows, and the tools."""
        tasks = list(self._host.tasks.values())
        if not 0 <= body.task_idx < len(tasks):
            raise HTTPException(422, f"there is no task_idx {body.task_idx}: give one from 0 to {len(tasks) - 1}")
        task = tasks[body.task_idx]
        try:
            episode = await self._host.begin(task)
        except WebdojoError as error:
            raise HTTPException(503, f"the episode of task {task.id!r} cannot begin: {error}") from error
        protocol = NeMoGymEasyInputMessage(role="system", content=system_prompt(native=True, screenshots_kept=0))
        shown = self._shown(episode.step(), f"Task: {episode.trajectory.task.instruction}", first=True)
        tools = [{"type": "function", "strict": False, **json_schema(name)["function"]} for name in TOOLS]
        return AviarySeedSessionResponse(env_id=episode.trajectory.id, obs=[protocol, shown], tools=tools)

    async def step(self, body: AviaryStepRequest) -> AviaryStepResponse:
        """Carry out the calls of one response, and show what has become of the page."""
        episode = self._under_way(body.env_id)
        if episode is None:
            over = NeMoGymEasyInputMessage(role="user", content="The episode is over.")
            return AviaryStepResponse(obs=[over], reward=0.0, done=True)
        calls, error = read_calls((call.name, call.arguments) for call in body.action)
        step = await episode.act(calls, error=error)
        obs: list[Any] = [
            NeMoGymFunctionCallOutput(call_id=call.call_id, output=text)
            for call, text in zip(body.action, answers(len(body.action), step.feedback, error), strict=True)
        ]
        if not episode.over:
            obs.append(self._shown(step, "" if body.action else f"Error: {error}"))
        return AviaryStepResponse(obs=obs, reward=0.0, done=episode.over)

    async def close(self, body: AviaryCloseRequest) -> AviaryCloseResponse:
        """End an episode whose agent does not go on: it is unfinished."""
        episode = self._under_way(body.env_id)
        if episode is not None:
            await episode.stop()
        return AviaryCloseResponse(message="", success=True)

    async def verify(self, body: AviaryAgentVerifyRequest) -> AviaryAgentVerifyResponse:
        """The verdict on an episode. An invalid one has reward 0 and `mask_sample`, which leaves it out of the loss."""
        await self.close(AviaryCloseRequest(env_id=body.response.env_id))
        if not self._host.store.has_trajectory(body.response.env_id):
            raise HTTPException(404, f"there is no episode {body.response.env_id!r}: env_id is what /seed_session says")
        trajectory = self._host.store.trajectory(body.response.env_id)
        reward = trajectory.reward
        assert reward is not None, "a stored episode has a verdict"
        return AviaryAgentVerifyResponse(
            **body.model_dump(),
            reward=reward.value if reward.valid else 0.0,
            success=float(reward.success),
            mask_sample=not reward.valid,
            truncated=float(trajectory.termination in (Termination.MAX_STEPS, Termination.STOPPED)),
            reason=reward.reason,
        )

    @asynccontextmanager
    async def _serving(self, app: FastAPI) -> AsyncIterator[None]:
        """Have environment and browsers as long as the server runs."""
        given = self.config
        self._host = EpisodeHost(
            load_recipe(given.recipe, given.overrides),
            "nemo_gym",
            run=given.run,
            split=given.split,
            tasks=given.tasks,
            idle_timeout_s=given.idle_timeout_s,
        )
        async with self._host:
            yield

    def _under_way(self, env_id: str) -> HostedEpisode | None:
        return next((each for each in self._host.episodes if each.trajectory.id == env_id), None)

    def _shown(self, step: Step, said: str, first: bool = False) -> NeMoGymEasyInputMessage:
        """What the browser shows, as a message with the screenshot as a data URL."""
        picture = step.observation.screenshot
        url = data_url(self._host.store.images.get(picture), picture.mime)
        content = [
            {"type": "input_text", "text": words(step.observation, said, first)},
            {"type": "input_image", "image_url": url, "detail": "auto"},
        ]
        return NeMoGymEasyInputMessage(role="user", content=content)
