"""When a response is complete."""

from __future__ import annotations

import random

import pytest

from tests.policy.conftest import tiny_processor
from webdojo.policy.hf.request import Request
from webdojo.policy.model.processor import Processor
from webdojo.types import FinishReason, Prompt, Sampling, TextSegment


@pytest.fixture(scope="module")
def processor() -> Processor:
    return tiny_processor()


def written(processor: Processor, ids: list[int], **options: object) -> tuple[int, FinishReason | None]:
    """How many of `ids` a request takes, and why it takes no more."""
    sampling = Sampling.model_validate({"max_tokens": 1000, **options})
    request = Request(Prompt(segments=(TextSegment(ids=(1,)),)), [("", 1)], sampling, random.Random(0))
    for taken, token in enumerate(ids, 1):
        if (reason := request.take(token, -0.5, 3, processor)) is not None:
            return taken, reason
    return len(ids), None


def first_with(processor: Processor, ids: list[int], text: str) -> int:
    """Tokens up to the one that completes `text`, by decoding everything each time."""
    return next(n for n in range(1, len(ids) + 1) if text in processor.decode(ids[:n]))


@pytest.mark.parametrize("stop", ["mug", "e", "\n", " to the ca", "</tool_call>", "ö", "e 1", "日本", "日"])
def test_it_ends_with_the_token_that_completes_a_stop_text(processor: Processor, stop: str) -> None:
    text = 'find the red mug\nGröße 12 日本語 add to the cart<tool_call>{"name": "click"}</tool_call> and more'
    ids = processor.encode(text)
    assert written(processor, ids, stop=(stop, "never")) == (first_with(processor, ids, stop), FinishReason.STOP)


def test_text_before_the_response_completes_no_stop_text(processor: Processor) -> None:
    ids = processor.encode("end")
    assert written(processor, ids, stop=("send",)) == (len(ids), None)


def test_it_ends_with_its_turn_or_at_its_length(processor: Processor) -> None:
    ids = processor.encode("go on<|im_end|>more")
    assert written(processor, ids) == (ids.index(processor.stop_id) + 1, FinishReason.STOP)
    assert written(processor, ids, max_tokens=2) == (2, FinishReason.LENGTH)
    assert written(processor, ids, max_tokens=1, stop=(processor.decode(ids[:1]),)) == (1, FinishReason.STOP)


def test_the_seconds_of_its_phases_add_up_to_the_total(processor: Processor) -> None:
    request = Request(Prompt(segments=(TextSegment(ids=(1,)),)), [("", 1)], Sampling(max_tokens=1), random.Random(0))
    for phase in ("prefill", "decode", "queue", "prefill", "decode"):
        request.enter(phase)  # type: ignore[arg-type]
    request.take(5, -0.25, 7, processor)
    request.answer(FinishReason.LENGTH)
    response = request.future.result()
    assert (response.ids, response.logprobs, response.versions) == ([5], [-0.25], [7])
    seconds = dict(response.seconds)
    total = seconds.pop("total")
    assert set(seconds) == {"queue", "prefill", "decode"} and all(value > 0 for value in seconds.values())
    assert total == pytest.approx(sum(seconds.values()))
