"""What a recipe's `engine` section is: the options of whoever answers prompts, and how it starts."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import ClassVar

from webdojo.agent.harness import HarnessConfig
from webdojo.plugins import Plug
from webdojo.policy.config import ModelConfig
from webdojo.types import Engine, ImageSource


@dataclass(frozen=True)
class ServedModel:
    """What an engine is to answer with."""

    path: str
    """`tiny`, a folder in Hugging Face layout, or a hub id; the engine `chat` reads its tokenizer alone."""
    config: ModelConfig
    """On which device and in which precision."""
    images: ImageSource
    """Where the screenshots of prompts are read from."""
    max_context_tokens: int
    """Prompt and response together."""
    seed: int = 0
    version: int = 0
    """The version of the weights at `path`."""


class EngineConfig(Plug):
    """Options of an engine; `open` starts it."""

    can_train: ClassVar[bool] = True
    """Whether its weights follow a learner; where not, it serves `eval` and `act` alone."""

    def check(self, harness: HarnessConfig) -> None:
        """Find out, before anything starts, whether it can serve an agent of that harness.

        Raises:
            ConfigError: it cannot, or its options do not fit together.
        """

    def open(self, model: ServedModel) -> AbstractAsyncContextManager[Engine]:
        """An engine that serves a model and ends with the block.

        Raises:
            EngineError: it does not start.
            ModelError: the model cannot be loaded.
        """
        raise NotImplementedError(f"{type(self).__name__} says how it is opened")
