"""The requests that the embedded engine decodes together, and the forward passes over them.

`admit` reads prompts, without the prefixes that are known already, and samples a token for each; `step` gives every
running request one token. Complete responses leave at once. Invariant: sequence i of the KV cache belongs to
`running[i]`, and holds all its tokens but the one sampled last.
"""

from __future__ import annotations

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from webdojo.errors import EngineError, StoreFailure
from webdojo.policy.hf.decode import Decoder
from webdojo.policy.hf.kv_cache import PrefixCache, after
from webdojo.policy.hf.request import Request, draw, logit_bias, temperatures
from webdojo.policy.model.collate import lay_out
from webdojo.policy.model.features import FeatureCache, ImageFeatures
from webdojo.policy.model.forward import join_features, policy_logits, text_hidden
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageSegment, ImageSource

CACHE_BYTES = 256 * 2**20
"""Size of the prefix cache on a CPU; the cache of visual features may take as much again."""
GPU_CACHE_SHARE = 0.1
"""Size of each of the two caches on a GPU, as a share of its memory."""
SHARED = 0.25
"""A request waits for one beside it if they have at least this share of what it has to read in common."""


class RunningBatch:
    """Requests that decode together, by a model that is owned from now on."""

    def __init__(self, model: PreTrainedModel, processor: Processor, images: ImageSource) -> None:
        self.running: list[Request] = []
        self.prompt_tokens = 0
        """Tokens of all prompts so far, and of sampled tokens that new weights made to be read again."""
        self.prefilled_tokens = 0
        """How many of `prompt_tokens` had to be read; the others were known from prompts that began alike."""
        self._model = model
        self._device = model.device
        self._processor = processor
        self._decoder = Decoder(model)
        self._cache = self._decoder.cache()
        cache_bytes = CACHE_BYTES
        if model.device.type == "cuda":
            cache_bytes = int(torch.cuda.get_device_properties(model.device).total_memory * GPU_CACHE_SHARE)
        self._features = FeatureCache(model, processor, images, cache_bytes)
        self._prefixes = PrefixCache(cache_bytes)
        self._banned = processor.banned(model.config.get_text_config().vocab_size).to(model.device)

    def admit(self, requests: list[Request], version: int) -> None:
        """Read prompts, and after a weight update what was sampled so far, and sample the next token of each.

        A request whose images cannot be read fails, the others go on.
        """
        readable: list[Request] = []
        features: dict[str, ImageFeatures] = {}
        for request in requests:
            request.enter("prefill")
            try:
                features |= self._features.of(request.prompt)
                readable.append(request)
            except (EngineError, StoreFailure) as error:
                request.future.set_exception(error)
        while readable:
            wave, readable = self._wave(readable)
            for alike in self._by_new_tokens(wave):
                self._read(alike, features, version)

    def step(self, version: int) -> None:
        last = torch.tensor([r.ids[-1] for r in self.running], device=self._device)
        positions = torch.tensor([r.next_position for r in self.running], device=self._device)
        for request in self.running:
            request.next_position += 1
        hidden = self._decoder(last, positions, self._cache)
        self._sample(hidden, list(self.running), version)

    def leave(self, request: Request) -> None:
        index = self.running.index(request)
        self._cache.drop(index)
        self.running[index] = self.running[-1]
        self.running.pop()

    def take_out(self, first: int = 0) -> list[Request]:
        """Take out the requests from index `first` on, and return them."""
        taken = self.running[first:]
        del self.running[first:]
        del self._cache.lengths[first:]
        return taken

    def forget(self, vision: bool = True) -> None:
        """Clear the prefix cache, and with `vision` the visual features; running requests stay."""
        self._prefixes.clear()
        if vision:
            self._features.clear()

    def free(self) -> None:
        """Give the memory of the KV cache back; no request may be running."""
        self._cache.free()

    def _wave(self, requests: list[Request]) -> tuple[list[Request], list[Request]]:
        """The requests to read now, and those that wait because one of the first begins as they do."""
        now: list[Request] = []
        later: list[Request] = []
        read: set[str] = set()
        for request in requests:
            known = self._prefixes.longest(request.boundaries).length
            shared = max((length for digest, length in request.boundaries if digest in read), default=0)
            if shared - known >= SHARED * (request.tokens - known):
                later.append(request)
            else:
                now.append(request)
                read.update(digest for digest, length in request.boundaries if length > known)
        return now, later

    def _by_new_tokens(self, requests: list[Request]) -> list[list[Request]]:
        """Requests in batches of about as many tokens to read, so that little is padded."""
        new = {id(r): r.tokens - self._prefixes.longest(r.boundaries).length for r in requests}
        batches: list[list[Request]] = []
        for request in sorted(requests, key=lambda r: -new[id(r)]):
            if batches and new[id(request)] * 2 > new[id(batches[-1][0])]:
                batches[-1].append(request)
            else:
                batches.append([request])
        return batches

    def _read(self, requests: list[Request], features: dict[str, ImageFeatures], version: int) -> None:
        """One forward pass over what is new in the requests' prompts, and the next token of each."""
        image_id = self._processor.image_token_id
        grids = {sha: image.grid for sha, image in features.items()}
        laid_out = [lay_out(r.prompt, r.ids, grids, image_id) for r in requests]
        prefixes = [self._prefixes.longest(r.boundaries) for r in requests]
        known = [prefix.length for prefix in prefixes]
        ids = [torch.tensor(sequence.ids[begin:]) for sequence, begin in zip(laid_out, known, strict=True)]
        new = [len(row) for row in ids]
        input_ids = pad_sequence(ids, batch_first=True, padding_value=self._processor.stop_id).to(self._device)
        position_ids = torch.zeros((3, *input_ids.shape), dtype=torch.long)
        for b, sequence in enumerate(laid_out):
            position_ids[:, b, : new[b]] = sequence.position_ids[:, known[b] :]
        first = len(self.running)
        shown = [
            features[segment.image.sha].features.rows(slice(max(begin - end + segment.tokens, 0), None))
            for request, begin in zip(requests, known, strict=True)
            for segment, (_, end) in zip(request.prompt.segments, request.boundaries, strict=True)
            if isinstance(segment, ImageSegment) and end > begin
        ]
        mask = self._cache.admit([len(sequence.ids) for sequence in laid_out], prefixes)
        hidden = text_hidden(
            self._model,
            input_ids,
            position_ids.to(self._device),
            input_ids == image_id,
            join_features(shown),
            attention_mask=mask,
            cache=self._cache,
        )
        self.prompt_tokens += sum(len(sequence.ids) for sequence in laid_out)
        self.prefilled_tokens += sum(new)
        for b, (request, sequence) in enumerate(zip(requests, laid_out, strict=True)):
            request.next_position = sequence.next_position
            self._prefixes.keep(request.boundaries, self._cache.sequence(first + b))
            request.enter("decode")
        self.running += requests
        last = torch.tensor(new, device=self._device) - 1
        self._sample(hidden[torch.arange(len(requests), device=self._device), last], requests, version)

    def _sample(self, hidden: torch.Tensor, requests: list[Request], version: int) -> None:
        """Give each request its next token from its hidden state [N, hidden]; those that end leave."""
        samplings = [r.sampling for r in requests]
        heat = temperatures(samplings).to(hidden.device)
        logits = policy_logits(self._model, hidden, self._banned, heat, logit_bias(samplings, hidden.device))
        logprobs = torch.log_softmax(logits, dim=-1)
        ids = draw(logprobs, samplings, [r.stream.random() for r in requests])
        chosen = logprobs.gather(-1, ids[:, None]).squeeze(-1)
        for request, token, logprob in zip(requests, ids.tolist(), chosen.tolist(), strict=True):
            reason = request.take(token, logprob, version, self._processor)
            if reason is not None:
                answered = [*request.boundaries, after(request.boundaries[-1], request.ids)]
                self._prefixes.keep(answered, self._cache.sequence(self.running.index(request)))
                self.leave(request)
                request.answer(reason)
