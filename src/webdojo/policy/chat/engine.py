"""An endpoint as the `Engine` of an episode: prompt to messages, answer to ids."""

from __future__ import annotations

import time

from webdojo.agent.harness import Codec
from webdojo.agent.toolcall import IM_END
from webdojo.policy.chat.client import ChatClient
from webdojo.policy.chat.messages import break_markers, messages_of
from webdojo.policy.chat.toolcalls import TOOL_DEFINITIONS, text_of, with_calls
from webdojo.types import FinishReason, ImageSource, Prompt, Response, Sampling


class ChatEngine:
    """Answers prompts of any harness through a `ChatClient`.

    The answer's text is encoded by the harness's codec. So ids are not those that the endpoint's model
    sampled, there may be more of them than `sampling.max_tokens`, which the endpoint counts in its own
    way, and `logprobs` and `versions` are zeros: such responses can be imitated (SFT), but online RL must
    not train on them.

    Args:
        codec: of the harness that makes the prompts.
        images: where their screenshots are read from.
    """

    def __init__(self, client: ChatClient, codec: Codec, images: ImageSource) -> None:
        self._client = client
        self._codec = codec
        self._images = images

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """Ask the endpoint for a response.

        Raises:
            EngineError: the prompt is no ChatML, no answer can be had, or the budget is used up.
        """
        started = time.perf_counter()
        sampling = sampling.model_copy(update={"top_k": 0})  # most endpoints refuse it; `extra_body` may set it
        messages = messages_of(prompt, self._codec, self._images)
        if self._client.config.tool_calls == "native":
            answer = await self._client.complete(with_calls(messages), sampling, TOOL_DEFINITIONS)
            text = text_of(answer)
        else:
            answer = await self._client.complete(messages, sampling)
            text = answer.text
        text = break_markers(text.removesuffix(IM_END))
        if answer.finish_reason is FinishReason.STOP:
            text += IM_END
        ids = self._codec.encode(text.encode(errors="replace").decode())  # half a character cannot be tokenised
        return Response(
            ids=ids,
            logprobs=[0.0] * len(ids),
            versions=[0] * len(ids),
            finish_reason=answer.finish_reason,
            seconds={"total": time.perf_counter() - started},
        )
