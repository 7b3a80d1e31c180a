"""The engine over one or several vLLM servers.

Every request goes to the least busy server. Weights change without a restart: each server pauses,
reads the new files, forgets what the old weights computed, and goes on with its running requests.
Invariants: every request is answered exactly once, with a response or an `EngineError`;
`logprobs[k]` is what `forward.token_logprobs` gives for the same ids under the weights of
`versions[k]`, also when weights change in mid-response; a server that dies takes its requests with
it, and the next ones find it started again with the current weights.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import httpx
import torch
from safetensors import SafetensorError
from transformers.core_model_loading import revert_weight_conversion

from webdojo.errors import EngineError, EngineLost, EngineTimeout, ModelError
from webdojo.policy.engine import ServedModel, VLLMConfig
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.layouts import PLAIN, folder_layout
from webdojo.policy.model.loading import engine_dtype, misfit, skeleton
from webdojo.policy.model.processor import reading
from webdojo.policy.vllm.replica import Common, Replica
from webdojo.policy.vllm.server import Scratch, WeightFolder, start_servers, write_weights
from webdojo.policy.vllm.wire import GENERATE, generate_body, read_response
from webdojo.sleep_clock import SleepClock
from webdojo.types import Engine, EngineHealth, ImageRef, Prompt, Response, Sampling

_CONNECT_S = 10.0
_IMAGES_KEPT = 256
"""Screenshots stay in the context for some turns."""


@dataclass(frozen=True)
class _Member:
    """One server of an engine."""

    engine: VLLMEngine
    replica: Replica

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        return await self.engine._generate(prompt, sampling, [self.replica])


class VLLMEngine:
    """Answers concurrent `generate` calls with vLLM; returns from its constructor when the servers answer.

    The model's seed fixes every random choice, as far as vLLM's batches let it: with the weight version, the prompt,
    and how many equal prompts that version has been asked before.
    """

    updates_asleep = False
    """A server that sleeps has given away the memory that weights are loaded into."""

    def __init__(self, model: ServedModel, config: VLLMConfig) -> None:
        self.version = model.version
        self.config = config
        self._model = model
        folder = model_folder(model.path)
        self.processor = processor = load_processor(folder)
        if folder_layout(folder) is PLAIN and processor.reads_images:
            raise ModelError(
                f"the type of the model in {str(folder)!r} has no layout, so how vLLM writes its images is not known; "
                "set engine.name=hf (docs/models.md)"
            )
        self._shapes = skeleton(folder)
        banned = processor.banned(self._shapes.config.get_text_config().vocab_size)
        self._body = partial(
            generate_body,
            image_token_id=processor.image_token_id,
            banned=banned.nonzero().flatten().tolist(),
            stop_id=processor.stop_id,
            read=lru_cache(_IMAGES_KEPT)(self._read_image),
        )
        allowed: list[int] = (~banned).nonzero().flatten().tolist()
        self._asked: Counter[str] = Counter()
        """How often the current version was asked each prompt, by digest."""
        self._closed = False
        self._clock = SleepClock()
        """Stands still while the servers sleep or get new weights."""
        self._sleep = ExitStack()
        self._updating = asyncio.Lock()
        self._scratch = Scratch(config.weights_dir)
        try:
            servers = start_servers(folder, model, config, self._scratch.path)
        except BaseException:
            self._scratch.abandon()
            raise
        client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=_CONNECT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
            trust_env=False,
        )
        # Servers that run already may hold any weights.
        weights = WeightFolder(folder, model.version, temporary=False) if config.urls else None
        self._common = Common(client, model.version, weights, allowed)
        self._common.awake.set()
        self.replicas = [Replica(server, self._common) for server in servers]

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """Sample a response; a cancelled call is aborted on its server."""
        return await self._generate(prompt, sampling, self.replicas)

    @property
    def members(self) -> Sequence[Engine]:
        return [_Member(self, replica) for replica in self.replicas]

    async def _generate(self, prompt: Prompt, sampling: Sampling, replicas: Sequence[Replica]) -> Response:
        """Sample a response on the least busy of these servers."""
        self._check_open()
        started = time.perf_counter()
        seed = self._draw_seed(prompt) if sampling.seed is None else sampling.seed
        body = await asyncio.to_thread(self._body, prompt, sampling, seed=seed)
        for replica in self.replicas:
            if not replica.error:
                replica.begin()
        replica = min(replicas, key=lambda r: (not r.is_up, r.busy))
        replica.busy += 1
        try:
            async with replica.serving(), self._in_time(sampling.timeout_s):
                replica.look()
                sent = time.perf_counter()
                answer = await replica.post(GENERATE, body)
        except EngineError:
            self._check_open()
            raise
        finally:
            replica.busy -= 1
        now = time.perf_counter()
        return read_response(answer, len(prompt), {"queue": sent - started, "total": now - started})

    async def update_weights(self, weights: Mapping[str, torch.Tensor], version: int) -> None:
        """Serve other weights; returns when every server does. Requests in flight go on under them.

        Where it raises EngineError the weights from before are served on.
        """
        self._check_open()
        async with self._updating:
            folder = await asyncio.to_thread(self._publish, weights, version)
            before, self._common.weights = self._common.weights, folder
            try:
                with self._clock.stopped():
                    await self._on_all(lambda replica: replica.load(folder))
            except Exception:
                self._common.weights = before
                for replica in self.replicas:
                    replica.lose(replica.life)
                folder.remove()
                raise
            self.version = version
            self._asked.clear()
            if before is not None:
                before.remove()

    def health(self) -> EngineHealth:
        """How the servers are, as far as requests have shown; their queues are a second old, or as the last request."""
        errors = [replica.error for replica in self.replicas if replica.error]
        waiting = sum(replica.waiting for replica in self.replicas)
        return EngineHealth(
            alive=not self._closed and len(errors) < len(self.replicas),
            version=self.version,
            running=sum(replica.busy for replica in self.replicas) - waiting,
            waiting=waiting,
            error="the engine was closed" if self._closed else "; ".join(errors),
        )

    @property
    def sleeps_during_update(self) -> bool:
        """With `engine.enable_sleep_mode`, for servers on the learner's GPU."""
        return self.config.enable_sleep_mode

    async def sleep(self) -> None:
        """Free the servers' GPU memory until `wake_up`; requests wait, those in flight too."""
        if not self.config.enable_sleep_mode:
            raise EngineError("the vLLM servers cannot sleep; set engine.enable_sleep_mode")
        self._sleep.enter_context(self._clock.stopped())
        await self._on_all(lambda replica: replica.post("/sleep?level=1&mode=keep"))
        self._common.awake.clear()

    async def wake_up(self) -> None:
        """Take the GPU memory back and go on with what waits; a server that died asleep is started again, awake."""
        self._common.awake.set()
        await self._on_all(lambda replica: replica.post("/wake_up"))
        self._sleep.close()

    async def aclose(self) -> None:
        """Close the engine, and the connections to its servers, which only the loop that uses them can close."""
        self.close()
        for replica in self.replicas:
            replica.forget()
        await self._common.client.aclose()

    def close(self) -> None:
        self._closed = True
        for replica in self.replicas:
            replica.server.stop()
        self._common.awake.set()
        self._scratch.remove()

    @asynccontextmanager
    async def _in_time(self, seconds: float) -> AsyncIterator[None]:
        """Make a request that a server works on for longer an EngineTimeout; 0 is no limit."""
        if not seconds:
            yield
            return
        try:
            async with self._clock.timeout(seconds) as deadline:
                yield
        except TimeoutError:
            if not deadline.expired():
                raise
            raise EngineTimeout(f"vLLM gave no response within {seconds:g} s (sampling.timeout_s)") from None

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError("the engine was closed; start another engine")

    def _draw_seed(self, prompt: Prompt) -> int:
        digest = hashlib.sha256(prompt.model_dump_json().encode()).hexdigest()
        stream = random.Random(f"{self._model.seed}/{self.version}/{digest}/{self._asked[digest]}")
        self._asked[digest] += 1
        return stream.getrandbits(63)

    def _read_image(self, image: ImageRef) -> tuple[str, bytes]:
        """Mime type and bytes of an image. One of another size than the model reads is resized here, as the learner
        does it: vLLM resizes with another library, to other pixels."""
        with reading(image):
            data = self._model.images.get(image)
            if self.processor.fits(image.width, image.height):
                return image.mime, data
            buffer = io.BytesIO()
            self.processor.sized(data).save(buffer, "PNG", compress_level=1)
            return "image/png", buffer.getvalue()

    def _publish(self, weights: Mapping[str, torch.Tensor], version: int) -> WeightFolder:
        # A server that has read half of what does not fit serves neither the old weights nor the new.
        if difference := misfit(self._shapes.state_dict(), weights):
            raise EngineError(f"weights of version {version} do not fit: {difference}")
        try:
            folder = Path(tempfile.mkdtemp(prefix="weights-", dir=self._scratch.path))
            named = revert_weight_conversion(self._shapes, dict(weights))  # as in published files, which vLLM reads
            write_weights(named, folder, engine_dtype(self._model.config))
        except (OSError, SafetensorError) as error:  # safetensors names its own for a full disk
            raise EngineError(
                f"weights of version {version} cannot be written to {str(self._scratch.path)!r} ({error}); name "
                "another place in engine.weights_dir"
            ) from error
        return WeightFolder(folder, version, temporary=True)

    async def _on_all(self, do: Callable[[Replica], Awaitable[object]]) -> None:
        """On every replica at once; one that dies over it, or has died before, is started again for it."""

        async def on(replica: Replica, again: bool = True) -> None:
            try:
                async with replica.serving():
                    await do(replica)
            except EngineLost:
                if not again:
                    raise
                await on(replica, again=False)

        done = await asyncio.gather(*map(on, self.replicas), return_exceptions=True)
        if failed := [error for error in done if error is not None]:
            raise failed[0]
