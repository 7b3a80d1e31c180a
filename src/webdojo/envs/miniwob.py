"""The environment `miniwob`: MiniWoB++, whose pages end their episodes and reward them by themselves.

An episode needs no `done` and no answer. Any reward of a page above 0 is a success and counts as it is, without its
discount for time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from webdojo.envs.env import LocalEnvironment, Split, Visit
from webdojo.errors import TaskError
from webdojo.reward.function import RewardFunction
from webdojo.tasks import miniwob
from webdojo.types import ImageSource, Reward, Task, Trajectory

if TYPE_CHECKING:
    from webdojo.sites.miniwob.server import MiniwobServer


class PageReward(RewardFunction):
    """What the page of a MiniWoB++ task says at the end of its episode, 0 where that is negative."""

    name: str = "page"

    def check(self, task: Task) -> None:
        if task.kind != miniwob.KIND:
            raise TaskError(f"task {task.id!r} is not of MiniWoB++, so no page scores it: name another reward")

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        from webdojo.sites.miniwob.server import episode_over

        self.check(trajectory.task)
        if not episode_over(trajectory.state):
            return Reward(value=0.0, success=False, reason="the page did not end its episode")
        raw = float(trajectory.state[trajectory.task.website]["raw_reward"])
        return Reward(value=max(0.0, raw), success=raw > 0, reason=f"the page's reward is {raw:g}")


class Miniwob(LocalEnvironment):
    """MiniWoB++ of the package `miniwob`, served on this machine."""

    name: str = "miniwob"
    seeds: list[Annotated[int, Field(ge=0)]] = Field(default=[0, 1, 2, 3, 4, 5, 6, 7], min_length=1)
    """Instances of each page that train."""
    eval_seeds: list[Annotated[int, Field(ge=0)]] = Field(default=[1000, 1001], min_length=1)
    """Instances of each page that policies are measured on."""
    pages: list[str] = []
    """Names of pages, such as `click-test`; empty takes all that the package registers."""

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        """The pages with each of their seeds, page by page."""
        known = miniwob.page_names()
        for page in self.pages:
            if page not in known:
                raise TaskError(f"MiniWoB++ has no page {page!r} (env.pages); it has {', '.join(known)}")
        tasks = miniwob.load(self.seeds if split == "train" else self.eval_seeds)
        return [task for task in tasks if not self.pages or task.metadata["env"] in self.pages][:n]

    @property
    def reward(self) -> RewardFunction:
        return PageReward()

    def check(self, task: Task) -> None:
        if task.kind not in ("", miniwob.KIND):
            raise TaskError(f"task {task.id!r} is of kind {task.kind!r}, and this environment has MiniWoB++ alone")

    def make_server(self) -> MiniwobServer:
        from webdojo.sites.miniwob.server import MiniwobServer

        return MiniwobServer()

    async def is_over(self, visit: Visit) -> bool:
        from webdojo.sites.miniwob.server import episode_over

        return episode_over(await self.state(visit))
