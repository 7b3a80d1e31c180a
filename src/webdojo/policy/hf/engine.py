"""The embedded engine: a `transformers` model that serves many episodes at once.

One worker thread owns the model. Between two decode steps it lets waiting requests in (prompts are
prefilled together, without the prefixes that are known already), then every running request gets one
token; finished ones leave at once (continuous batching). Invariants: every request is answered
exactly once, with a response or an `EngineError`; `logprobs[k]` is what `forward.token_logprobs`
gives for the same ids under the weights of `versions[k]`, also when weights change in mid-response,
because running requests are then prefilled again.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import torch
from transformers import PreTrainedModel

from webdojo.errors import EngineError, one_line
from webdojo.memory import is_out_of_memory
from webdojo.policy.engine import MAX_NUM_SEQS
from webdojo.policy.hf.kv_cache import boundaries
from webdojo.policy.hf.plain_batch import PlainBatch
from webdojo.policy.hf.request import Request
from webdojo.policy.hf.running_batch import RunningBatch
from webdojo.policy.model.forward import vision_prefixes
from webdojo.policy.model.layouts import layout_of
from webdojo.policy.model.loading import misfit
from webdojo.policy.model.processor import Processor
from webdojo.types import Engine, EngineHealth, ImageSource, Prompt, Response, Sampling

MAX_PREFILL_TOKENS = 16384
"""The most padded tokens of one prefill; a longer prompt is prefilled alone."""


class HFEngine:
    """Answers concurrent `generate` calls with one model; a `TrainableEngine`.

    It owns the model from now on and changes its weights in place. `seed` fixes every random choice, with the weight
    version, the prompt, and how many equal prompts that version has been asked before: what a request draws does not
    depend on when other prompts arrive, and a run that resumes at a later version does not draw an earlier version's
    numbers again. At most `max_num_seqs` requests decode together.
    """

    updates_asleep = True
    """After an update it computes again what it knows of every prompt."""

    def __init__(
        self,
        model: PreTrainedModel,
        processor: Processor,
        images: ImageSource,
        version: int = 0,
        *,
        seed: int = 0,
        max_num_seqs: int = MAX_NUM_SEQS,
        threads: int = 0,
    ) -> None:
        self.version = version
        self.processor = processor
        self._model = model.eval()
        self._vocabulary = model.config.get_text_config().vocab_size
        self._seed = seed
        self._asked: Counter[str] = Counter()
        """How often the current version was asked each prompt, by the prompt's digest."""
        shares = layout_of(model).shares
        self._max_num_seqs = max_num_seqs if shares else 1
        self._threads = threads
        self._batch: RunningBatch | PlainBatch = (
            RunningBatch(model, processor, images)
            if shares
            else PlainBatch(model, processor, images, self._called_away)
        )
        self._waiting: deque[Request] = deque()
        self._admitted: list[Request] = []
        """The requests taken in last: on their way from `_waiting` to the running ones only this list holds them."""
        self._updates: deque[tuple[Callable[[], None], Future[None]]] = deque()
        """New weights on their way to the worker."""
        self._closed = ""
        self._asleep = False
        self._changed = threading.Condition()
        self._worker = threading.Thread(target=self._work, name="webdojo-engine", daemon=True)
        self._worker.start()

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts so far."""
        return self._batch.prompt_tokens

    @property
    def prefilled_tokens(self) -> int:
        """How many of `prompt_tokens` had to be read; the others were known from prompts that began alike."""
        return self._batch.prefilled_tokens

    @property
    def members(self) -> Sequence[Engine]:
        return [self]

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """Sample a response.

        A response ends with the token that ends a turn, or with the one that completes a stop text. With a
        `logit_bias` the log-probabilities are those of the biased policy, which `forward.token_logprobs` does not
        score: whoever trains on such a response must add the same bias, or refuse it. Seconds: `queue`, `prefill`,
        `decode` and their sum `total`.
        """
        if not len(prompt):
            raise EngineError("the prompt is empty; it needs at least one token to go on from")
        if unknown := [token for token in sampling.logit_bias if not 0 <= token < self._vocabulary]:
            raise EngineError(f"logit_bias names id {unknown[0]}, but the model's ids are 0 to {self._vocabulary - 1}")
        ends = boundaries(prompt)
        digest, _ = ends[-1]
        with self._changed:
            self._check_open()
            seed = sampling.seed
            drawn_by = f"{self._seed}/{self.version}/{digest}/{self._asked[digest]}" if seed is None else f"{seed}"
            self._asked[digest] += 1
            request = Request(prompt, ends, sampling, random.Random(drawn_by))
            self._waiting.append(request)
            self._changed.notify()
        try:
            return await asyncio.wrap_future(request.future)
        except asyncio.CancelledError:
            request.abandoned = True
            raise

    async def update_weights(self, weights: Mapping[str, torch.Tensor], version: int) -> None:
        """Replace the weights between two decode steps; returns when the new ones serve.

        Running requests keep their sampled tokens and go on under the new weights. Visual features are kept where the
        vision tower's new weights equal the ones it has, tensor for tensor (a frozen tower).
        """
        done: Future[None] = Future()
        with self._changed:
            self._check_open()
            self._updates.append((partial(self._load, weights, version), done))
            self._changed.notify()
        await asyncio.wrap_future(done)

    async def sleep(self) -> None:
        """Compute no further token until `wake_up`; requests wait, those in flight too."""
        self._asleep = True

    async def wake_up(self) -> None:
        with self._changed:
            self._asleep = False
            self._changed.notify()

    @property
    def sleeps_during_update(self) -> bool:
        """Whether it computes on the CPU, whose cores the learner needs."""
        return self._model.device.type == "cpu"

    def health(self) -> EngineHealth:
        return EngineHealth(
            alive=not self._closed,
            version=self.version,
            running=len(self._batch.running),
            waiting=len(self._waiting),
            error=self._closed,
        )

    def close(self) -> None:
        with self._changed:
            self._closed = self._closed or "the engine was closed"
            self._changed.notify()
        self._worker.join()

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError(f"{self._closed}; start another engine")

    def _work(self) -> None:
        if self._threads:
            torch.set_num_threads(self._threads)
        try:
            with torch.inference_mode():
                while self._wait_for_work():
                    self._apply_updates()
                    if self._asleep:
                        continue
                    for request in [r for r in self._batch.running if r.abandoned]:
                        self._batch.leave(request)
                    self._admitted = self._admissible()
                    if self._admitted:
                        before = len(self._batch.running)
                        self._compute(lambda: self._batch.admit(self._admitted, self.version), self._admitted, before)
                    if self._batch.running:
                        self._compute(lambda: self._batch.step(self.version), list(self._batch.running), 0)
        except Exception as error:
            self._closed = f"the engine stopped on {one_line(error)}"
            raise
        finally:
            self._fail_all()

    def _called_away(self) -> bool:
        return bool(self._closed or self._updates or self._asleep)

    def _wait_for_work(self) -> bool:
        """Block until there is something to do; False when the engine is closed."""

        def busy() -> bool:
            return bool(self._closed or self._updates or (not self._asleep and (self._batch.running or self._waiting)))

        with self._changed:
            self._changed.wait_for(busy)
            return not self._closed

    def _admissible(self) -> list[Request]:
        """Take as many waiting requests as there are free places and prefill tokens for, oldest first."""
        taken: list[Request] = []
        longest = 0
        with self._changed:
            while self._waiting and len(self._batch.running) + len(taken) < self._max_num_seqs:
                request = self._waiting[0]
                longest = max(longest, request.tokens)
                if taken and (len(taken) + 1) * longest > MAX_PREFILL_TOKENS:
                    break
                self._waiting.popleft()
                if request.future.running() or request.future.set_running_or_notify_cancel():
                    taken.append(request)
        return taken

    def _compute(self, work: Callable[[], None], requests: list[Request], first: int) -> None:
        """Prefill or decode; where memory runs out these requests fail, and the running ones before `first` go on."""
        try:
            work()
        except (RuntimeError, MemoryError) as error:  # torch.OutOfMemoryError is a RuntimeError
            if not is_out_of_memory(error):
                raise
            self._batch.take_out(first)
            self._batch.forget()
            if not first:
                self._batch.free()
            longest = max(r.tokens for r in requests)
            failure = EngineError(
                f"the engine ran out of memory with {len(requests)} requests of up to {longest} tokens; lower "
                "rollout.concurrency, rollout.max_context_tokens or browser.viewport_px"
            )
            _fail((request.future for request in requests), failure)

    def _apply_updates(self) -> None:
        while self._updates:
            load, done = self._updates[0]
            if done.set_running_or_notify_cancel():
                try:
                    done.set_result(load())
                except EngineError as error:
                    done.set_exception(error)
            self._updates.popleft()

    def _load(self, new: Mapping[str, torch.Tensor], version: int) -> None:
        own = self._model.state_dict()
        if difference := misfit(own, new):
            raise EngineError(f"weights of version {version} do not fit: {difference}")
        vision = [name for name in own if name.startswith(vision_prefixes(self._model))]
        vision_kept = all(torch.equal(own[name], new[name].to(own[name])) for name in vision)
        with torch.inference_mode(False), torch.no_grad():
            self._model.load_state_dict(new)
        self._batch.forget(vision=not vision_kept)
        interrupted = self._batch.take_out()
        for request in interrupted:
            request.enter("queue")
        with self._changed:
            self.version = version
            self._asked.clear()
            self._waiting.extendleft(reversed(interrupted))

    def _fail_all(self) -> None:
        """Nobody may wait for ever on a worker that has ended."""
        with self._changed:
            error = EngineError(f"{self._closed} while requests were in flight; start another engine")
            requests = [*self._batch.take_out(), *self._admitted, *self._waiting]
            _fail([*(request.future for request in requests), *(done for _, done in self._updates)], error)
            self._waiting.clear()
            self._updates.clear()


def _fail(futures: Iterable[Future[Any]], error: EngineError) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(error)
