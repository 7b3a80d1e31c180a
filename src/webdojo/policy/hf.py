"""The embedded engine: a `transformers` model that serves many episodes at once.

One worker thread owns the model. Between two decode steps it lets waiting requests in (prompts are
prefilled together, without the beginnings that are known already), then every running row gets one
token; finished rows leave at once (continuous batching). Invariants: every request is answered
exactly once, with a response or an `EngineError`; `logprobs[k]` is what `forward.token_logprobs`
gives for the same ids under the weights of `versions[k]`, also when weights change in mid-response,
because running rows are then prefilled again.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

import torch
from transformers import PreTrainedModel

from webdojo.errors import EngineError
from webdojo.policy.collate import lay_out
from webdojo.policy.features import FeatureCache, ImageFeatures
from webdojo.policy.forward import VISION, join_features, policy_logits, text_hidden
from webdojo.policy.prefixes import PrefixCache, digests
from webdojo.policy.processor import Processor
from webdojo.policy.sampling import draw, temperatures
from webdojo.policy.slots import SlotCache
from webdojo.types import FinishReason, ImageSegment, ImageSource, Prompt, Response, Sampling


@dataclass(eq=False)
class Request:
    """One `generate` call on its way through the engine."""

    prompt: Prompt
    digests: list[tuple[str, int]]
    """Of the prompt, by `prefixes.digests`."""
    sampling: Sampling
    random: random.Random
    started: float
    future: Future[Response] = field(default_factory=Future)
    abandoned: bool = False
    """The caller was cancelled: nobody waits for the answer."""
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    next_position: int = 0
    """mrope position of the token sampled last."""

    @property
    def tokens(self) -> int:
        return len(self.prompt) + len(self.ids)


@dataclass(eq=False)
class WeightUpdate:
    """New weights on their way to the worker."""

    state_dict: Mapping[str, torch.Tensor]
    version: int
    done: Future[None] = field(default_factory=Future)


class HFEngine:
    """Answers concurrent `generate` calls with one model.

    Args:
        model: of a registered layout; the engine owns it from now on and changes its weights in place.
        processor: of the same folder as the model.
        images: where screenshots are read from.
        version: weight version that the model holds.
        seed: fixes every random choice, with the weight version, the prompt, and how many equal prompts that
            version has been asked before. What a request draws does not depend on when other prompts arrive, and
            a run that resumes at a later version does not draw an earlier version's numbers again.
        max_rows: rows that decode together; more requests wait.
        max_prefill_tokens: padded tokens of one prefill; a longer prompt is prefilled alone.
        threads: torch threads of the worker; 0 leaves torch's own choice.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        processor: Processor,
        images: ImageSource,
        version: int = 0,
        *,
        seed: int = 0,
        max_rows: int = 64,
        max_prefill_tokens: int = 16384,
        threads: int = 0,
    ) -> None:
        self.version = version
        self.processor = processor
        self._model = model.eval()
        self._features = FeatureCache(model, processor, images)
        self._banned = processor.banned(model.config.get_text_config().vocab_size).to(model.device)
        self._seed = seed
        self._asked: Counter[str] = Counter()
        """How often the current version was asked each prompt, by digest."""
        self._max_rows = max_rows
        self._max_prefill_tokens = max_prefill_tokens
        self._threads = threads
        self._cache = SlotCache()
        self._prefixes = PrefixCache()
        self._running: list[Request] = []
        self._waiting: deque[Request] = deque()
        self._updates: deque[WeightUpdate] = deque()
        self.prompt_tokens = 0
        """Of all prompts so far."""
        self.prefilled_tokens = 0
        """How many of them had to be read; the others were known from prompts that began alike."""
        self._closed = ""
        self._changed = threading.Condition()
        self._worker = threading.Thread(target=self._work, name="webdojo-engine", daemon=True)
        self._worker.start()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """Sample a response.

        Raises:
            EngineError: out of memory, image tokens that do not match the image, or a closed engine.
        """
        beginnings = digests(prompt)
        digest, _ = beginnings[-1]
        with self._changed:
            self._check_open()
            stream = random.Random(f"{self._seed}/{self.version}/{digest}/{self._asked[digest]}")
            self._asked[digest] += 1
            request = Request(prompt, beginnings, sampling, stream, time.perf_counter())
            self._waiting.append(request)
            self._changed.notify()
        try:
            return await asyncio.wrap_future(request.future)
        except asyncio.CancelledError:
            request.abandoned = True
            raise

    def update_weights(self, state_dict: Mapping[str, torch.Tensor], version: int) -> None:
        """Replace the weights between two decode steps; returns when the new ones serve.

        Running rows keep their sampled tokens and go on under the new weights. Visual features are kept where the
        vision tower's new weights equal the ones it has, tensor for tensor (a frozen tower).

        Raises:
            EngineError: names or shapes differ from the model's, or the engine is closed.
        """
        update = WeightUpdate(state_dict, version)
        with self._changed:
            self._check_open()
            self._updates.append(update)
            self._changed.notify()
        update.done.result()

    def close(self) -> None:
        """Stop the worker; requests in flight fail with `EngineError`."""
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
                    self._drop_abandoned()
                    if admitted := self._admissible():
                        self._prefill_or_fail(admitted)
                    if self._running:
                        self._decode_or_fail()
        except Exception as error:
            self._closed = f"the engine stopped on {type(error).__name__}: {' '.join(str(error).split())}"
            raise
        finally:
            self._fail_all()

    def _wait_for_work(self) -> bool:
        """Sleep until there is something to do; False when the engine is closed."""
        with self._changed:
            while not (self._closed or self._running or self._waiting or self._updates):
                self._changed.wait()
            return not self._closed

    def _admissible(self) -> list[Request]:
        """Take as many waiting requests as there are free rows and prefill tokens for, oldest first."""
        taken: list[Request] = []
        longest = 0
        with self._changed:
            while self._waiting and len(self._running) + len(taken) < self._max_rows:
                request = self._waiting[0]
                longest = max(longest, request.tokens)
                if taken and (len(taken) + 1) * longest > self._max_prefill_tokens:
                    break
                self._waiting.popleft()
                if request.future.running() or request.future.set_running_or_notify_cancel():
                    taken.append(request)
        return taken

    def _prefill_or_fail(self, requests: list[Request]) -> None:
        """Prefill; where memory runs out these requests fail and running rows go on."""
        before = len(self._running)
        try:
            self._prefill(requests)
        except (RuntimeError, MemoryError) as error:  # torch.OutOfMemoryError is a RuntimeError
            if not _is_out_of_memory(error):
                raise
            del self._running[before:]
            self._cache.truncate(before)
            self._features.clear()
            self._prefixes.clear()
            _fail([r for r in requests if not r.future.done()], _out_of_memory(requests))

    def _decode_or_fail(self) -> None:
        """Decode; where memory runs out every running request fails and the engine lives on."""
        try:
            self._decode()
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
            failed, self._running = self._running, []
            self._cache.truncate(0)
            self._cache.free()
            self._features.clear()
            self._prefixes.clear()
            _fail(failed, _out_of_memory(failed))

    def _prefill(self, requests: list[Request]) -> None:
        """Read prompts (and, after a weight update, what was sampled so far) and sample the next token of each."""
        readable: list[Request] = []
        features: dict[str, ImageFeatures] = {}
        for request in requests:
            try:
                features |= self._features.of(request.prompt)
                readable.append(request)
            except EngineError as error:
                request.future.set_exception(error)
        first = {r.digests[-1][0]: r for r in reversed(readable)}
        for wave in (list(first.values()), [r for r in readable if first[r.digests[-1][0]] is not r]):
            for alike in self._by_new_tokens(wave):
                self._read(alike, features)

    def _by_new_tokens(self, requests: list[Request]) -> list[list[Request]]:
        """Requests that have about as many tokens to read, so that little is padded."""
        known = [self._prefixes.longest(r.digests) for r in requests]
        new = {id(r): r.tokens - (k.length if k else 0) for r, k in zip(requests, known, strict=True)}
        batches: list[list[Request]] = []
        for request in sorted(requests, key=lambda r: -new[id(r)]):
            if batches and new[id(request)] * 2 > new[id(batches[-1][0])]:
                batches[-1].append(request)
            else:
                batches.append([request])
        return batches

    def _read(self, requests: list[Request], features: dict[str, ImageFeatures]) -> None:
        """One forward pass over what is new in the requests' prompts, and the next token of each."""
        laid_out = [
            lay_out(r.prompt, r.ids, [features[i.sha].grid for i in r.prompt.images], self.processor.image_token_id)
            for r in requests
        ]
        beginnings = [self._prefixes.longest(r.digests) for r in requests]
        known = [0 if beginning is None else beginning.length for beginning in beginnings]
        new = [len(row.ids) - begin for row, begin in zip(laid_out, known, strict=True)]
        input_ids = torch.full((len(requests), max(new)), self.processor.stop_id)
        position_ids = torch.zeros((3, len(requests), max(new)), dtype=torch.long)
        for b, (row, begin) in enumerate(zip(laid_out, known, strict=True)):
            input_ids[b, : new[b]] = torch.tensor(row.ids[begin:])
            position_ids[:, b, : new[b]] = row.position_ids[:, begin:]
        device = self._model.device
        input_ids = input_ids.to(device)
        first_row = len(self._running)
        shown = [
            features[segment.image.sha].features
            for request, begin in zip(requests, known, strict=True)
            for segment, (_, end) in zip(request.prompt.segments, request.digests, strict=True)
            if isinstance(segment, ImageSegment) and end > begin
        ]
        mask = self._cache.admit([len(row.ids) for row in laid_out], beginnings, device)
        hidden = text_hidden(
            self._model,
            input_ids,
            position_ids.to(device),
            input_ids == self.processor.image_token_id,
            join_features(shown),
            attention_mask=mask,
            past_key_values=self._cache,
        )
        self.prompt_tokens += sum(len(row.ids) for row in laid_out)
        self.prefilled_tokens += sum(new)
        for b, (request, row) in enumerate(zip(requests, laid_out, strict=True)):
            request.next_position = row.next_position
            self._prefixes.keep(request.digests, *self._cache.read(first_row + b))
        self._running += requests
        last = torch.tensor(new, device=device) - 1
        self._sample(hidden[torch.arange(len(requests), device=device), last], requests)

    def _decode(self) -> None:
        """One token for every running row."""
        device = self._model.device
        last = torch.tensor([[r.ids[-1]] for r in self._running], device=device)
        positions = torch.tensor([[r.next_position] for r in self._running], device=device)
        for request in self._running:
            request.next_position += 1
        mask = self._cache.step(device)
        hidden = text_hidden(
            self._model,
            last,
            positions.expand(3, -1, -1),
            torch.zeros_like(last, dtype=torch.bool),
            None,
            attention_mask=mask,
            past_key_values=self._cache,
        )
        self._sample(hidden[:, -1], list(self._running))

    def _sample(self, hidden: torch.Tensor, requests: list[Request]) -> None:
        """Give each request its next token from its row of `hidden`; those that end leave."""
        samplings = [r.sampling for r in requests]
        logits = policy_logits(self._model, hidden, self._banned, temperatures(samplings).to(hidden.device))
        logprobs = torch.log_softmax(logits, dim=-1)
        ids = draw(logprobs, samplings, [r.random.random() for r in requests])
        chosen = logprobs.gather(-1, ids[:, None]).squeeze(-1)
        for request, token, logprob in zip(requests, ids.tolist(), chosen.tolist(), strict=True):
            request.ids.append(token)
            request.logprobs.append(logprob)
            request.versions.append(self.version)
            if token in self.processor.eos_ids:
                self._finish(request, FinishReason.STOP)
            elif len(request.ids) == request.sampling.max_tokens:
                self._finish(request, FinishReason.LENGTH)

    def _finish(self, request: Request, reason: FinishReason) -> None:
        self._leave(request)
        request.future.set_result(
            Response(
                ids=request.ids,
                logprobs=request.logprobs,
                versions=request.versions,
                finish_reason=reason,
                seconds={"total": time.perf_counter() - request.started},
            )
        )

    def _leave(self, request: Request) -> None:
        row = self._running.index(request)
        self._cache.drop(row)
        self._running[row] = self._running[-1]
        self._running.pop()

    def _drop_abandoned(self) -> None:
        for request in [r for r in self._running if r.abandoned]:
            self._leave(request)

    def _apply_updates(self) -> None:
        while self._updates:
            update = self._updates.popleft()
            own = self._model.state_dict()
            if misfit := _misfit(own, update.state_dict):
                update.done.set_exception(EngineError(f"weights of version {update.version} do not fit: {misfit}"))
                continue
            if not _same_vision(own, update.state_dict):
                self._features.clear()
            with torch.inference_mode(False), torch.no_grad():
                self._model.load_state_dict(update.state_dict)
            self._cache.truncate(0)
            self._prefixes.clear()
            with self._changed:
                self.version = update.version
                self._asked.clear()
                self._waiting.extendleft(reversed(self._running))
            self._running = []
            update.done.set_result(None)

    def _fail_all(self) -> None:
        """Nobody may wait for ever on a worker that has ended."""
        with self._changed:
            error = EngineError(f"{self._closed} while requests were in flight; start another engine")
            _fail([r for r in (*self._running, *self._waiting) if not r.future.done()], error)
            for update in self._updates:
                update.done.set_exception(error)
            self._running = []
            self._waiting.clear()
            self._updates.clear()


def _fail(requests: list[Request], error: EngineError) -> None:
    for request in requests:
        request.future.set_exception(error)


def _misfit(own: Mapping[str, torch.Tensor], new: Mapping[str, torch.Tensor]) -> str:
    """The first difference in names or shapes; empty where there is none.

    Checked before loading, because `load_state_dict` copies what fits before it raises.
    """
    for name in sorted(own.keys() | new.keys()):
        if name not in new:
            return f"{name!r} is missing"
        if name not in own:
            return f"{name!r} is not in the model"
        if own[name].shape != new[name].shape:
            return f"{name!r} has shape {tuple(new[name].shape)}, the model has {tuple(own[name].shape)}"
    return ""


def _same_vision(own: Mapping[str, torch.Tensor], new: Mapping[str, torch.Tensor]) -> bool:
    """Whether loading `new` would leave the vision tower as it is."""
    return all(torch.equal(own[name], new[name].to(own[name])) for name in own if name.startswith(VISION))


def _is_out_of_memory(error: Exception) -> bool:
    """Torch raises `OutOfMemoryError` on a GPU and a bare RuntimeError on the CPU."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "allocate memory" in str(error)


def _out_of_memory(requests: list[Request]) -> EngineError:
    longest = max(r.tokens for r in requests)
    return EngineError(
        f"the engine ran out of memory with {len(requests)} requests of up to {longest} tokens; lower "
        "rollout.concurrency, rollout.max_context_tokens or browser.viewport_px"
    )
