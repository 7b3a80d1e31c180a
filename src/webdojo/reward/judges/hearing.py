"""Rewards that ask a model: which one it is, and how it is asked.

Invariant: an answer that cannot be read is asked for once more; where that cannot be read either, the episode is
invalid, never 0. Everything that was asked and answered is kept with the verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, PrivateAttr, model_validator

from webdojo.errors import BudgetError, ConfigError, EngineRefused
from webdojo.plugins import plug_field
from webdojo.policy.config import ModelConfig
from webdojo.policy.data_url import data_url
from webdojo.policy.engine import ChatConfig, EngineConfig, MessageModel, ServedModel
from webdojo.policy.engines import ENGINES, Chat
from webdojo.reward.function import RewardFunction, invalid
from webdojo.reward.judges.ask import Unreadable, ask
from webdojo.reward.judges.case import Screen
from webdojo.store.images import MemoryImages
from webdojo.types import ImageRef, ImageSource, Judgement, Reward, Sampling, Trajectory

T = TypeVar("T")

ACCOUNT = "judge.sqlite"
"""The file, in the folder of `start`, that keeps what the model was asked and paid."""


class ModelReward(RewardFunction):
    """A reward that asks a model, if there is one (`asks`): `start` opens it, and `hear` is one episode before it."""

    engine: Annotated[EngineConfig, *plug_field(ENGINES, "chat")] = Chat()
    """The model that judges: `chat` is any OpenAI-compatible endpoint, `hf` and `vllm` serve `model.path`."""
    model: ModelConfig = ModelConfig()
    """The checkpoint that judges, for engines that serve one."""
    max_context_tokens: int = Field(default=32768, ge=256)
    """Request and answer together, for engines that serve a checkpoint."""
    sampling: Sampling = Sampling(temperature=0, max_tokens=2048)

    _stack: Any = PrivateAttr(default=None)
    _model: Any = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _name_keys_of_engine(self) -> Self:
        if isinstance(self.engine, ChatConfig):
            self.engine.belongs_to("reward")
        return self

    @property
    def asks(self) -> bool:
        """Whether there is a model to ask."""
        return True

    @property
    def costs(self) -> bool:
        return self.asks

    def check_setup(self) -> None:
        if not self.asks:
            return
        try:
            self.engine.check_messages()
        except ConfigError as error:
            raise type(error)(f"the judge {self.name!r} (section reward): {error}") from None
        from webdojo.policy.model.folder import check_model_path

        check_model_path(self.model.path)

    @property
    def address(self) -> str:
        return self.engine.address

    def silence(self) -> str:
        return self.engine.silence() if self.asks else ""

    async def start(self, folder: Path | None) -> None:
        if not self.asks:
            return
        account = folder / ACCOUNT if folder is not None else None
        served = ServedModel(self.model.path, self.model, MemoryImages(), self.max_context_tokens)
        self._stack = AsyncExitStack()
        self._model = await self._stack.enter_async_context(self.engine.open_messages(served, account))

    async def close(self) -> None:
        stack, self._stack, self._model = self._stack, None, None
        if stack is not None:
            await stack.aclose()

    def picture(self, image: ImageRef, images: ImageSource) -> tuple[bytes, str]:
        """A screenshot as the model is sent it, with its MIME type."""
        return images.get(image), image.mime

    async def hear(
        self, trajectory: Trajectory, images: ImageSource, verdict: Callable[[Hearing], Awaitable[Reward]]
    ) -> Reward:
        """A verdict on an episode that is found by asking, with all that was asked and answered."""
        hearing = Hearing(self, self._model, images, trajectory.secrets)
        try:
            reward = await verdict(hearing)
        except Unreadable as error:
            reward = invalid("unreadable", str(error))
        reward.judgements = hearing.judgements
        return reward


@dataclass
class Hearing:
    """One episode before a judge: puts its questions, and keeps them."""

    config: ModelReward
    model: MessageModel | None
    """None where it has not started."""
    images: ImageSource
    secrets: Collection[str] = ()
    """What must be masked in whatever is told the model."""
    _asked: list[list[Judgement]] = field(default_factory=list)
    """What was answered to each question, in the order in which they were put."""

    @property
    def judgements(self) -> list[Judgement]:
        """All that was asked and answered so far."""
        return [judgement for answers in self._asked for judgement in answers]

    async def ask(self, step: str, system: str, user: Sequence[str | Screen], read: Callable[[str], T | None]) -> T:
        """The model's answer as `read` understands it; where it does not, the model is asked once more.

        Args:
            step: the name of the question, for `Reward.judgements`.
            system: the protocol, whose last paragraph says which form the answer must have. Nothing that a page, an
                agent or a model wrote may stand in it.
            user: texts, in which foreign text is `quoted`, and screenshots.
            read: returns None for an answer that it cannot read.

        Raises:
            Unreadable: the second answer cannot be read either.
        """
        assert self.model is not None, "the judge has not started"
        answers: list[Judgement] = []
        self._asked.append(answers)
        images: list[ImageRef] = [part.image for part in user if isinstance(part, Screen)]
        numbers = iter(range(1, len(images) + 1))
        prompt = "\n".join(part if isinstance(part, str) else f"{part.label} [image {next(numbers)}]" for part in user)
        content: list[dict[str, Any]] = [part async for part in self._parts(user)]

        def heard(note: str, answer: str) -> None:
            shown = "\n".join(filter(None, [f"{system}\n\n{prompt}", note]))
            answers.append(Judgement(step=step, prompt=shown, images=images, answer=answer))

        try:
            what = f"the judge's answer to {step!r}"
            return await ask(self.model, self.config.sampling, system, content, read, what=what, heard=heard)
        except (BudgetError, EngineRefused) as error:
            raise type(error)(f"the judge {self.config.name!r} (section reward): {error}") from None

    def recall(self, judgements: Sequence[Judgement]) -> None:
        """Keep what was asked and answered before, for another episode of the same task."""
        self._asked.append(list(judgements))

    async def _parts(self, user: Sequence[str | Screen]) -> Any:
        for part in user:
            if isinstance(part, str):
                yield {"type": "text", "text": part}
                continue
            yield {"type": "text", "text": part.label}
            url = await asyncio.to_thread(self._data_url, part.image)
            yield {"type": "image_url", "image_url": {"url": url}}

    def _data_url(self, image: ImageRef) -> str:
        return data_url(*self.config.picture(image, self.images))
