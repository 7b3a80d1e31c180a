"""What a caller may ask of the engine, request by request, and what it tells about itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat
from webdojo.errors import EngineError
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.processor import Processor
from webdojo.types import EngineHealth, FinishReason, Prompt, Sampling

Loaded = tuple[PreTrainedModel, Processor]


@pytest.fixture
def engine(loaded: Loaded, images: Images) -> Iterator[HFEngine]:
    engine = HFEngine(*loaded, images, version=3, seed=1, threads=1)
    yield engine
    engine.close()


def endless(processor: Processor, **options: Any) -> Sampling:
    """Options of a response that never ends its turn."""
    return Sampling(logit_bias={processor.stop_id: -1e9}, **options)


async def test_a_seed_fixes_what_is_drawn_whoever_is_asked_and_when(
    loaded: Loaded, images: Images, engine: HFEngine
) -> None:
    prompt = chat(loaded[1], "find the red mug", images.random(1))
    first = await engine.generate(prompt, endless(loaded[1], max_tokens=12, seed=11))
    others = [engine.generate(chat(loaded[1], f"{k}"), Sampling(max_tokens=9)) for k in range(4)]
    again, *_ = await asyncio.gather(engine.generate(prompt, endless(loaded[1], max_tokens=12, seed=11)), *others)
    other = await engine.generate(prompt, endless(loaded[1], max_tokens=12, seed=12))
    assert first.ids == again.ids != other.ids
    second_engine = HFEngine(*loaded, images, seed=2, threads=1)
    try:
        elsewhere = await second_engine.generate(prompt, endless(loaded[1], max_tokens=12, seed=11))
    finally:
        second_engine.close()
    assert elsewhere.ids == first.ids


async def test_a_stop_text_ends_a_response_and_its_tokens_stay(
    loaded: Loaded, images: Images, engine: HFEngine
) -> None:
    processor = loaded[1]
    prompt = chat(processor, "say anything", images.random(1))
    free = await engine.generate(prompt, endless(processor, max_tokens=60, seed=4))
    assert free.finish_reason == FinishReason.LENGTH
    whole = [k for k in range(10, 55) if "�" not in processor.decode(free.ids[k : k + 3])]
    stop = processor.decode(free.ids[whole[0] : whole[0] + 3])
    expected = next(n for n in range(1, 61) if stop in processor.decode(free.ids[:n]))
    stopped = await engine.generate(prompt, endless(processor, max_tokens=60, seed=4, stop=("no such text", stop)))
    assert stopped.ids == free.ids[:expected]
    assert stopped.finish_reason == FinishReason.STOP
    assert len(stopped.logprobs) == len(stopped.versions) == expected


async def test_logprobs_are_those_of_the_biased_policy(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    model, processor = loaded
    prompts = [chat(processor, "one"), chat(processor, "two", images.random(1)), chat(processor, "three")]
    liked, banned = processor.encode("cart")[0], processor.image_token_id
    biased = Sampling(temperature=0.7, max_tokens=30, logit_bias={liked: 4.0, processor.stop_id: -1e9, banned: 1e9})
    plain = Sampling(temperature=0.7, max_tokens=8)
    answers = await asyncio.gather(*(engine.generate(p, biased) for p in prompts), engine.generate(prompts[0], plain))
    assert sum(r.ids.count(liked) for r in answers[:3]) > 5
    assert all(len(r.ids) == 30 and banned not in r.ids for r in answers[:3])

    def expected(asked: list[Prompt], responses: list[list[int]]) -> list[torch.Tensor]:
        batch = collate(list(zip(asked, responses, strict=True)), processor, images)
        with torch.no_grad():
            return list(batch.split(token_logprobs(model, batch, 0.7).logprobs))

    (unbiased,) = expected(prompts[:1], [answers[3].ids])
    torch.testing.assert_close(torch.tensor(answers[3].logprobs), unbiased, atol=1e-4, rtol=0)
    head: Any = model.get_output_embeddings()
    bias = torch.zeros(head.weight.shape[0])
    bias[liked], bias[processor.stop_id] = 4.0, -1e9
    hook = head.register_forward_hook(lambda _module, _inputs, logits: logits + bias)
    for answer, biased_logprobs in zip(answers, expected(prompts, [r.ids for r in answers[:3]]), strict=False):
        torch.testing.assert_close(torch.tensor(answer.logprobs), biased_logprobs, atol=1e-4, rtol=0)
    hook.remove()


async def test_what_cannot_be_sampled_is_named(loaded: Loaded, engine: HFEngine) -> None:
    size = loaded[0].config.get_text_config().vocab_size
    with pytest.raises(EngineError, match=f"logit_bias names id {size}, but the model's ids are 0 to {size - 1}"):
        await engine.generate(chat(loaded[1], "x"), Sampling(logit_bias={5: 1.0, size: 1.0}))
    with pytest.raises(EngineError, match="the prompt is empty"):
        await engine.generate(Prompt(segments=()), Sampling())


async def test_seconds_tell_the_phases_apart(loaded: Loaded, images: Images) -> None:
    engine = HFEngine(*loaded, images, max_num_seqs=1, threads=1)
    try:
        sampling = endless(loaded[1], max_tokens=20)
        first, second = await asyncio.gather(*(engine.generate(chat(loaded[1], t), sampling) for t in ("a", "b")))
    finally:
        engine.close()
    for response in (first, second):
        phases = [response.seconds[name] for name in ("queue", "prefill", "decode")]
        assert all(seconds > 0 for seconds in phases)
        assert response.seconds["total"] == pytest.approx(sum(phases))
    assert second.seconds["queue"] > first.seconds["prefill"] + first.seconds["decode"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_an_engine_that_breaks_while_it_reads_prompts_answers_all(
    loaded: Loaded, images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = HFEngine(*loaded, images, max_num_seqs=2, threads=1)

    def broken(requests: object, version: int) -> None:
        raise ZeroDivisionError("no device")

    monkeypatch.setattr(engine._batch, "admit", broken)
    asked = (engine.generate(chat(loaded[1], f"{k}"), Sampling(max_tokens=1)) for k in range(3))
    for outcome in await asyncio.gather(*asked, return_exceptions=True):
        assert isinstance(outcome, EngineError)
        assert "the engine stopped on ZeroDivisionError: no device" in str(outcome)
    engine.close()


async def test_health_counts_requests_and_says_why_an_engine_is_dead(loaded: Loaded, images: Images) -> None:
    engine: HFEngine = HFEngine(*loaded, images, version=3, max_num_seqs=2, threads=1)
    assert engine.health() == EngineHealth(alive=True, version=3)
    sampling = endless(loaded[1], max_tokens=100_000)
    tasks = [asyncio.ensure_future(engine.generate(chat(loaded[1], f"{k}"), sampling)) for k in range(5)]
    for _ in range(3000):
        await asyncio.sleep(0.01)
        if engine.health().running == 2:
            break
    assert engine.health() == EngineHealth(alive=True, version=3, running=2, waiting=3)
    engine.close()
    assert engine.health() == EngineHealth(alive=False, version=3, error="the engine was closed")
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {EngineError}


async def test_a_sleeping_engine_takes_weights_and_answers_once_it_goes_on(
    loaded: Loaded, images: Images, engine: HFEngine
) -> None:
    prompt = chat(loaded[1], "find the red mug", images.random(1))
    await engine.sleep()
    held = asyncio.create_task(engine.generate(prompt, endless(loaded[1], max_tokens=6)))
    done, _ = await asyncio.wait([held], timeout=1)
    assert not done
    assert (engine.health().running, engine.health().waiting) == (0, 1)
    await engine.update_weights(loaded[0].state_dict(), version=4)
    assert not held.done()
    await engine.wake_up()
    assert (await held).versions == [4] * 6


async def test_a_response_that_sleep_cuts_goes_on_where_it_was(
    loaded: Loaded, images: Images, engine: HFEngine
) -> None:
    prompt, sampling = chat(loaded[1], "find the red mug", images.random(1)), endless(loaded[1], max_tokens=200, seed=5)
    whole = await engine.generate(prompt, sampling)
    cut = asyncio.create_task(engine.generate(prompt, sampling))
    await asyncio.wait([cut], timeout=0.05)
    await engine.sleep()
    done, _ = await asyncio.wait([cut], timeout=1)
    assert not done
    assert engine.health().running == 1
    await engine.wake_up()
    assert (await cut).ids == whole.ids
