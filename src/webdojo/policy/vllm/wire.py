"""Prompts as vLLM's `/inference/v1/generate` takes them, and its answers as responses.

Text goes as token ids and never as text. An image goes as one pad id and a data URL, under its hash,
so that a server reads it once; vLLM puts as many pad ids in its place as the image has tokens.
Invariant: the policy that is sampled and scored is `softmax((logits + bias) / temperature)` over the
ids that are not banned, as in `policy.model.forward`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from webdojo.errors import EngineError
from webdojo.policy.data_url import data_url
from webdojo.types import FinishReason, ImageRef, ImageSegment, Prompt, Response, Sampling

GENERATE = "/inference/v1/generate"
METRICS = "/metrics"
BANNED_BIAS = -1e9
"""Makes a probability exactly 0 in float32, at every temperature."""
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.01, 2.0
"""What vLLM samples at, beside 0."""
_NO_LOGPROB = -9999.0
"""What vLLM writes for a log-probability that is not a number."""
_WAITING = re.compile(r"^vllm:num_requests_waiting\{[^}]*\} (\S+)$", re.MULTILINE)
_PROBE_BIAS = 1000.0
_PROBE_TOKENS = 4


def generate_body(
    prompt: Prompt,
    sampling: Sampling,
    *,
    seed: int,
    image_token_id: int,
    banned: Iterable[int],
    stop_id: int,
    read: Callable[[ImageRef], tuple[str, bytes]],
) -> dict[str, Any]:
    """The JSON of a request; `read` gives mime type and encoded bytes of an image, at the size that the model reads."""
    if sampling.temperature and not MIN_TEMPERATURE <= sampling.temperature <= MAX_TEMPERATURE:
        raise EngineError(
            f"temperature {sampling.temperature:g}: vLLM samples at 0 and from {MIN_TEMPERATURE:g} to "
            f"{MAX_TEMPERATURE:g}; take one of these, or engine.name=hf"
        )
    token_ids: list[int] = []
    for segment in prompt.segments:
        token_ids += [image_token_id] if isinstance(segment, ImageSegment) else segment.ids
    bias = {str(token): value for token, value in sampling.logit_bias.items()}
    bias |= dict.fromkeys(map(str, banned), BANNED_BIAS)
    body: dict[str, Any] = {
        "token_ids": token_ids,
        "sampling_params": {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "max_tokens": sampling.max_tokens,
            "seed": seed,
            "stop": list(sampling.stop),
            "include_stop_str_in_output": True,
            "skip_special_tokens": False,
            "detokenize": bool(sampling.stop),
            "stop_token_ids": [stop_id],
            "ignore_eos": True,
            "logit_bias": bias,
            "logprobs": 0,
        },
    }
    for image in prompt.images:
        mime, data = read(image)
        part = {"type": "image_url", "url": data_url(data, mime), "uuid": image.sha}
        body.setdefault("content_parts", []).append(part)
    return body


def read_response(answer: Mapping[str, Any], prompt_tokens: int, seconds: Mapping[str, float]) -> Response:
    """The response in an answer to a prompt of so many tokens, images included.

    Raises EngineError where the server read another prompt than was meant, ended the request early, or its numbers are
    not finite or do not add up.
    """
    read = answer["usage"]["prompt_tokens"]
    if read != prompt_tokens:
        raise EngineError(
            f"the vLLM server read {read} tokens where the prompt has {prompt_tokens}: its image settings "
            "(preprocessor_config.json) are not those of the model folder"
        )
    (choice,) = answer["choices"]
    reason = choice["finish_reason"]
    if reason not in (FinishReason.STOP, FinishReason.LENGTH):
        raise EngineError(f"the vLLM server ended the request by {reason!r}")
    ids = choice["token_ids"]
    logprobs = [entry["logprob"] for entry in choice["logprobs"]["content"]]
    if len(logprobs) != len(ids):
        raise EngineError(f"the vLLM server gave {len(logprobs)} log-probabilities for {len(ids)} tokens")
    if _NO_LOGPROB in logprobs:
        raise EngineError("the vLLM server gave a log-probability that is not finite: the weights are broken")
    return Response(
        ids=ids,
        logprobs=logprobs,
        versions=token_versions(choice["weight_versions"] or [], len(ids)),
        finish_reason=FinishReason(reason),
        seconds=dict(seconds),
    )


def token_versions(spans: Sequence[Mapping[str, Any]], count: int) -> list[int]:
    """One weight version a token, from vLLM's spans."""
    versions: list[int] = []
    for span in spans:
        if span["start"] != len(versions) or not span["version"].isdecimal():
            break
        versions += [int(span["version"])] * (span["end"] - span["start"])
    if len(versions) != count:
        raise EngineError(f"the vLLM server's weight versions {list(spans)} do not say which made {count} tokens")
    return versions


def probe_body(allowed: Sequence[int]) -> dict[str, Any]:
    """A request whose answer shows what a server's log-probabilities mean: the first few of the ids that may be sampled
    get so great a bias that they share all probability, and top-k takes the best of them."""
    tokens = allowed[:_PROBE_TOKENS]
    bias = dict.fromkeys(map(str, tokens), _PROBE_BIAS)
    sampling = {"temperature": MAX_TEMPERATURE, "top_k": 1, "max_tokens": 1, "logprobs": 0, "ignore_eos": True}
    return {"token_ids": [tokens[0]], "sampling_params": {**sampling, "logit_bias": bias}}


def check_probe(answer: Mapping[str, Any], url: str) -> None:
    """Raise EngineError if the answer to `probe_body` is that of a server that scores otherwise than a learner.

    Before top-k the best of N tokens has a probability from 1/N to below 1; after top-k it has 1. Without the
    bias, which raw log-probabilities leave out, it is one of the whole vocabulary.
    """
    logprob = answer["choices"][0]["logprobs"]["content"][0]["logprob"]
    if logprob >= 0:
        raise EngineError(
            f"the vLLM server at {url} reports log-probabilities after top-k and top-p; start it in an environment "
            'that has webdojo installed, with --weight-transfer-config \'{"backend": "webdojo"}\''
        )
    if math.exp(logprob) * _PROBE_TOKENS < 0.99:
        raise EngineError(
            f"the vLLM server at {url} reports raw log-probabilities; start it with --logprobs-mode processed_logprobs"
        )


def waiting_requests(metrics: str) -> int:
    """Requests in a server's queue, from its Prometheus metrics; 0 where they do not tell."""
    return int(sum(float(value) for value in _WAITING.findall(metrics)))
