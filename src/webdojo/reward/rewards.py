"""The reward functions by the name that a recipe gives them."""

from __future__ import annotations

from webdojo.errors import ConfigError
from webdojo.plugins import Registry, derived_from
from webdojo.reward.reward import RewardFunction
from webdojo.reward.rules import Rules
from webdojo.types import ImageSource, Reward, Trajectory


class EnvironmentReward(RewardFunction):
    """The environment's own verdict."""

    name: str = "env"

    def resolved(self, own: RewardFunction | None, environment: str) -> RewardFunction:
        """The environment's own reward.

        Raises:
            ConfigError: it has none.
        """
        if own is None:
            raise ConfigError(
                f"reward.name is 'env', and the environment {environment!r} has no verdict of its own: name a reward, "
                "such as reward.name=./my_reward.py:MyReward"
            )
        return own.model_copy(update={"max_concurrency": self.max_concurrency, "timeout_s": self.timeout_s})

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        raise AssertionError("an environment's reward scores in its place (`resolved`)")


REWARDS: Registry[type[RewardFunction]] = Registry(
    "webdojo.rewards", "reward", *derived_from(RewardFunction), {"env": EnvironmentReward, "rules": Rules}
)
"""What `reward.name` of a recipe may be."""
