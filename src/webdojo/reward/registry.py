"""What a recipe may name in its `reward` section."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

import yaml

from webdojo.errors import ConfigError
from webdojo.plugins import Registry, derived_from, plug_field
from webdojo.policy.engine import EngineConfig
from webdojo.policy.engines import ENGINES, HF
from webdojo.reward.completed import Completed
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

JUDGE = "judge.yaml"
"""The file, in the folder of a distilled judge, whose section `reward` it is; its `model.path` lies in that folder."""
GATE = {"max_concurrency", "timeout_s", "format_reward"}
"""What a reward that stands for another one says itself."""


class EnvironmentReward(RewardFunction):
    """The environment's own verdict."""

    knows_own_tasks_only: ClassVar[bool] = True
    name: str = "env"

    def resolved(self, own: RewardFunction | None, environment: str) -> RewardFunction:
        """The environment's own reward; a ConfigError where it has none."""
        if own is None:
            raise ConfigError(
                f"reward.name is 'env', and the environment {environment!r} has no verdict of its own: name a reward, "
                "such as reward.name=./my_reward.py:MyReward"
            )
        return own.model_copy(update=self.model_dump(include=GATE))

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        raise AssertionError("an environment's reward scores in its place (`resolved`)")


class DistilledJudge(RewardFunction):
    """A judge of `webdojo judge distill` (OpenWebRL §4.3): a small model that answers by the protocol, and with the
    options, by which it was trained."""

    name: str = "distilled"
    path: str = ""
    """The folder that the command has made (its `--out`)."""
    engine: Annotated[EngineConfig, *plug_field(ENGINES, "hf")] = HF()
    """What serves the model: `hf` or `vllm`."""

    def resolved(self, own: RewardFunction | None, environment: str) -> RewardFunction:
        """The judge of the folder; a ConfigError where there is none."""
        folder = Path(self.path)
        if not (folder / JUDGE).is_file():
            raise ConfigError(
                f"reward.path {self.path!r} holds no distilled judge (no {JUDGE}): name the folder that "
                "`webdojo judge distill … --out FOLDER` has made"
            )
        section = yaml.safe_load((folder / JUDGE).read_text())["reward"]
        section["model"]["path"] = str(folder / section["model"]["path"])
        judge = REWARDS.get(section["name"]).model_validate(section)
        return judge.model_copy(update={"engine": self.engine, **self.model_dump(include=GATE)})

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        raise AssertionError("the judge of the folder scores in its place (`resolved`)")


REWARDS: Registry[type[RewardFunction]] = Registry(
    "webdojo.rewards",
    "reward",
    *derived_from(RewardFunction),
    {
        "env": EnvironmentReward,
        "rules": Rules,
        "completed": Completed,
        "webarena": WebArenaReward,
        "webarena_verified": WebArenaVerified,
        "openwebrl": OpenWebRLJudge,
        "webgym": WebGymJudge,
        "webvoyager": WebVoyagerJudge,
        "webjudge": WebJudge,
        "agenttrek": AgentTrekJudge,
        "deepshop": DeepShopJudge,
        "process_outcome": ProcessOutcomeJudge,
        "distilled": DistilledJudge,
    },
)
"""What `reward.name` of a recipe may be."""
