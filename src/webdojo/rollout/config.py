"""Options of rollouts, of collections and of the curriculum: the recipe's sections `rollout` and `collect`, and the
entries of `train.stages`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from webdojo.config import Section
from webdojo.types import Sampling


class HorizonSection(Section):
    """What every section that starts episodes has."""

    max_steps: int = Field(default=15, ge=1)
    """Turns before an episode ends unfinished."""
    max_steps_by_difficulty: dict[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] = {}
    """The same for tasks up to a difficulty, such as `{3: 10, 6: 20}` (WebGym §5.2); `max_steps` for those above."""

    def horizon(self, difficulty: int) -> int:
        """Turns that a task of a difficulty may take."""
        fitting = [bound for bound in self.max_steps_by_difficulty if difficulty <= bound]
        return self.max_steps_by_difficulty[min(fitting)] if fitting else self.max_steps

    @property
    def longest(self) -> int:
        """Turns that any task may take at most."""
        return max([self.max_steps, *self.max_steps_by_difficulty.values()])


class RolloutConfig(HorizonSection):
    group_size: int = Field(default=5, ge=1)
    """Trajectories a task (G). 1 needs `train.dynamic_sampling: false`, and an advantage or a loss that compares none
    (`reinforce`, `reinforce_baseline`, `reinforce_plus_plus`, `bc`, `raft`)."""
    concurrency: int = Field(default=16, ge=1)
    """Episodes at once, at most."""
    adaptive_concurrency: bool = False
    """In training, as many episodes at once as pay, up to `concurrency`: begins with a quarter and goes by the turns
    that finish per second (`rollout/adaptive.py`)."""
    max_waiting_requests: int = Field(default=32, ge=0)
    """No training episode starts while more requests than this wait in the engine's queue; 0 is no limit."""
    min_free_memory_mb: int = Field(default=512, ge=0)
    """No training episode starts while this machine, or the container that runs this, has less memory left; 0 does not
    look."""
    max_context_tokens: int = Field(default=32768, ge=64)
    """Prompt and response of a turn together."""
    sampling: Sampling = Sampling(temperature=0.8, max_tokens=1024)
    task_timeout_s: float = Field(default=600, gt=0)
    """Seconds for a whole episode, not counting those in which its engine sleeps during an update; a longer one ends as
    `timeout`, is invalid and trains nothing."""
    max_staleness: int = Field(default=1, ge=0)
    """η: versions by which a token may lag behind the weights that it trains, unless it is replayed. At 0 rollouts and
    updates take turns and training is on-policy; above it they overlap. A recipe that does not set it overlaps, so
    some of its tokens are one version old."""

    @field_validator("sampling")
    @classmethod
    def _can_train(cls, sampling: Sampling) -> Sampling:
        if sampling.logit_bias:
            raise ValueError("the learner scores responses without a logit_bias; leave it out here")
        if sampling.seed is not None:
            raise ValueError("one seed for all requests makes the episodes of a group alike; set the recipe's seed")
        if not sampling.temperature:
            raise ValueError("temperature 0 makes the episodes of a group alike; take one above 0, such as 0.8")
        return sampling


class StageConfig(HorizonSection):
    """One stage of online training."""

    iterations: int = Field(ge=1)
    """How many it has; the last stage goes on to the end."""
    max_steps: int = Field(ge=1)
    difficulty_sampling: dict[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=0)]] = {}
    """Ratio in which it draws the difficulties (WebGym §5.2), 1 where not named; empty draws tasks as they come."""


class CollectConfig(Section):
    """How `webdojo collect` makes a data set; its episodes go by `rollout`."""

    teacher: Literal["oracle", "model", "person"] = "oracle"
    """Who does the tasks: the script of the environment, the model that `engine` serves, or a person at a window, as
    `webdojo record` sets it."""
    noise: float = Field(default=0.0, ge=0, lt=1)
    """Chance of a wrong turn of the oracle at each step; the next one goes back."""
    tasks: int = Field(default=400, ge=1)
    """Training tasks, the first ones; all of a set that has fewer."""
    attempts: int = Field(default=1, ge=1)
    """Episodes of each task (OpenWebRL §4.2 has 4)."""
    max_attempts: int = Field(default=1, ge=1)
    """Further ones, one after another up to so many in all, while none of a task is one that `until` asks for."""
    until: Literal["success", "finished"] = "success"
    """An attempt that succeeded, or one that ended by itself (OpenWebVoyager §3.4)."""
    budget_tokens: int = Field(default=0, ge=0)
    """Tokens that the teacher may say, in all calls of the command together: no episode begins after that. 0 is no
    limit. What an endpoint costs is bounded by `engine.budget_usd` and `engine.budget_requests`."""

    @model_validator(mode="after")
    def _only_the_oracle_errs(self) -> CollectConfig:
        if self.noise and self.teacher != "oracle":
            raise ValueError(f"noise {self.noise:g} is of the oracle: leave it out where a model teaches")
        return self


class CyclesConfig(Section):
    """Cycles of exploration, feedback and optimization after the warm start (OpenWebVoyager §3.5, Algorithm 1)."""

    rounds: int = Field(default=0, ge=0)
    """How many cycles (m); 0 has none."""
    tasks: int = Field(default=480, ge=1)
    """Training tasks that each explores, drawn by `tasks.sampler`, which knows what became of those before."""
    max_attempts: int = Field(default=5, ge=1)
    """Episodes of a task at most, one after another until one succeeds."""
    mix: Literal["latest", "all"] = "latest"
    """What a cycle trains on besides the demonstrations of the warm start: its own successes, or also those of all
    cycles before (Table 6)."""
    demos_below: float = Field(default=0.0, ge=0, le=1)
    """The environment's oracle does the unsolved tasks of web sites of which a smaller share was solved (difficulty-
    guided sampling with a teacher's trajectories, §4.3); the paper has 0.4, in its last cycle."""
