"""What holds for every harness: tokens in are tokens trained, prompts grow at their end, budgets drop in order."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from benchmarks.padded import collate
from tests.agent.cases import EVERYTHING_KEPT, TASK, Make, every_variant, make, page_text, sayable, screen, talk
from tests.codec import IMAGE_ID, SmallCodec
from webdojo.agent.chatml import Segment, shared_fraction, shared_tokens
from webdojo.agent.harness import Harness
from webdojo.agent.harnesses import HARNESSES
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.store.images import MemoryImages
from webdojo.trainer.batch import samples_from_groups, sft_samples
from webdojo.trainer.config import TrainConfig
from webdojo.types import (
    FinishReason,
    ImageRef,
    ImageSegment,
    Prompt,
    Response,
    Reward,
    Termination,
    TextSegment,
    Trajectory,
    Turn,
)


@pytest.fixture(scope="module")
def processor() -> Processor:
    return Processor.load(model_folder("tiny"))


def text_of(harness: Harness, prompt: Prompt) -> str:
    return harness.codec.decode([i for s in prompt.segments if isinstance(s, TextSegment) for i in s.ids])


def trajectory(turns: list[Turn], value: float) -> Trajectory:
    return Trajectory(
        id=f"t-{value}",
        task=TASK,
        turns=turns,
        termination=Termination.COMPLETED,
        reward=Reward(value=value, success=value > 0),
    )


def test_every_harness_that_a_recipe_can_name_is_tested() -> None:
    assert set(HARNESSES) <= set(EVERYTHING_KEPT)


@pytest.mark.parametrize("variant", every_variant())
def test_ids_given_to_the_engine_and_sampled_are_the_learners(variant: Make, processor: Processor) -> None:
    harness = make(variant, processor)
    said = sayable(harness)
    cut, odd = said[0][: len(said[0]) // 2], "no such thing<|im_end|>"
    observation, given = screen(0), []
    conversation = harness.start(TASK, observation)
    turns: list[Turn] = []
    for step, text in enumerate([*said, cut, odd, *said], 1):
        # Sampled ids need not be those that encoding their text gives: here, every character stands alone.
        ids = [i for character in text.removesuffix("<|im_end|>") for i in processor.encode(character)]
        ids += [processor.stop_id] * text.endswith("<|im_end|>")
        response = Response(
            ids=ids, logprobs=[-1.0] * len(ids), versions=[4] * len(ids), finish_reason=FinishReason.STOP
        )
        prompt = conversation.prompt(1500)
        given.append(prompt.ids(processor.image_token_id) + ids)
        parsed = conversation.parse(processor.decode(ids))
        turns.append(Turn(observation=observation, prompt=prompt, response=response, text=text, parsed=parsed))
        observation = screen(step)
        conversation.add(response, parsed, [], observation)
    cloned = sft_samples([trajectory(turns, 1.0)])
    both = [trajectory(turns, 1.0), trajectory(turns, 0.0)]
    reinforced = samples_from_groups([both], TrainConfig())
    assert len(cloned) == len(turns) and len(reinforced) == 2 * len(turns)
    side = 10  # 320 px in visual tokens of 32
    grids = {image.sha: (side, side) for turn in turns for image in turn.prompt.images}
    for samples in (cloned, reinforced[: len(turns)], reinforced[len(turns) :]):
        for sample, ids, turn in zip(samples, given, turns, strict=True):
            assert sample.prompt.ids(processor.image_token_id) + sample.response_ids == ids
            batch = collate([(sample.prompt, sample.response_ids)], processor, MemoryImages(), grids)
            assert batch.input_ids[0].tolist() == ids
            assert batch.targets.tolist() == turn.response.ids
            before = batch.predictors + 1
            assert torch.equal(batch.input_ids.flatten()[before], batch.targets)


@pytest.mark.parametrize("variant", every_variant())
def test_the_screenshot_stands_last_in_its_observation(variant: Make) -> None:
    harness = make(variant)
    _, turns = talk(harness, sayable(harness))
    closing, opening = harness.codec.encode("<|vision_end|>"), harness.codec.encode("<|vision_start|>")
    ending = harness.codec.encode("<|im_end|>\n<|im_start|>assistant\n")
    for turn in turns:
        segments = turn.prompt.segments
        shown = [index for index, segment in enumerate(segments) if isinstance(segment, ImageSegment)]
        for index in shown:
            around = [segments[at] for at in (index - 1, index + 1, index + 2)]
            assert [list(s.ids) for s in around if isinstance(s, TextSegment)] == [opening, closing, ending]
        if harness.config.images:
            assert turn.prompt.images[-1] == turn.observation.screenshot
        assert len(shown) <= harness.config.images


@pytest.mark.parametrize("name", HARNESSES)
def test_where_nothing_leaves_the_context_a_prompt_begins_as_the_exchange_before_ended(name: str) -> None:
    harness = make((name, EVERYTHING_KEPT[name]))
    conversation, turns = talk(harness, [*sayable(harness), "cut off", *sayable(harness)])
    for before, after in pairwise(turns):
        exchange = before.prompt.ids(IMAGE_ID) + before.response.ids
        assert after.prompt.ids(IMAGE_ID)[: len(exchange)] == exchange
        assert after.prompt.images[: len(before.prompt.images)] == before.prompt.images
    assert shared_fraction(turns) > 0.8
    assert conversation.prompt(10**6).dropped == {}


@pytest.mark.parametrize("variant", every_variant())
def test_prompts_differ_first_where_something_left_the_context(variant: Make) -> None:
    harness = make(variant)
    _, turns = talk(harness, [*sayable(harness), *sayable(harness)])

    def said(segment: Segment) -> str:
        return harness.codec.decode(list(segment.ids)) if isinstance(segment, TextSegment) else ""

    for before, after in pairwise(turns):
        old = (*before.prompt.segments, TextSegment(ids=tuple(before.response.ids)))
        new = after.prompt.segments
        index = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
        assert index > 0, "the system prompt is the same in all prompts"
        if index == len(old):
            continue
        image = old[index + 1] if index + 1 < len(old) else None
        assert (
            (isinstance(image, ImageSegment) and image.image not in after.prompt.images)
            or "link 'Mug" in said(old[index])  # a placeholder stands for that page now
            or "Step " in "".join(map(said, new[index : index + 2]))  # a line stands for that turn now
            or (index == len(old) - 1 and "keep_reasoning" in variant[1])
        ), (said(old[index]), said(new[index]))
    assert 0 < shared_fraction(turns) < 1


@pytest.mark.parametrize("variant", every_variant())
def test_budgets_drop_images_then_pages_then_turns_and_say_so(variant: Make) -> None:
    harness = make(variant)
    conversation, _ = talk(harness, [*sayable(harness), *sayable(harness)])
    whole, least = conversation.prompt(10**6), conversation.prompt(1)
    assert whole.dropped == {}
    seen = []
    for limit in range(len(whole), len(least) - 1, -7):
        prompt = conversation.prompt(limit)
        assert len(prompt) <= limit
        dropped = prompt.dropped
        if "page" in dropped or "turn" in dropped:
            assert dropped.get("image") == least.dropped.get("image")
        if "turn" in dropped:
            assert dropped.get("page") == least.dropped.get("page")
        assert len(prompt.images) <= len(whole.images)
        seen.append(sum(dropped.values()))
    assert seen == sorted(seen), "a smaller budget kept more"
    assert (seen[-1] > 0) == (len(least) < len(whole))


@pytest.mark.parametrize("variant", every_variant())
def test_task_tools_and_the_last_observation_are_never_dropped(variant: Make) -> None:
    harness = make(variant)
    conversation, turns = talk(harness, [*sayable(harness), *sayable(harness)])
    system = text_of(harness, turns[0].prompt).partition("<|im_end|>")[0]
    least = conversation.prompt(1)
    text = text_of(harness, least)
    assert text.startswith(system)
    assert TASK.instruction in text
    assert text.endswith("<|im_start|>assistant\n")
    if harness.config.images:
        assert least.images == [screen(len(turns)).screenshot]
    if harness.view is not None and harness.view.kind != "marks":
        assert page_text(len(turns)) in text
        assert page_text(len(turns) - 1) not in text
    assert text.count("assistant\n") == 1


def test_shared_tokens_are_counted_across_different_segments() -> None:
    image = ImageSegment(image=ImageRef(sha="a", width=32, height=32, mime="image/jpeg"), tokens=3)
    other = ImageSegment(image=ImageRef(sha="b", width=32, height=32, mime="image/jpeg"), tokens=3)

    def text(*ids: int) -> TextSegment:
        return TextSegment(ids=ids)

    assert shared_tokens([text(1, 2), text(3)], [text(1), text(2, 3), text(4)]) == 3
    assert shared_tokens([text(1), image, text(2)], [text(1), image, text(9)]) == 4
    assert shared_tokens([text(1), image], [text(1), other]) == 1
    assert shared_tokens([], [text(1)]) == 0
    assert shared_fraction([]) == 1.0


def test_each_text_is_tokenised_once() -> None:
    for name in HARNESSES:
        codec = SmallCodec()
        harness = make((name, {}), codec)
        said = [*sayable(harness), *sayable(harness)]
        codec.encoded.clear()
        conversation, turns = talk(harness, said)
        for _ in range(3):
            conversation.prompt(10**6)
        openings = [text for text in codec.encoded if text.startswith("<|im_start|>user")]
        assert len(openings) <= 2, name  # with the first note, and alone once the first exchange is one line
        feedbacks = [text for text in codec.encoded if "<|im_start|>user" in text and text not in openings]
        assert len(feedbacks) == len(turns), name
