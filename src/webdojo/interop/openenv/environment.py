"""One OpenEnv session: its episodes, one after another, in the browsers of a host that all sessions share."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Coroutine
from typing import Any, TypeVar

from openenv.core.env_server.interfaces import Environment

from webdojo.agent.openwebrl import system_prompt
from webdojo.browser.tools import TOOLS, json_schema
from webdojo.errors import ConfigError
from webdojo.interop.chat import NO_CALL, words
from webdojo.interop.host import EpisodeHost, HostedEpisode, Step
from webdojo.interop.openenv.models import WebdojoAction, WebdojoObservation, WebdojoState
from webdojo.interop.refusals import check_reset
from webdojo.version import __version__

T = TypeVar("T")


class WebdojoEnvironment(Environment[WebdojoAction, WebdojoObservation, WebdojoState]):
    """Made by the server for each connection.

    Args:
        host: runs the episodes, on the loop that runs now.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, host: EpisodeHost, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._host, self._loop = host, loop
        self._episode: HostedEpisode | None = None
        self._left: set[asyncio.Task[None]] = set()

    async def reset_async(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str = "",
        group: str = "",
        **unknown: Any,
    ) -> WebdojoObservation:
        """Begin an episode; one that is under way is given up.

        Args:
            seed: draws the task, if none is named, and what the environment draws.
            episode_id: of the stored trajectory; every episode needs its own.
            task: the id of a task.
            group: shared by the episodes that are compared with one another.
        """
        check_reset({"seed": seed, "episode_id": episode_id, "task": task, "group": group, **unknown})
        await self._leave()
        chosen = self._host.choose(task, seed)
        episode = self._episode = await self._host.begin(chosen, seed=seed, id=episode_id or "", group=group)
        shown = self._observation(episode, episode.step(), first=True)
        shown.system_prompt = system_prompt(native=True)
        shown.tools = [json_schema(name) for name in TOOLS]
        return shown

    async def step_async(
        self, action: WebdojoAction, timeout_s: float | None = None, **unknown: Any
    ) -> WebdojoObservation:
        """Carry out one turn; after the last one, the observation has the verdict."""
        if self._episode is None:
            raise ConfigError("no episode is under way in this session: call reset first (over HTTP there are no "
                              "sessions; connect by WebSocket)")  # fmt: skip
        nothing = "" if action.calls or action.text is not None else NO_CALL
        step = await self._episode.act(action.calls or (), action.text or "", nothing)
        return self._observation(self._episode, step)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> WebdojoObservation:
        """As `reset_async`, for callers in other threads."""
        return self._wait(self.reset_async(seed, episode_id, **options))

    def step(self, action: WebdojoAction, timeout_s: float | None = None, **options: Any) -> WebdojoObservation:
        """As `step_async`, for callers in other threads."""
        return self._wait(self.step_async(action, timeout_s))

    @property
    def state(self) -> WebdojoState:
        if self._episode is None:
            return WebdojoState()
        trajectory = self._episode.trajectory
        return WebdojoState(
            episode_id=trajectory.id,
            step_count=len(trajectory.turns),
            task_id=trajectory.task.id,
            group=trajectory.group,
        )

    def get_metadata(self) -> Any:
        metadata = super().get_metadata()
        metadata.name = f"webdojo-{self._host.recipe.env.name}"
        metadata.description = "Tasks on web sites, in a real browser, by screenshots and 13 tools."
        metadata.version = __version__
        return metadata

    def close(self) -> None:
        """End the session; OpenEnv calls this in threads of its own, and from the loop for requests without a
        session, which cannot wait."""
        if self._episode is None:
            return
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            leaving = self._loop.create_task(self._leave())
            self._left.add(leaving)
            leaving.add_done_callback(self._left.discard)
        else:
            self._wait(self._leave())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _leave(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            await episode.give_up("its client went away")

    def _observation(self, episode: HostedEpisode, step: Step, first: bool = False) -> WebdojoObservation:
        task, seen, reward = episode.trajectory.task, step.observation, step.reward
        return WebdojoObservation(
            done=episode.over,
            reward=reward.value if reward is not None and reward.valid else None,
            task_id=task.id,
            instruction=task.instruction,
            screenshot=base64.b64encode(self._host.store.images.get(seen.screenshot)).decode(),
            screenshot_mime=seen.screenshot.mime,
            viewport_px=seen.viewport_px,
            url=seen.url,
            title=seen.title,
            tabs=seen.tabs,
            text=words(seen, first=first),
            feedback=step.feedback,
            error=step.error,
            terminated=step.terminated,
            truncated=step.truncated,
            termination=step.termination or "",
            success=None if reward is None else reward.success,
            valid=None if reward is None else reward.valid,
            reason="" if reward is None else reward.reason,
        )
