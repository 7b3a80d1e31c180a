"""One request at a time, for models whose computed beginnings cannot be kept (`Layout.shares`).

The model's own `generate` makes positions, masks and caches; only the choice of a token is ours, so that what it draws
and scores is what `RunningBatch` would. It stops where the engine has other things to do, and goes on from the sampled
ids. It has the methods of `RunningBatch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import GenerationConfig, PreTrainedModel

from webdojo.errors import EngineError, ModelError, StoreFailure
from webdojo.policy.hf.request import Request, draw, logit_bias, temperatures
from webdojo.policy.model.forward import policy_of
from webdojo.policy.model.processor import NO_IMAGES, Processor, reading
from webdojo.types import FinishReason, ImageSource


class PlainBatch:
    """The requests of a model that is owned from now on; `called_away` says that the engine is wanted elsewhere."""

    def __init__(
        self, model: PreTrainedModel, processor: Processor, images: ImageSource, called_away: Callable[[], bool]
    ) -> None:
        self.running: list[Request] = []
        self.prompt_tokens = 0
        """Tokens of all prompts so far, and of sampled tokens that were read again."""
        self._model: Any = model
        self._processor = processor
        self._images = images
        self._called_away = called_away
        self._banned = processor.banned(model.config.get_text_config().vocab_size).to(model.device)
        model.generation_config = GenerationConfig()  # the folder's may change logits

    @property
    def prefilled_tokens(self) -> int:
        return self.prompt_tokens

    def admit(self, requests: list[Request], version: int) -> None:
        """Take requests in; one whose images cannot be read fails."""
        for request in requests:
            request.enter("prefill")
            try:
                self._encoded(request)
                self.running.append(request)
            except (EngineError, StoreFailure) as error:
                request.future.set_exception(error)

    def step(self, version: int) -> None:
        """Go on with the oldest request until it is answered, or the engine is called away."""
        request = self.running[0]
        ids = [*request.prompt.ids(self._processor.image_token_id), *request.ids]
        inputs = self._processor.model_inputs(ids, self._encoded(request))
        self.prompt_tokens += len(ids)
        reason: FinishReason | None = None
        stopped = False

        def choose(_: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
            """Draw the next token from logits [1, vocabulary], and leave `generate` no other choice."""
            nonlocal reason
            if stopped:  # on a GPU `generate` looks a few tokens late whether it is to stop
                return logits
            sampling = [request.sampling]
            heat = temperatures(sampling).to(logits.device)
            logits = policy_of(logits, self._banned, heat, logit_bias(sampling, logits.device))
            logprobs = torch.log_softmax(logits, dim=-1)
            drawn = draw(logprobs, sampling, [request.stream.random()])
            token = int(drawn)
            request.enter("decode")
            reason = request.take(token, float(logprobs[0, token]), version, self._processor)
            return torch.full_like(logits, float("-inf")).index_fill_(1, drawn, 0.0)

        def stop(ids: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
            nonlocal stopped
            stopped = stopped or reason is not None or request.abandoned or self._called_away()
            return torch.full((len(ids),), stopped, device=ids.device)

        self._model.generate(
            **{name: value.to(self._model.device) for name, value in inputs.items()},
            max_new_tokens=request.sampling.max_tokens - len(request.ids) + 1,
            do_sample=False,
            logits_processor=[choose],
            stopping_criteria=[stop],
        )
        if reason is not None:
            self.leave(request)
            request.answer(reason)

    def leave(self, request: Request) -> None:
        self.running.remove(request)

    def take_out(self, first: int = 0) -> list[Request]:
        """Take out the requests from index `first` on, and return them."""
        taken = self.running[first:]
        del self.running[first:]
        return taken

    def forget(self, vision: bool = True) -> None:
        """Nothing is kept."""

    def free(self) -> None:
        """Nothing is kept."""

    def _encoded(self, request: Request) -> list[bytes]:
        """The encoded images of a prompt, in order."""
        found: list[bytes] = []
        for image in request.prompt.images:
            with reading(image):
                if not self._processor.reads_images:
                    raise ModelError(NO_IMAGES)
                found.append(self._images.get(image))
        return found
