"""The vLLM engine on a real vLLM against plain forward passes of the same weights."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from PIL import Image
from transformers import PreTrainedModel

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat
from tests.vllm.conftest import ARGS, MakeEngine, needs_vllm
from webdojo.errors import EngineError
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.policy.vllm.engine import VLLMEngine
from webdojo.policy.vllm.server import write_weights
from webdojo.types import FinishReason, ImageRef, Prompt, Response, Sampling

pytestmark = needs_vllm

Loaded = tuple[PreTrainedModel, Processor]
TOLERANCE = 2e-5
"""Of log-probabilities in float32: both sides are up to 1e-5 from what float64 gives."""
LOREM = "Red mug, 12 dollars, in stock. Blue mug, 9 dollars, sold out. Delivery takes three days. Your cart is empty."


@pytest.fixture
def loaded() -> Loaded:
    torch.set_num_threads(1)
    return load_model("tiny")


def photo(images: Images, seed: int, width: int, height: int) -> ImageRef:
    """Smooth colours as a JPEG: what resizing makes of it depends on how it is done."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (7, 9, 3), dtype=np.uint8))
    buffer = io.BytesIO()
    small.resize((width, height), Image.Resampling.BICUBIC).save(buffer, "JPEG", quality=85)
    return images.put(buffer.getvalue(), width, height, "image/jpeg")


def prompts(processor: Processor, images: Images) -> list[Prompt]:
    """No image to three, one shown twice, two of sizes that have to be resized."""
    a, b, c = images.random(1, 320, 320), images.random(2, 96, 64), images.random(3, 128, 256)
    odd, wide = photo(images, 4, 250, 130), photo(images, 5, 330, 201)
    return [
        chat(processor, "Where is the search box?"),
        chat(processor, "find the red mug", a),
        chat(processor, "compare these two and say which one has the search box", a, b),
        chat(processor, "three", c, a, c),
        chat(processor, f"Buy the mug. The page says: {LOREM}", b),
        chat(processor, "sizes that no patch divides", odd, wide),
    ]


def rescored(
    loaded: Loaded, images: Images, asked: Sequence[Prompt], answers: Sequence[Response], t: float
) -> list[torch.Tensor]:
    """What the learner's forward pass says of the responses."""
    model, processor = loaded
    batch = collate([(p, r.ids) for p, r in zip(asked, answers, strict=True)], processor, images)
    with torch.no_grad():
        return list(batch.split(token_logprobs(model, batch, t).logprobs))


def largest_gap(answers: Sequence[Response], expected: Sequence[torch.Tensor]) -> float:
    return max(
        (torch.tensor(r.logprobs, dtype=torch.float64) - e).abs().max().item()
        for r, e in zip(answers, expected, strict=True)
    )


def moved(model: PreTrainedModel, seed: int = 0) -> dict[str, torch.Tensor]:
    """Other weights of the same model, different in every part."""
    generator = torch.Generator().manual_seed(seed)
    state = {
        name: value + 0.1 * value.std() * torch.randn(value.shape, generator=generator) if value.ndim > 1 else value
        for name, value in model.state_dict().items()
    }
    state["lm_head.weight"] = state["model.language_model.embed_tokens.weight"]
    return state


async def metric(url: str, name: str) -> float:
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"{url}/metrics")).text
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))


async def until(url: str, name: str, condition: Callable[[float], bool]) -> None:
    """Wait for a metric of a server."""
    for _ in range(4000):
        if condition(await metric(url, name)):
            return
        await asyncio.sleep(0.05)
    raise TimeoutError(name)


async def ask_all(engine: VLLMEngine | HFEngine, asked: Sequence[Prompt], sampling: Sampling) -> list[Response]:
    return await asyncio.gather(*(engine.generate(prompt, sampling) for prompt in asked))


@pytest.mark.parametrize("temperature", [1.0, 0.7])
async def test_logprobs_are_those_of_the_embedded_engine(
    url: str,
    make_engine: MakeEngine,
    images: Images,
    loaded: Loaded,
    figures: dict[str, float],
    temperature: float,
) -> None:
    engine = make_engine(version=3, urls=[url])
    asked = prompts(loaded[1], images) * 2
    answers = await ask_all(engine, asked, Sampling(temperature=temperature, max_tokens=24))
    expected = rescored(loaded, images, asked, answers, temperature)
    gap = largest_gap(answers, expected)
    figures["max_abs_logprob_diff"] = max(gap, figures.get("max_abs_logprob_diff", 0.0))
    gaps = torch.tensor([p for r in answers for p in r.logprobs]) - torch.cat(expected)
    figures["mean_abs_logprob_diff"] = gaps.abs().mean().item()
    assert gap < TOLERANCE
    assert {version for r in answers for version in r.versions} == {3}
    for answer in answers:
        stopped = answer.ids[-1] == loaded[1].stop_id
        assert answer.finish_reason is (FinishReason.STOP if stopped else FinishReason.LENGTH)
        assert stopped or len(answer.ids) == 24
        assert loaded[1].stop_id not in answer.ids[:-1]
        assert not set(answer.ids) & set(loaded[1].vision_ids)


async def test_greedy_says_what_the_embedded_engine_says(
    url: str, make_engine: MakeEngine, images: Images, loaded: Loaded, figures: dict[str, float]
) -> None:
    asked = prompts(loaded[1], images)
    greedy = Sampling(temperature=0, max_tokens=24)
    embedded = HFEngine(*loaded, images, threads=1)
    try:
        expected = await ask_all(embedded, asked, greedy)
    finally:
        embedded.close()
    answers = await ask_all(make_engine(urls=[url]), asked, greedy)
    assert [r.ids for r in answers] == [r.ids for r in expected]
    gap = largest_gap(answers, [torch.tensor(r.logprobs) for r in expected])
    figures["max_abs_logprob_diff_greedy"] = gap
    assert gap < TOLERANCE


async def test_top_k_and_top_p_bound_the_choice_and_not_the_score(
    url: str, make_engine: MakeEngine, images: Images, loaded: Loaded, figures: dict[str, float]
) -> None:
    engine = make_engine(urls=[url])
    asked = prompts(loaded[1], images)
    hot = Sampling(temperature=2.0, max_tokens=16)
    for narrow in ({"top_k": 3}, {"top_p": 0.5}, {"top_k": 20, "top_p": 0.9}):
        answers = await ask_all(engine, asked, hot.model_copy(update=narrow))
        gap = largest_gap(answers, rescored(loaded, images, asked, answers, 2.0))
        figures["max_abs_logprob_diff_filtered"] = max(gap, figures.get("max_abs_logprob_diff_filtered", 0.0))
        assert gap < TOLERANCE
    (free,) = await ask_all(engine, asked[:1], hot)
    (only,) = await ask_all(engine, asked[:1], hot.model_copy(update={"top_k": 1}))
    assert min(only.logprobs) < -0.05, "a choice of one still has its own probability"
    assert only.ids != free.ids


async def test_seed_stop_text_and_bias_do_what_they_say(
    url: str, make_engine: MakeEngine, images: Images, loaded: Loaded
) -> None:
    processor = loaded[1]
    engine = make_engine(urls=[url])
    prompt = chat(processor, "find the red mug", images.random(1, 320, 320))
    hot = Sampling(temperature=2.0, max_tokens=32, seed=5)
    one, same, other = [await engine.generate(prompt, s) for s in (hot, hot, hot.model_copy(update={"seed": 6}))]
    assert one.ids == same.ids != other.ids

    comma = processor.encode(",")[0]
    biased = Sampling(temperature=1.0, max_tokens=3, logit_bias={comma: 100.0})
    answer = await engine.generate(prompt, biased)
    assert answer.ids == [comma] * 3
    assert max(map(abs, answer.logprobs)) < 1e-3

    text = processor.decode(one.ids)
    stop = text[len(text) // 2 : len(text) // 2 + 2]
    ended = await engine.generate(prompt, hot.model_copy(update={"stop": (stop,)}))
    assert ended.finish_reason is FinishReason.STOP
    assert ended.ids == one.ids[: len(ended.ids)]
    assert stop in processor.decode(ended.ids)
    assert stop not in processor.decode(ended.ids[:-1])


async def test_an_image_is_known_by_its_hash(url: str, make_engine: MakeEngine, images: Images, loaded: Loaded) -> None:
    engine = make_engine(urls=[url])
    a, b = images.random(11, 320, 320), images.random(12, 320, 320)
    sampling = Sampling(temperature=0, max_tokens=8)
    queries, hits = await metric(url, "vllm:mm_cache_queries_total"), await metric(url, "vllm:mm_cache_hits_total")
    first = await engine.generate(chat(loaded[1], "compare", a, b), sampling)
    again = await engine.generate(chat(loaded[1], "compare", a, b), sampling)
    assert await metric(url, "vllm:mm_cache_queries_total") == queries + 4
    assert await metric(url, "vllm:mm_cache_hits_total") == hits + 2
    assert again.ids == first.ids
    assert again.logprobs == pytest.approx(first.logprobs, abs=TOLERANCE)

    prompt = chat(loaded[1], "compare", b, a)
    swapped = await engine.generate(prompt, sampling)
    assert swapped.logprobs != pytest.approx(first.logprobs, abs=1e-3)
    assert largest_gap([swapped], rescored(loaded, images, [prompt], [swapped], 0)) < TOLERANCE


async def test_weights_that_change_in_mid_response_are_exact_by_version(
    url: str, make_engine: MakeEngine, images: Images, loaded: Loaded, figures: dict[str, float]
) -> None:
    model, processor = loaded
    engine = make_engine(version=3, urls=[url])
    asked = prompts(processor, images)
    new = moved(model)
    endless = Sampling(max_tokens=1500, logit_bias={processor.stop_id: -1e9})
    ran = await metric(url, "vllm:generation_tokens_total")
    running = asyncio.ensure_future(ask_all(engine, asked, endless))
    await until(url, "vllm:generation_tokens_total", lambda tokens: tokens > ran + 60)
    begun = time.perf_counter()
    await engine.update_weights(new, 4)
    figures["seconds_update"] = time.perf_counter() - begun
    answers = await running
    assert {version for r in answers for version in r.versions} == {3, 4}
    assert all(r.versions == sorted(r.versions) for r in answers)

    # The bias is a part of the policy.
    head: Any = model.get_output_embeddings()
    bias = torch.zeros(head.weight.shape[0])
    bias[processor.stop_id] = -1e9
    head.register_forward_hook(lambda _module, _inputs, logits: logits + bias)
    under_old = rescored(loaded, images, asked, answers, 1.0)
    model.load_state_dict(new)
    under_new = rescored(loaded, images, asked, answers, 1.0)
    expected = [
        torch.where(torch.tensor(r.versions) == 4, n, o) for r, n, o in zip(answers, under_new, under_old, strict=True)
    ]
    gap = largest_gap(answers, expected)
    figures["max_abs_logprob_diff_after_update"] = gap
    assert largest_gap(answers, under_old) > 0.1, "the new weights are too much like the old ones to tell"
    assert gap < 1e-4, "noisy weights, and hundreds of tokens"


async def test_a_cache_that_outlived_its_weights_would_be_seen(
    url: str, make_engine: MakeEngine, images: Images, loaded: Loaded, figures: dict[str, float], tmp_path: Path
) -> None:
    """What the update does beyond loading is needed: without either reset the answers are those of no weights."""
    model, processor = loaded
    asked = [chat(processor, "find the red mug and add it to the cart " * 4, images.random(21, 320, 320))]
    sampling = Sampling(temperature=0, max_tokens=6)
    new = moved(model, seed=1)
    write_weights(new, tmp_path / "new", torch.float32)
    gaps = {}
    for skipped in ("", "reset_prefix_cache", "reset_encoder_cache"):
        engine = make_engine(urls=[url])
        await ask_all(engine, asked, sampling)
        steps = [
            ("pause?mode=keep&clear_cache=false", None),
            ("start_weight_update", None),
            ("update_weights", {"update_info": {"folder": str(tmp_path / "new")}}),
            ("finish_weight_update", {"weight_version": "1"}),
            ("reset_prefix_cache?reset_running_requests=true", None),
            ("reset_encoder_cache", None),
            ("resume", None),
        ]
        async with httpx.AsyncClient(timeout=120) as client:
            for step, body in steps:
                if step.partition("?")[0] != skipped:
                    (await client.post(f"{url}/{step}", json=body)).raise_for_status()
        answers = await ask_all(engine, asked, sampling)
        gaps[skipped] = (asked, answers)
        engine.close()
    model.load_state_dict(new)
    off = {
        skipped: largest_gap(answers, rescored(loaded, images, asked, answers, 0))
        for skipped, (asked, answers) in gaps.items()
    }
    figures["nats_off_without_prefix_reset"] = off["reset_prefix_cache"]
    figures["nats_off_without_encoder_reset"] = off["reset_encoder_cache"]
    assert off[""] < TOLERANCE
    assert off["reset_prefix_cache"] > 0.01
    assert off["reset_encoder_cache"] > 0.01


async def test_a_cancelled_caller_frees_its_place(
    url: str, make_engine: MakeEngine, images: Images, loaded: Loaded
) -> None:
    engine = make_engine(urls=[url])
    endless = Sampling(max_tokens=3000, logit_bias={loaded[1].stop_id: -1e9})
    prompt = chat(loaded[1], "talk for long", images.random(1, 320, 320))
    task = asyncio.create_task(engine.generate(prompt, endless))
    await until(url, "vllm:num_requests_running", lambda running: running == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(url, "vllm:num_requests_running", lambda running: running == 0)
    assert (await engine.generate(prompt, Sampling(max_tokens=2))).ids


async def test_what_waits_through_a_sleep_goes_on(
    url: str, make_engine: MakeEngine, images: Images, loaded: Loaded
) -> None:
    """On the CPU nothing is freed; requests wait all the same, one of them in mid-response."""
    engine = make_engine(urls=[url], enable_sleep_mode=True)
    asked = [chat(loaded[1], f"look {k}", images.random(k, 320, 320)) for k in range(2)]
    ran = await metric(url, "vllm:generation_tokens_total")
    running = asyncio.create_task(
        engine.generate(asked[0], Sampling(max_tokens=3000, logit_bias={loaded[1].stop_id: -1e9}))
    )
    await until(url, "vllm:generation_tokens_total", lambda tokens: tokens > ran + 10)
    await engine.sleep()
    waiting = asyncio.create_task(engine.generate(asked[1], Sampling(max_tokens=6)))
    done, _ = await asyncio.wait([running, waiting], timeout=3)
    assert not done
    await engine.wake_up()
    answers = await asyncio.gather(running, waiting)
    assert len(answers[0].ids) == 3000
    (expected,) = rescored(loaded, images, asked[1:], answers[1:], 1.0)
    assert largest_gap(answers[1:], [expected]) < TOLERANCE


async def test_a_killed_server_comes_back_with_the_current_weights(
    make_engine: MakeEngine, images: Images, loaded: Loaded, figures: dict[str, float]
) -> None:
    model, processor = loaded
    engine = make_engine(args=ARGS)
    new = moved(model, seed=2)
    await engine.update_weights(new, 7)
    prompt = chat(processor, "find the red mug", images.random(1, 320, 320))
    endless = Sampling(max_tokens=3000, logit_bias={processor.stop_id: -1e9})
    doomed = asyncio.create_task(engine.generate(prompt, endless))
    url, process = engine.replicas[0].server.url, engine.replicas[0].server.process
    assert process is not None
    await until(url, "vllm:num_requests_running", lambda running: running == 1)
    os.kill(process.pid, signal.SIGKILL)
    begun = time.perf_counter()
    with pytest.raises(EngineError, match="does not answer any more"):
        await doomed
    answer = await engine.generate(prompt, Sampling(max_tokens=8))
    figures["seconds_crash_to_answer"] = time.perf_counter() - begun
    assert set(answer.versions) == {7}
    model.load_state_dict(new)
    assert largest_gap([answer], rescored(loaded, images, [prompt], [answer], 1.0)) < TOLERANCE
