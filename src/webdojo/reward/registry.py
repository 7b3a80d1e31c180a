"""What a recipe may name in its `reward` section."""

from __future__ import annotations

from webdojo.errors import ConfigError
from webdojo.plugins import Registry, derived_from
from webdojo.reward.function import RewardFunction
from webdojo.reward.judges.agenttrek import AgentTrekJudge
from webdojo.reward.judges.deepshop import DeepShopJudge
from webdojo.reward.judges.openwebrl import OpenWebRLJudge
from webdojo.reward.judges.process_outcome import ProcessOutcomeJudge
from webdojo.reward.judges.webgym import WebGymJudge
from webdojo.reward.judges.webjudge import WebJudge
from webdojo.reward.judges.webvoyager import WebVoyagerJudge
from webdojo.reward.rules import Rules
from webdojo.reward.webarena.reward import WebArenaReward
from webdojo.reward.webarena.verified import WebArenaVerified
from webdojo.types import ImageSource, Reward, Trajectory


class EnvironmentReward(RewardFunction):
    """The environment's own verdict."""

    name: str = "env"

    def resolved(self, own: RewardFunction | None, environment: str) -> RewardFunction:
        """The environment's own reward; a ConfigError where it has none."""
        if own is None:
            raise ConfigError(
                f"reward.name is 'env', and the environment {environment!r} has no verdict of its own: name a reward, "
                "such as reward.name=./my_reward.py:MyReward"
            )
        return own.model_copy(update=self.model_dump(include={"max_concurrency", "timeout_s", "format_reward"}))

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        raise AssertionError("an environment's reward scores in its place (`resolved`)")


REWARDS: Registry[type[RewardFunction]] = Registry(
    "webdojo.rewards",
    "reward",
    *derived_from(RewardFunction),
    {
        "env": EnvironmentReward,
        "rules": Rules,
        "webarena": WebArenaReward,
        "webarena_verified": WebArenaVerified,
        "openwebrl": OpenWebRLJudge,
        "webgym": WebGymJudge,
        "webvoyager": WebVoyagerJudge,
        "webjudge": WebJudge,
        "agenttrek": AgentTrekJudge,
        "deepshop": DeepShopJudge,
        "process_outcome": ProcessOutcomeJudge,
    },
)
"""What `reward.name` of a recipe may be."""
