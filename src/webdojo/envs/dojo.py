"""The environment `dojo`: the embedded web, procedural sites whose tasks are checked by code.

Training sites and held-out sites never share a host. Their server keeps the state of each visit apart, and lays the
perturbations that the recipe asks for over it. The sites are imported when they are first needed, so that reading a
recipe brings none of them.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field

from webdojo.agent.script import ScriptMaker
from webdojo.browser.config import BrowserConfig
from webdojo.envs.env import LocalEnvironment, Split, Visit
from webdojo.errors import ConfigError, SiteError, TaskError
from webdojo.reward.function import RewardFunction
from webdojo.reward.rules import Rules
from webdojo.sites import HELDOUT_SEED, HOSTS
from webdojo.types import Task, View

if TYPE_CHECKING:
    from webdojo.sites.oracle import Oracle
    from webdojo.sites.serving.server import SiteServer


class Dojo(LocalEnvironment):
    """Sites of the embedded web."""

    endless: ClassVar[bool] = True

    name: str = "dojo"
    kinds: list[str] = Field(default=["shop", "wiki"], min_length=1)
    """Kinds of sites, of `sites.KINDS`."""
    difficulties: list[Annotated[int, Field(ge=1)]] = Field(default=[1, 2, 3, 4], min_length=1)
    """Numbers of facts that must hold at the end; a kind is passed over by those that it does not reach."""
    difficulty_sampling: dict[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=0)]] = {}
    """Ratio of the difficulties among the training tasks (WebGym §5.2); 1 where not named. Evaluation has all alike."""
    train_sites: int = Field(default=200, ge=1, le=HELDOUT_SEED)
    """Training sites a kind, the same for all recipes. Their seeds are spread over those below `sites.HELDOUT_SEED`:
    a model that has only met `shop-0` to `shop-199` acts worse on `shop-1000083`, whose number it has never read."""
    heldout_sites: int = Field(default=100, ge=1)
    """Evaluation sites a kind; their seeds count up from `sites.HELDOUT_SEED`."""
    eval_split: Literal["", "valid", "test", "test_phrasings", "test_kinds"] = ""
    """Split of the embedded web that policies are measured on (`sites/taskgen.py`), on those of `kinds` that it has;
    empty takes the first `heldout_sites`."""
    heldout_one_per_site: bool = False
    """No two evaluation tasks are on the same site (WebGym §3.3)."""
    layout: Literal["auto", "compact", "grid"] = "auto"
    """`compact` serves pages for small viewports, `grid` sites of all kinds in large type, for small eyes."""
    perturbations: Literal[0, 1, 2, 3] = 0
    """What sites do to a visit: 0 nothing; 1 cookie walls, chat bubbles and adverts; 2 also pop-ups, slow answers, HTTP
    errors, pages that ask to wait and other layouts; 3 also stalled and dropped answers, expired sessions, bot checks,
    moved buttons and changing numbers."""
    permanent_failures: bool = False
    """Up to a fifth of the visits meet a bot check that lets nobody in, or a site that goes down; an episode that fails
    after that is invalid."""
    host: str = "127.0.0.1"
    """IPv4 address of this machine on which the sites are served; `browser.servers` elsewhere need one that they reach,
    or `0.0.0.0` for all."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port of the sites; 0 takes a free one, which `browser.servers` could not know."""

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        """`n` tasks; kinds alternate, and difficulties alternate within one. They repeat where sites have no more."""
        return [*_tasks_of(type(self), self.model_dump_json(), split, n, seed)]

    def samples(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return list(islice(self._drawn(split, n, seed), 1))

    def _drawn(self, split: Split, n: int, seed: int) -> Iterator[Task]:
        from webdojo.sites.taskgen import SPLITS, draw_tasks, stream

        if split not in get_args(Split):
            raise TaskError(f"split {split!r} is none of {', '.join(get_args(Split))}")
        if split == "train":
            sites = random.Random("training sites").sample(SPLITS["train"].seeds, self.train_sites)
            return draw_tasks(self.kinds, sites, n, seed, self._weighted(), self.layout, False)
        if self.eval_split:
            has = SPLITS[self.eval_split].kinds
            if not (kinds := [kind for kind in self.kinds if kind in has]):
                raise TaskError(
                    f"env.eval_split {self.eval_split!r} has none of the kinds {self.kinds} (env.kinds): it has "
                    f"{', '.join(has)}"
                )
            tasks = stream(self.eval_split, seed=seed, kinds=kinds, difficulties=self.difficulties, layout=self.layout)
            return islice(tasks, n)
        seeds = range(HELDOUT_SEED, HELDOUT_SEED + self.heldout_sites)
        return draw_tasks(self.kinds, seeds, n, seed, self.difficulties, self.layout, self.heldout_one_per_site)

    def difficulty_levels(self) -> Collection[int]:
        from webdojo.sites.taskgen import levels_of

        levels_of(self.kinds, self.difficulties, self.layout)
        return sorted(
            {level for levels in levels_of(self.kinds, self._weighted(), self.layout).values() for level in levels}
        )

    def _weighted(self) -> list[int]:
        """The difficulties of training tasks, each as often as its weight."""
        return [d for d in self.difficulties for _ in range(self.difficulty_sampling.get(d, 1))]

    @property
    def reward(self) -> RewardFunction:
        return Rules()

    @property
    def oracle(self) -> ScriptMaker:
        def script(task: Task, view: View | None, noise: float, seed: str) -> Oracle:
            from webdojo.sites.oracle import Oracle

            return Oracle(task, noise, seed, view)

        return script

    def check(self, task: Task) -> None:
        from webdojo.sites.kinds import KINDS
        from webdojo.sites.site import check_layout

        if task.kind and task.kind not in KINDS:
            raise TaskError(
                f"task {task.id!r} is of kind {task.kind!r}, and the embedded web has {', '.join(KINDS)}: "
                "name the environment that has it"
            )
        check_layout(task, self.layout)
        self.kind_of(task.start_url)

    def kind_of(self, url: str) -> str:
        from webdojo.sites.kinds import parse_host

        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme != "http" or parts.port not in (None, 80) or not host.endswith(".localhost"):
            return ""
        try:
            return parse_host(host)[0]
        except SiteError as error:
            raise TaskError(f"{url} cannot be opened: {error}") from None

    def own_task(self, instruction: str, url: str) -> Task | None:
        from webdojo.sites.taskgen import task_that_says

        return task_that_says(instruction, urlsplit(url).hostname or "", self.layout) if self.kind_of(url) else None

    @property
    def fixed_port(self) -> int:
        return self.port

    def check_browser(self, config: BrowserConfig) -> None:
        if config.servers and not self.port:
            raise ConfigError(
                "browser.servers are started with the address of the embedded sites, and env.port is 0, a port that "
                f"changes: set it, and start each with --hosts '{HOSTS}=ADDRESS:PORT', ADDRESS being this machine's"
            )

    def make_server(self) -> SiteServer:
        from webdojo.sites.serving.server import SiteServer

        return SiteServer(self.port, host=self.host)

    def headers(self, visit: Visit, seed: str) -> dict[str, str]:
        from webdojo.sites.perturbations.schedule import Perturbations

        if not visit.task.kind:
            return {}
        return self.server.headers(
            visit.id, self.layout, Perturbations(self.perturbations, seed, self.permanent_failures)
        )


@lru_cache(maxsize=4)
def _tasks_of(env: type[Dojo], options: str, split: Split, n: int, seed: int) -> tuple[Task, ...]:
    """The tasks of the environment with these options: a run asks more than once, and 20,000 take a second to draw."""
    return tuple(env.model_validate_json(options)._drawn(split, n, seed))
