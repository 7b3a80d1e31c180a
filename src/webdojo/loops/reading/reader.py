"""A model that reads the tasks of a set, and answers one question about each, such as what is wrong with it.

An answer that cannot be read is asked for once more. With `engine.cache` what an endpoint answered is kept, so
a command that was stopped, or whose budget ran out, asks nothing again when it is called once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from webdojo.config import Section
from webdojo.gather import gather_or_cancel
from webdojo.plugins import plug_field
from webdojo.policy.config import ModelConfig
from webdojo.policy.engine import EngineConfig, ServedModel
from webdojo.policy.engines import ENGINES, Chat
from webdojo.progress import progress
from webdojo.reward.judges.ask import Unreadable, ask
from webdojo.reward.judges.case import quoted
from webdojo.store.images import MemoryImages
from webdojo.types import Sampling, Task

T = TypeVar("T")

BATCH = 64
"""Tasks that are asked about together; `engine.max_concurrency` bounds the requests."""


class Reader(Section):
    """Which model reads the tasks."""

    engine: Annotated[EngineConfig, *plug_field(ENGINES, "chat")] = Chat()
    """As in a recipe: `chat` is any OpenAI-compatible endpoint, `hf` and `vllm` serve `model.path`."""
    model: ModelConfig = ModelConfig()
    max_context_tokens: int = Field(default=8192, ge=256)
    sampling: Sampling = Sampling(temperature=0, max_tokens=512)

    async def read(
        self, tasks: Sequence[Task], system: str, shown: Callable[[Task], Any], parse: Callable[[str], T | None]
    ) -> list[T | Unreadable]:
        """What the model answers to one question about each task, in their order, as `parse` understands it; what was
        wrong where it understood neither the first answer nor the second.

        Args:
            system: the question, as `ask` wants it.
            shown: what the model is told of a task, as JSON.

        Raises:
            EngineError: there is no answer; `BudgetError` where there may be none any more.
        """
        served = ServedModel(self.model.path, self.model, MemoryImages(), self.max_context_tokens)
        found: list[T | Unreadable] = []
        with progress("tasks that a model reads", len(tasks)) as bar:
            async with self.engine.open_messages(served) as model:

                async def answer(task: Task) -> T | Unreadable:
                    content = [{"type": "text", "text": quoted(shown(task))}]
                    try:
                        return await ask(model, self.sampling, system, content, parse, what="the model's answer")
                    except Unreadable as error:
                        return error

                for first in range(0, len(tasks), BATCH):
                    answers = await gather_or_cancel(map(answer, tasks[first : first + BATCH]))
                    found += answers
                    bar.advance(len(answers))
        return found
