"""What a reward function is: a plug that judges finished episodes, behind the gate of `gate.py`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from webdojo.browser.interface import Session
from webdojo.plugins import Plug
from webdojo.types import ImageSource, Reward, Task, Trajectory


class Asked(NamedTuple):
    """What verdicts ask of a model."""

    requests: int = 0
    images: int = 0
    text_tokens: int = 0
    image_tokens: int = 0
    answer_tokens: int = 0
    usd: float | None = None
    """None where no price is known."""


class RewardFunction(Plug):
    """Judges finished episodes. Derive a class, give it options as fields, and write `score`."""

    scores_unfinished: ClassVar[bool] = False
    """Whether `score` is asked about unfinished episodes too, for `Reward.facts` and `Reward.valid`; their value is 0
    whatever it says. A judge that costs money need not be asked."""

    endings: ClassVar[Mapping[bool, str]] = {}
    """By verdict, the last line of the answer to the one question that it asks of a model, after the reasons; empty
    where it asks nothing, several questions, or for an answer of another form. Such a protocol can be distilled."""

    knows_own_tasks_only: ClassVar[bool] = False
    """Whether it judges what its environment gave, and nothing that somebody else asks for."""

    max_concurrency: int = Field(default=16, ge=1)
    """Episodes that are scored at once."""
    timeout_s: float = Field(default=120, gt=0)
    """Longest scoring of one episode; one that takes longer is invalid."""
    format_reward: bool = True
    """-1 for an episode that ended by repeated format errors, and 0 for one with a format error in any turn (OpenWebRL
    A.4); false is the verdict alone."""

    @property
    def costs(self) -> bool:
        """Whether a verdict takes time or money, so that an episode is stored before it is asked for; what a crash or
        an empty budget leaves without a verdict gets it when the run goes on."""
        return False

    def needs_answer(self, task: Task) -> bool:
        """Whether an episode whose agent gave no answer has failed without being judged (OpenWebRL A.4)."""
        return True

    def check_setup(self) -> None:
        """Raise a ConfigError that says why, before anything starts, where it could not score anything."""

    @property
    def address(self) -> str:
        """Where it asks over a network; empty where it does not."""
        return ""

    def silence(self) -> str:
        """Why what is at `address` does not answer now, after some seconds at most; empty where it does."""
        return ""

    def most_asked(self, steps: int, facts: int, step_tokens: int, size_px: tuple[int, int]) -> Asked:
        """The most that it asks of a model about one episode, where every answer can be read at once.

        Args:
            steps: turns of the episode.
            facts: those that its task is judged by, at least 1.
            step_tokens: text tokens of a turn, at most.
            size_px: width and height of a screenshot.
        """
        return Asked()

    async def start(self, folder: Path | None) -> None:
        """Start what it needs; `folder` is where it may keep what outlives the process, if there is one."""

    async def close(self) -> None:
        """Stop what `start` has started."""

    def check(self, task: Task) -> None:
        """Raise a TaskError that says why, before the task runs, where it cannot be scored."""

    def resolved(self, own: RewardFunction | None, environment: str) -> RewardFunction:
        """The function that scores the episodes of an environment, whose own reward is `own`: this one."""
        return self

    async def evidence(self, trajectory: Trajectory, session: Session) -> dict[str, Any]:
        """Read what `score` needs of the web and the trajectory does not hold, as plain JSON.

        It becomes `Trajectory.evidence`, so that the episode can be scored, and scored again, when the web has changed.
        Only a completed episode is asked, before its session closes. Whatever this raises, other than ConfigError and
        TaskError, makes the episode invalid, and never 0.

        Args:
            trajectory: has its task, turns, answer and the final screen.
            session: still shows what the agent has left; `Session.read` opens other pages in new tabs.
        """
        return {}

    def excuse(self, trajectory: Trajectory) -> Reward | None:
        """An invalid reward where it shows, without anyone being asked, that an outcome is not the agent's doing.

        It also excuses episodes that did not finish; None excuses nothing.
        """
        return None

    @abstractmethod
    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        """The verdict on an episode that has ended.

        Whatever it raises makes the episode invalid, and never 0; but ConfigError, TaskError, BudgetError and
        EngineRefused end the run.

        Args:
            trajectory: has its task, turns, answer, the final screen, the environment's final state, and the evidence.
            images: the episode's screenshots by their hash.
        """


def invalid(cause: str, reason: str, **parts: float) -> Reward:
    """The verdict on an episode whose outcome is not the agent's doing, or not known; `cause` as `Reward.cause`."""
    return Reward(value=0.0, success=False, valid=False, cause=cause, reason=reason, parts=parts)
