"""What a student is asked about an episode and shall answer, as a trajectory of one turn that fine-tuning can learn.

Invariant: the prompt is, token for token and picture for picture, what the student will be asked when it judges,
because the protocol itself puts the question, to an engine that answers by the label; and the protocol has read that
answer as the verdict of the label.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

from pydantic import PrivateAttr

from webdojo.agent.toolcall import IM_END, unmarked
from webdojo.errors import ConfigError, EngineError, Failure
from webdojo.loops.distillation.labels import rationale
from webdojo.policy.engine import EngineConfig, ServedModel
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.redact import redact
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.types import (
    Engine,
    FinishReason,
    ImageSink,
    ImageSource,
    Parsed,
    Prompt,
    Response,
    Reward,
    Sampling,
    Termination,
    Trajectory,
    Turn,
)

NOT_ASKED = "about which no judge is asked"
NO_ROOM = "that the student has no room for"


class Recorder(EngineConfig):
    """An engine that gives the answer that it was told, and keeps what it was asked."""

    name: str = "recorder"

    _answer: str = PrivateAttr(default="")
    _asked: list[tuple[Prompt, Response]] = PrivateAttr(default_factory=list)
    _sink: Any = PrivateAttr(default=None)
    _model: Any = PrivateAttr(default=None)

    @classmethod
    def into(cls, sink: ImageSink) -> Self:
        """One that stores the pictures of prompts."""
        made = cls()
        made._sink = sink
        return made

    @asynccontextmanager
    async def open(self, model: ServedModel) -> AsyncIterator[Engine]:
        self._model = model, load_processor(model_folder(model.path))
        yield self

    def tell(self, answer: str) -> None:
        """Give this answer from now on, and forget what was asked before."""
        self._answer, self._asked = answer, []

    @property
    def asked(self) -> list[tuple[Prompt, Response]]:
        return self._asked

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        model, processor = self._model
        ids = processor.encode(unmarked(self._answer) + IM_END)
        if len(ids) > sampling.max_tokens:
            raise EngineError(f"an answer of {len(ids)} tokens, of which reward.sampling.max_tokens allows fewer")
        for image in prompt.images:
            self._sink.put(model.images.get(image), image.width, image.height, image.mime)
        nothing = [0] * len(ids)  # nobody has sampled it
        response = Response(
            ids=ids, logprobs=list(map(float, nothing)), versions=nothing, finish_reason=FinishReason.STOP
        )
        self._asked.append((prompt, response))
        return response


class ExampleWriter:
    """Makes examples for one student; use it in an `async with` block.

    Args:
        student: a judge whose `model.path` has the tokenizer of the model that learns.
        images: the screenshots of the episodes.
        sink: takes the pictures of the prompts.
    """

    def __init__(self, student: RewardFunction, images: ImageSource, sink: ImageSink) -> None:
        self._endings: Mapping[bool, str] = student.endings
        self._recorder = Recorder.into(sink)
        self._scorer = Scorer(student.model_copy(update={"engine": self._recorder}), images)

    async def __aenter__(self) -> Self:
        await self._scorer.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._scorer.__aexit__(*error)

    async def example(self, episode: Trajectory, label: Reward, name: str) -> tuple[Trajectory | None, str]:
        """The example that an episode and its label make, with this id; where they make none, the reason why.

        Raises:
            ConfigError: the student asks several questions, or does not read its own ending as the verdict.
        """
        why, ending = rationale(label), self._endings[label.success]
        answer = f"{why}\n{ending}" if why else ending
        judged = episode.model_copy(update={"reward": None, "failure": ""})
        self._recorder.tell(answer)
        await self._scorer.score(judged)
        asked, found = self._recorder.asked, judged.reward
        assert found is not None
        if not asked:
            return None, NO_ROOM if judged.failure == Failure.REWARD_FAILED else NOT_ASKED
        if len(asked) != 1 or not found.valid or found.success is not label.success:
            raise ConfigError(
                f"the student {self._scorer.function.name!r} cannot be taught: it must ask one question, and take "
                f"{ending!r} for its verdict, but it asked {len(asked)}, and found: {found.reason}"
            )
        ((prompt, response),) = asked
        shown = redact(episode, episode.secrets)
        seen = shown.final or shown.turns[-1].observation
        turn = Turn(observation=seen, prompt=prompt, response=response, text=answer, parsed=Parsed(think=why))
        return Trajectory(
            id=name,
            task=shown.task,
            group=shown.group,
            turns=[turn],
            termination=Termination.COMPLETED,
            reward=Reward(value=float(label.success), success=label.success, reason=label.reason),
        ), ""
