"""What a recipe's `engine` section is: the options of whoever answers prompts. How each starts is in `engines`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from pydantic import Field, PrivateAttr, model_validator

from webdojo.agent.harness import HarnessConfig
from webdojo.plugins import Plug
from webdojo.policy.config import ModelConfig, screenshot_tokens
from webdojo.types import Engine, ImageSource, Sampling

SMALLEST_TOKEN_PX = 28
"""Side of the square that a visual token stands for, in the model family that has the smallest."""
MAX_NUM_SEQS = 64
"""Requests that the embedded engine decodes together."""


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
    account: Path | None = None
    """File for what an endpoint was paid, so that a budget outlives the process; None keeps that in memory."""


@dataclass(frozen=True)
class Footprint:
    """What an engine holds of a model, for a plan of its memory."""

    weights: int
    """Bytes of the weights in the engine's precision."""
    context: int
    """Bytes of the keys and values of one whole context."""
    concurrency: int
    """Episodes at once."""
    learner_gpus: int
    """The learner has GPUs 0 to this minus 1."""

    @property
    def least(self) -> int:
        """Bytes with which a server can still serve: its weights, one context, and what it computes with."""
        return self.weights + self.context + SERVER_OVERHEAD


SERVER_OVERHEAD = 2 * 2**30
"""Approximate GPU memory of a server beside weights and cache: CUDA, its graphs, activations. It keeps that asleep."""


class MessageModel(Protocol):
    """Anything that answers messages of OpenAI's chat API with text."""

    async def say(
        self, messages: Sequence[dict[str, Any]], sampling: Sampling, keep: Callable[[str], bool] = bool
    ) -> str:
        """The model's next message, without the thoughts that an endpoint gives apart from it.

        `keep` says whether a cache, if there is one, may give this answer the next time.

        Raises:
            EngineError: there is no answer; `BudgetError` where there may be none any more.
        """


class EngineConfig(Plug):
    """Options of an engine; `open` starts it."""

    can_train: ClassVar[bool] = True
    """Whether its weights follow a learner; where not, it serves `eval` and `act` alone."""

    @property
    def native_tools(self) -> bool:
        """Whether the model gets the tools beside its prompt, and calls them in a form of its own."""
        return False

    def check(self, harness: HarnessConfig) -> None:
        """Raise ConfigError, before anything starts, where it cannot serve an agent of that harness, or its options do
        not fit together."""

    def serves(self, path: str) -> str:
        """What people call the model that answers, where a run was given the one at `path`."""
        return path

    def memory(self, held: Footprint, gpu: int) -> tuple[int, int]:
        """Most bytes that it takes of the learner's GPU, which has `gpu` (0: unknown), or of this machine's memory
        where models run on the CPU: while it samples, and while the learner steps."""
        return 0, 0

    @property
    def gpu_count(self) -> int:
        """GPUs that sample side by side, where models run on GPUs."""
        return 1

    def open(self, model: ServedModel) -> AbstractAsyncContextManager[Engine]:
        """An engine that serves a model and ends with the block; EngineError where it does not start, ModelError where
        the model cannot be loaded."""
        raise NotImplementedError(f"{type(self).__name__} says how it is opened")

    @property
    def address(self) -> str:
        """Where it asks over a network; empty where it does not."""
        return ""

    def silence(self) -> str:
        """Why what is at `address` does not answer now, after some seconds at most; empty where it does."""
        return ""

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars; None where no price is known."""
        return None

    def image_cost(self, size_px: tuple[int, int]) -> int:
        """Most tokens that it counts for an image of a size."""
        return screenshot_tokens(size_px, SMALLEST_TOKEN_PX)

    def check_messages(self) -> None:
        """Raise ConfigError, before anything starts, where `open_messages` could not."""

    @asynccontextmanager
    async def open_messages(self, model: ServedModel, account: Path | None = None) -> AsyncIterator[MessageModel]:
        """A model that answers single messages, as judges need it; ends with the block.

        `account` is a file for what was spent, so that a budget outlives the process. Raises as `open`.
        """
        from webdojo.policy.messages import EngineMessages, RequestImages
        from webdojo.policy.model.auto_processor import load_processor
        from webdojo.policy.model.folder import model_folder

        images, processor = RequestImages(), load_processor(model_folder(model.path))
        async with self.open(replace(model, images=images)) as engine:
            yield EngineMessages(engine, processor, images, model.max_context_tokens)


class VLLMConfig(EngineConfig):
    """vLLM's own options have vLLM's names."""

    name: str = "vllm"

    python: str = ""
    """Python of an environment that has vLLM and webdojo; empty takes the one that runs this. See `docs/vllm.md`."""
    urls: list[str] = Field(default=[])
    """Addresses of servers that run already, to use instead of starting any."""
    replicas: int = Field(default=1, ge=1)
    """Servers to start; each request goes to the least busy one."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port of the first server, the others count up from it; 0 takes free ones. They listen on this machine only."""
    gpus: list[int] = Field(default=[])
    """GPUs of the servers in their order, `tensor_parallel_size` for each; empty shows each server all of them."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs that share one copy of the model."""
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    """Share of a GPU's memory that a server takes."""
    kv_cache_memory_bytes: int = Field(default=0, ge=0)
    """Size of the cache of keys and values; 0 takes what `gpu_memory_utilization` leaves, and 1 GiB on the CPU."""
    max_model_len: int = Field(default=0, ge=0)
    """Tokens of prompt and response together; 0 takes `rollout.max_context_tokens`."""
    enforce_eager: bool = False
    """Without compiled graphs: a quicker start, slower sampling. On the CPU it is always so."""
    enable_sleep_mode: bool = False
    """Free the servers' GPU memory while the learner steps, for runs where both share a GPU."""
    args: list[str] = Field(default=[])
    """Further arguments of vLLM's server, such as `--max-num-seqs=64`."""
    weights_dir: str = ""
    """Folder through which new weights reach the servers, which must see it under the same path; empty takes the
    machine's temporary folder."""
    start_timeout_s: float = Field(default=900, gt=0)
    """How long a server may take until it answers."""

    @model_validator(mode="after")
    def _gpus_are_enough(self) -> VLLMConfig:
        needed = self.replicas * self.tensor_parallel_size
        if self.gpus and not self.urls and len(self.gpus) != needed:
            raise ValueError(
                f"gpus names {len(self.gpus)} GPUs, but {self.replicas} replicas of {self.tensor_parallel_size} GPUs "
                f"each need {needed}"
            )
        return self

    @property
    def gpu_count(self) -> int:
        return (len(self.urls) or self.replicas) * self.tensor_parallel_size

    def memory(self, held: Footprint, gpu: int) -> tuple[int, int]:
        if self.urls or (self.gpus and min(self.gpus) >= held.learner_gpus):
            return 0, 0
        cache = self.kv_cache_memory_bytes or held.concurrency * held.context
        awake = held.weights + cache + SERVER_OVERHEAD
        if gpu and not self.kv_cache_memory_bytes:
            awake = int(gpu * self.gpu_memory_utilization)
        return awake, SERVER_OVERHEAD if self.enable_sleep_mode else awake


class ChatConfig(EngineConfig):
    """A model behind an API. It is asked for responses and cannot be trained."""

    can_train: ClassVar[bool] = False

    name: str = "chat"
    base_url: str = ""
    """Address of an OpenAI-compatible API with its version, such as `https://api.openai.com/v1`; empty: none."""
    model: str = ""
    """Name of the model there."""
    api_key_env: str = Field(default="", pattern=r"^([A-Z_][A-Z0-9_]*)?$")
    """Environment variable that holds the key; empty sends none. The key itself is written nowhere."""
    tool_calls: Literal["text", "native"] = "text"
    """How an agent's calls travel: in the harness's own text, or, for the harness `openwebrl`, by the `tools` parameter
    and `tool_calls` answers; the prompt then says nothing of how calls are written."""
    max_concurrency: int = Field(default=16, ge=1)
    """Requests at once."""
    requests_per_minute: int = Field(default=0, ge=0)
    """Requests are spread evenly to keep it; 0 is no limit."""
    tokens_per_minute: int = Field(default=0, ge=0)
    """The limit of input and output tokens together; 0 is no limit."""
    timeout_s: float = Field(default=120, gt=0)
    """One try, from sending the request to the last byte of the answer."""
    max_retries: int = Field(default=5, ge=0)
    """Further tries after a limit (429), a server error, a timeout, or an answer that broke off or cannot be read."""
    price_input: float = Field(default=0, ge=0)
    """US dollars a million input tokens."""
    price_output: float = Field(default=0, ge=0)
    """US dollars a million output tokens."""
    budget_usd: float = Field(default=0, ge=0)
    """Most that a run may spend, requests in flight included; 0 is no limit."""
    budget_requests: int = Field(default=0, ge=0)
    """Most requests that a run may send, each try counted and what the cache answers not; 0 is no limit."""
    image_tokens: int = Field(default=2000, ge=0)
    """Most input tokens that the endpoint counts for one image: reserved from the budget until the answer says how many
    there were."""
    cache: str = ""
    """File that keeps answers, so that the same request is not paid for twice, also in later runs; empty keeps
    none, but for a judge's answers, which are kept in the folder of its run."""
    extra_body: dict[str, Any] = Field(default={})
    """Further fields of the request, such as `{reasoning_effort: low}`; null takes a field out. `max_tokens` may be
    renamed: `{max_tokens: null, max_completion_tokens: 2048}`."""
    _section: str = PrivateAttr(default="engine")

    @property
    def section(self) -> str:
        """The section of the recipe that it is, by which messages name its keys."""
        return self._section

    def belongs_to(self, section: str) -> None:
        """Say that it is the engine of another section, such as `reward`."""
        self._section = f"{section}.engine"

    @property
    def native_tools(self) -> bool:
        return self.tool_calls == "native"

    def serves(self, path: str) -> str:
        return self.model or self.base_url

    @property
    def address(self) -> str:
        return self.base_url

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        if not (self.price_input or self.price_output):
            return None
        return (input_tokens * self.price_input + output_tokens * self.price_output) / 1e6

    def image_cost(self, size_px: tuple[int, int]) -> int:
        return self.image_tokens
