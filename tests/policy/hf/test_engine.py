"""The engine against plain forward passes of the same weights."""

from __future__ import annotations

import asyncio
import itertools
import threading
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
from webdojo.types import FinishReason, ImageSegment, Prompt, Response, Sampling, TextSegment

Loaded = tuple[PreTrainedModel, Processor]


@pytest.fixture
def engine(loaded: Loaded, images: Images) -> Iterator[HFEngine]:
    model, processor = loaded
    engine = HFEngine(model, processor, images, version=3, seed=1, threads=1)
    yield engine
    engine.close()


def prompts(processor: Processor, images: Images) -> list[Prompt]:
    """Different lengths, zero to three images of different sizes, one shown twice."""
    a, b, c = images.random(1), images.random(2, 96, 64), images.random(3, 128, 128)
    return [
        chat(processor, "no picture"),
        chat(processor, "find the red mug", a),
        chat(processor, "compare these two and say which one has the search box", a, b),
        chat(processor, "three", c, a, c),
        chat(processor, "cart " * 40, b),
    ]


def never_stop(model: PreTrainedModel, processor: Processor) -> None:
    """Responses go on to their last token."""
    head: Any = model.get_output_embeddings()
    bias = torch.zeros(head.weight.shape[0])
    bias[processor.stop_id] = -1000.0
    head.register_forward_hook(lambda _module, _inputs, logits: logits + bias)


def rescored(loaded: Loaded, images: Images, asked: list[Prompt], answers: list[Response], t: float) -> list[Any]:
    model, processor = loaded
    batch = collate([(p, r.ids) for p, r in zip(asked, answers, strict=True)], processor, images)
    with torch.no_grad():
        return list(batch.split(token_logprobs(model, batch, t).logprobs))


async def test_logprobs_are_those_of_a_full_forward(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    asked = prompts(loaded[1], images) * 3
    samplings = [Sampling(temperature=0.7, max_tokens=3 + 4 * k) for k in range(len(asked))]
    answers = await asyncio.gather(*(engine.generate(p, s) for p, s in zip(asked, samplings, strict=True)))
    for answer, sampling, expected in zip(
        answers, samplings, rescored(loaded, images, asked, answers, 0.7), strict=True
    ):
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)
        assert answer.versions == [3] * len(answer.ids)
        stopped = answer.ids[-1] == loaded[1].stop_id
        assert answer.finish_reason == (FinishReason.STOP if stopped else FinishReason.LENGTH)
        assert stopped or len(answer.ids) == sampling.max_tokens
        assert loaded[1].stop_id not in answer.ids[:-1]
        assert answer.seconds["total"] > 0


async def test_requests_join_and_leave_a_running_batch(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    async def ask(k: int, prompt: Prompt) -> Response:
        await asyncio.sleep(0.01 * k)
        return await engine.generate(prompt, Sampling(temperature=1.0, max_tokens=60 - 5 * k))

    asked = prompts(loaded[1], images) * 2
    answers = await asyncio.gather(*(ask(k, p) for k, p in enumerate(asked)))
    for answer, expected in zip(answers, rescored(loaded, images, asked, answers, 1.0), strict=True):
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize(("shared", "own", "read_twice"), [(40, 20, 0), (8, 60, 8)])
async def test_what_waiting_prompts_share_is_read_first_if_it_is_much(
    loaded: Loaded, images: Images, engine: HFEngine, shared: int, own: int, read_twice: int
) -> None:
    opening = TextSegment(ids=tuple(range(5, 5 + shared)))
    asked = [Prompt(segments=(opening, TextSegment(ids=tuple(range(k, k + own))))) for k in (60, 90, 120)]
    await engine.sleep()
    waiting = asyncio.gather(*(engine.generate(p, Sampling(temperature=0.9, max_tokens=4)) for p in asked))
    await asyncio.sleep(0)
    await engine.wake_up()
    answers = await waiting
    assert engine.prefilled_tokens == shared + 3 * own + 2 * read_twice
    for answer, expected in zip(answers, rescored(loaded, images, asked, answers, 0.9), strict=True):
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)


async def test_prompts_that_begin_alike_are_read_once_and_score_the_same(
    loaded: Loaded, images: Images, engine: HFEngine
) -> None:
    processor = loaded[1]
    opening = chat(processor, "find the red mug", images.random(1)).segments
    sampling = Sampling(temperature=0.9, max_tokens=6)
    group = [Prompt(segments=opening)] * 4
    first = await asyncio.gather(*(engine.generate(p, sampling) for p in group))
    assert engine.prompt_tokens == 4 * len(group[0])
    assert engine.prefilled_tokens == len(group[0]) + 3, "of an equal prompt, its last token is read again"
    later = [Prompt(segments=(*opening, *chat(processor, f"step {k}", images.random(k)).segments)) for k in range(2, 5)]
    second = await asyncio.gather(*(engine.generate(p, sampling) for p in [*later, *group]))
    assert engine.prefilled_tokens < 0.6 * engine.prompt_tokens
    asked, answers = [*group, *later, *group], [*first, *second]
    for answer, expected in zip(answers, rescored(loaded, images, asked, answers, 0.9), strict=True):
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)


async def test_new_weights_forget_what_was_read(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    asked = [chat(loaded[1], "find the red mug", images.random(1))]
    sampling = Sampling(temperature=0.9, max_tokens=6)
    await engine.generate(asked[0], sampling)
    moved = {name: value + 0.02 * torch.randn_like(value) for name, value in loaded[0].state_dict().items()}
    await engine.update_weights(moved, 4)
    answer = await engine.generate(asked[0], sampling)
    (expected,) = rescored(loaded, images, asked, [answer], 0.9)
    torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)


async def test_greedy_is_deterministic_and_equals_generate(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    model, processor = loaded
    asked = prompts(processor, images)
    greedy = Sampling(temperature=0, max_tokens=12)
    together = await asyncio.gather(*(engine.generate(p, greedy) for p in asked))
    alone = [await engine.generate(p, greedy) for p in asked]
    assert [r.ids for r in together] == [r.ids for r in alone]
    one = collate([(asked[2], [])], processor, images)
    pixels, grids = zip(*(processor.pixels(images.get(i)) for i in asked[2].images), strict=True)
    expected = model.generate(  # type: ignore[operator]
        input_ids=one.input_ids,
        attention_mask=torch.ones_like(one.input_ids),
        mm_token_type_ids=one.mm_token_type_ids,
        pixel_values=torch.cat(pixels),
        image_grid_thw=torch.cat(grids),
        do_sample=False,
        max_new_tokens=12,
        eos_token_id=processor.stop_id,
        suppress_tokens=torch.nonzero(processor.banned(model.config.text_config.vocab_size)).flatten().tolist(),
    )
    assert together[2].ids == expected[0, one.input_ids.shape[1] :].tolist()


async def test_the_same_seed_draws_the_same(loaded: Loaded, images: Images) -> None:
    asked = prompts(loaded[1], images)
    drawn = []
    for seed in (5, 5, 6):
        engine = HFEngine(*loaded, images, seed=seed, threads=1)
        drawn.append(
            [r.ids for r in await asyncio.gather(*(engine.generate(p, Sampling(max_tokens=8)) for p in asked))]
        )
        engine.close()
    assert drawn[0] == drawn[1] != drawn[2]


async def test_draws_depend_on_version_and_prompt_and_not_on_arrival(loaded: Loaded, images: Images) -> None:
    asked = prompts(loaded[1], images)
    weights = {name: value.clone() for name, value in loaded[0].state_dict().items()}
    sampling = Sampling(max_tokens=8)

    async def draw_all(engine: HFEngine, order: list[Prompt]) -> list[list[int]]:
        """Responses to `asked`, each asked when its turn in `order` comes."""
        found = {id(p): (await engine.generate(p, sampling)).ids for p in order}
        return [found[id(p)] for p in asked]

    engine = HFEngine(*loaded, images, version=1, seed=5, threads=1)
    first = await draw_all(engine, asked)
    again = await draw_all(engine, asked)
    await engine.update_weights(weights, 2)
    later = await draw_all(engine, asked)
    engine.close()
    resumed = HFEngine(*loaded, images, version=0, seed=5, threads=1)
    await resumed.update_weights(weights, 2)
    assert await draw_all(resumed, asked[::-1]) == later
    resumed.close()
    assert first != again, "equal prompts are drawn for independently"
    assert first != later, "a later version does not repeat an earlier one's draws"


async def test_top_k_and_top_p_bound_the_choice(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    prompt = prompts(loaded[1], images)[1]
    greedy = await engine.generate(prompt, Sampling(temperature=0, max_tokens=1))
    for narrow in (Sampling(top_k=1, max_tokens=1), Sampling(top_p=1e-6, max_tokens=1)):
        answers = await asyncio.gather(*(engine.generate(prompt, narrow) for _ in range(10)))
        assert {r.ids[0] for r in answers} == set(greedy.ids)
        torch.testing.assert_close(answers[0].logprobs, greedy.logprobs)
    free = await asyncio.gather(*(engine.generate(prompt, Sampling(max_tokens=1)) for _ in range(10)))
    assert len({r.ids[0] for r in free}) > 1


async def test_banned_ids_are_never_sampled(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    model, processor = loaded
    prompt = chat(processor, "say anything", images.random(1))
    banned = set(torch.nonzero(processor.banned(model.config.text_config.vocab_size)).flatten().tolist())
    head: Any = model.get_output_embeddings()
    biased = torch.zeros(head.weight.shape[0])
    biased[sorted(banned)] = 50.0
    head.register_forward_hook(lambda _m, _i, logits: logits + biased)
    answers = await asyncio.gather(*(engine.generate(prompt, Sampling(max_tokens=40)) for _ in range(8)))
    sampled = {token for r in answers for token in r.ids}
    assert not sampled & banned
    assert len(sampled) > 5


async def test_new_weights_serve_from_the_next_step_on(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    model, processor = loaded
    asked = prompts(processor, images)
    greedy = Sampling(temperature=0, max_tokens=10)
    before = [await engine.generate(p, greedy) for p in asked]
    old = {k: v.clone() for k, v in model.state_dict().items()}
    new = {k: v + 0.05 * torch.randn_like(v) if v.ndim > 1 else v for k, v in old.items()}
    new["lm_head.weight"] = new["model.language_model.embed_tokens.weight"]
    await engine.update_weights(new, 4)
    after = [await engine.generate(p, greedy) for p in asked]
    assert {v for r in after for v in r.versions} == {4}
    assert [r.ids for r in before] != [r.ids for r in after]
    for answer, expected in zip(after, rescored(loaded, images, asked, after, 1.0), strict=True):
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)

    with pytest.raises(EngineError, match=r"version 5 do not fit: 'lm_head\.weight' is missing"):
        await engine.update_weights({k: v for k, v in new.items() if k != "lm_head.weight"}, 5)
    assert engine.version == 4


async def test_weights_that_change_in_mid_response_are_exact_by_version(
    loaded: Loaded, images: Images, engine: HFEngine
) -> None:
    model, processor = loaded
    asked = prompts(processor, images)
    old = {k: v.clone() for k, v in model.state_dict().items()}
    new = {k: v + 0.02 * torch.randn_like(v) if v.ndim > 1 else v for k, v in old.items()}
    new["lm_head.weight"] = new["model.language_model.embed_tokens.weight"]
    never_stop(model, processor)
    steps = itertools.count()
    under_way = threading.Event()
    head: Any = model.get_output_embeddings()
    hook = head.register_forward_hook(lambda *_: under_way.set() if next(steps) == 10 else None)
    running = asyncio.gather(*(engine.generate(p, Sampling(max_tokens=150)) for p in asked))
    assert await asyncio.to_thread(under_way.wait, 30)
    await engine.update_weights(new, 4)
    hook.remove()
    answers = await running
    under_new = rescored(loaded, images, asked, answers, 1.0)
    model.load_state_dict(old)
    under_old = rescored(loaded, images, asked, answers, 1.0)
    assert {v for r in answers for v in r.versions} == {3, 4}
    for answer, new_logprobs, old_logprobs in zip(answers, under_new, under_old, strict=True):
        expected = torch.where(torch.tensor(answer.versions) == 4, new_logprobs, old_logprobs)
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    "failing", ["webdojo.policy.hf.running_batch.text_hidden", "webdojo.policy.hf.decode.Decoder.__call__"]
)
async def test_out_of_memory_fails_the_batch_and_not_the_engine(
    loaded: Loaded, images: Images, engine: HFEngine, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = prompts(loaded[1], images)

    def starved(*_: object, **__: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(failing, starved)
    with pytest.raises(EngineError, match=r"out of memory with \d+ requests of up to \d+ tokens; lower rollout"):
        await asyncio.gather(*(engine.generate(p, Sampling(max_tokens=4)) for p in asked))
    monkeypatch.undo()
    answers = await asyncio.gather(*(engine.generate(p, Sampling(max_tokens=4)) for p in asked))
    for answer, expected in zip(answers, rescored(loaded, images, asked, answers, 1.0), strict=True):
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)


async def test_a_bad_image_fails_its_own_request_only(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    _, processor = loaded
    good, wrong = chat(processor, "fine", images.random(1)), images.random(2, 96, 64)
    short = Prompt(segments=(ImageSegment(image=wrong, tokens=5),))
    unknown = Prompt(segments=(ImageSegment(image=wrong.model_copy(update={"sha": "0" * 64}), tokens=6),))
    outcomes = await asyncio.gather(
        *(engine.generate(p, Sampling(max_tokens=3)) for p in (good, short, unknown, good)), return_exceptions=True
    )
    assert [type(o) for o in outcomes] == [Response, EngineError, EngineError, Response]
    assert "has 5 tokens in the prompt but the vision tower makes 6" in str(outcomes[1])
    assert "screenshot 000000000000 cannot be read" in str(outcomes[2])


async def test_a_cancelled_caller_frees_its_row(loaded: Loaded, images: Images, engine: HFEngine) -> None:
    never_stop(*loaded)
    prompt = chat(loaded[1], "talk for long", images.random(1))
    endless = Sampling(max_tokens=100_000)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(engine.generate(prompt, endless), 0.1)
    answer = await engine.generate(prompt, Sampling(max_tokens=3))
    assert len(answer.ids) <= 3
    assert not engine._batch.running


async def test_close_fails_what_is_in_flight(loaded: Loaded, images: Images) -> None:
    model, processor = loaded
    engine = HFEngine(model, processor, images, max_num_seqs=1, threads=1)
    never_stop(model, processor)
    asked = [engine.generate(chat(processor, "x"), Sampling(max_tokens=100_000)) for _ in range(3)]
    tasks = [asyncio.ensure_future(one) for one in asked]
    await asyncio.sleep(0.1)
    engine.close()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(o, EngineError) and "closed" in str(o) for o in outcomes)
    with pytest.raises(EngineError, match="the engine was closed; start another engine"):
        await engine.generate(chat(processor, "x"), Sampling())
