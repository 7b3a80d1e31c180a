"""Process and outcome: a rubric, windows of screenshots, scores with blame, and the outcome that decides."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.reward.judges.episodes import IMAGES, Model, episode, judged
from tests.reward.judges.protocols import CRITERIA, FINDINGS, PROTOCOLS, labels, scores
from webdojo.reward.gate import Scorer
from webdojo.reward.judges import process_outcome


async def process(outcome: str, *scored: tuple[float, str], **options: object):
    protocol = PROTOCOLS["process_outcome"]
    model = Model(
        {
            **protocol.replies,
            process_outcome.PROCESS: scores(*scored),
            process_outcome.OUTCOME: f"Outcome: {outcome}",
        }
    )
    return await judged(protocol.make(model, **options), episode()), model


@pytest.mark.parametrize(
    ("outcome", "scored", "value", "valid", "parts"),
    [
        ("SUCCESS", [(1, "none"), (1, "none")], 1, True, (1.0, 1, 0)),
        ("SUCCESS", [(0, "agent"), (1, "none")], 1, True, (0.25, 1, 0)),
        ("FAILURE", [(1, "none"), (0, "agent")], 0, True, (0.75, 0, 0)),
        ("FAILURE", [(1, "none"), (0, "environment")], 0, True, (0.75, 0, 1)),
        ("PREVENTED", [(0.5, "agent"), (0, "agent")], 0, True, (0.375, 0, 0)),
        ("PREVENTED", [(1, "none"), (0, "environment")], 0, False, (0.75, 0, 1)),
        ("PREVENTED", [(1, "environment"), (1, "environment")], 0, True, (1.0, 0, 0)),
        ("PREVENTED", [(0, "environment"), (0, "environment")], 0, False, (0.0, 0, 2)),
    ],
)
async def test_process_is_scored_apart_and_the_outcome_decides(outcome, scored, value, valid, parts) -> None:
    reward, _ = await process(outcome, *scored)
    assert (reward.value, reward.success, reward.valid) == (value, bool(value), valid)
    assert reward.cause == ("" if valid else "uncontrollable")
    assert (reward.parts["process"], reward.parts["outcome"], reward.parts["uncontrollable"]) == parts
    assert [reward.parts[f"criterion_{n}"] for n in (1, 2)] == [share for share, _ in scored]


@pytest.mark.parametrize(("window", "seen"), [(6, [[1, 2, 3, 4]]), (2, [[1, 2], [3, 4]]), (3, [[1, 2, 3], [4]])])
async def test_every_screenshot_is_seen_in_one_window(window: int, seen: list[list[int]]) -> None:
    _, model = await process("SUCCESS", (1, "none"), (1, "none"), window=window)
    windows = sorted(model.about(process_outcome.WINDOW), key=lambda asked: labels(asked.texts))
    assert [labels(asked.texts) for asked in windows] == seen
    for asked, numbers in zip(windows, seen, strict=True):
        assert [n for n in (1, 2, 3) if f"Step {n}: " in asked.text] == [n for n in numbers if n < 4]
    (process_asked,), (outcome_asked,) = model.about(process_outcome.PROCESS), model.about(process_outcome.OUTCOME)
    for asked in (process_asked, outcome_asked):
        assert asked.text.count('"shows": "a mug"') == len(seen)
        assert "Step 3: action=" in asked.text
    assert labels(process_asked.texts) == [4]
    assert labels(outcome_asked.texts) == [2, 3, 4]
    assert "Criteria: " in process_asked.text
    assert "Criteria: " not in outcome_asked.text
    assert "so it is" not in outcome_asked.text, "the outcome is asked with the scores of the process"


async def test_a_rubric_is_proposed_once_for_each_task_from_the_task_alone() -> None:
    protocol = PROTOCOLS["process_outcome"]
    model = protocol.model()
    judge = protocol.make(model)
    same, other = [episode() for _ in range(4)], episode(instruction="Find a cup")
    async with Scorer(judge, IMAGES) as scorer:
        await asyncio.gather(*map(scorer.score, [*same, other]))
    asked = model.about(process_outcome.RUBRIC)
    assert sorted(each.texts[0] for each in asked) == [
        'Task: "Find a cup"\nWebsite: "http://shop.example/"',
        'Task: "Find the cheapest mug"\nWebsite: "http://shop.example/"',
    ]
    assert all(each.images == [] for each in asked)
    for each in [*same, other]:
        assert each.reward is not None
        assert [judgement.step for judgement in each.reward.judgements] == [
            "rubric",
            "screenshots 1-4",
            "process",
            "outcome",
        ]
        assert each.reward.judgements[0].answer == CRITERIA


async def test_a_rubric_that_could_not_be_had_is_asked_for_again() -> None:
    protocol = PROTOCOLS["process_outcome"]
    model = Model({**protocol.replies, process_outcome.RUBRIC: ["", "", CRITERIA]})
    judge = protocol.make(model)
    assert (await judged(judge, episode())).cause == "unreadable"
    assert (await judged(judge, episode())).success


def criteria(*rows: object) -> str:
    return json.dumps({"criteria": list(rows)})


GOOD_CRITERION = {"criterion": "a", "points": 1}
WRONG = {
    process_outcome.RUBRIC: [
        criteria(),
        criteria(*[GOOD_CRITERION] * 9),
        criteria({"criterion": " ", "points": 1}),
        criteria({"criterion": "a", "points": 0}),
        criteria({"criterion": "a", "points": 6}),
        criteria({"criterion": "a", "points": True}),
        criteria({"criterion": "a"}),
        criteria("a"),
        "{}",
    ],
    process_outcome.WINDOW: [
        '{"evidence": []}',
        '{"obstacles": []}',
        '{"evidence": [{"criterion": 3, "shows": "a", "screenshots": []}], "obstacles": []}',
        '{"evidence": [{"criterion": 0, "shows": "a", "screenshots": []}], "obstacles": []}',
        '{"evidence": ["a"], "obstacles": []}',
        FINDINGS + " I am sure.",
    ],
    process_outcome.PROCESS: [
        scores((1, "none")),
        scores((1, "none"), (1, "none"), (1, "none")),
        scores((1, "none"), (2, "none")),
        scores((1, "none"), (-0.5, "agent")),
        scores((1, "none"), (0, "user")),
        scores((1, "none"), (True, "none")),  # type: ignore[arg-type]
        criteria(*reversed(json.loads(scores((1, "none"), (1, "none")))["criteria"])),
    ],
    process_outcome.OUTCOME: ["SUCCESS", "Outcome: NOT SUCCESS", "Outcome: SUCCESS or FAILURE", "Status: SUCCESS"],
}


@pytest.mark.parametrize(("question", "answer"), [(q, answer) for q, answers in WRONG.items() for answer in answers])
async def test_an_answer_of_another_form_is_not_read(question: str, answer: str) -> None:
    protocol = PROTOCOLS["process_outcome"]
    model = Model({**protocol.replies, question: answer})
    assert (await judged(protocol.make(model), episode())).cause == "unreadable"


@pytest.mark.parametrize("n", [1, 8])
async def test_a_rubric_may_have_so_many_criteria(n: int) -> None:
    protocol = PROTOCOLS["process_outcome"]
    replies = {
        process_outcome.RUBRIC: criteria(*[{"criterion": "a", "points": 5}] * n),
        process_outcome.PROCESS: scores(*[(0, "agent")] * n),
    }
    assert (await judged(protocol.make(Model({**protocol.replies, **replies})), episode())).parts["process"] == 0
