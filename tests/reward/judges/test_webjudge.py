"""WebJudge: key points, a score for each screenshot, and a status."""

from __future__ import annotations

import pytest

from tests.reward.judges.episodes import Model, episode, judged
from tests.reward.judges.protocols import PROTOCOLS, image, labels
from webdojo.reward.judges import webjudge


def by_screenshot(scores: dict[int, int]):
    def say(text: str) -> str:
        (number,) = labels(text.split("\n"))
        return f"Reason {number}\nScore: {scores.get(number, 1)}"

    return say


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, [1, 3, 4]),
        ({"score_threshold": 4}, [3, 4]),
        ({"score_threshold": 5}, [4]),
        ({"score_threshold": 1}, [1, 2, 3, 4, 5]),
        ({"max_images": 2}, [1, 3]),
        ({"max_images": 0}, [1, 3, 4]),
    ],
)
async def test_webjudge_keeps_the_first_screenshots_of_enough_score_with_their_reasons(options, shown) -> None:
    protocol = PROTOCOLS["webjudge"]
    model = Model({**protocol.replies, webjudge.SCREENSHOT: by_screenshot({1: 3, 2: 2, 3: 4, 4: 5})})
    reward = await judged(protocol.make(model, **options), episode(4))
    (asked,) = model.about(webjudge.VERDICT)
    assert labels(asked.texts) == shown
    assert asked.images == [image(number) for number in shown]
    reasons = [text for text in asked.texts if text.startswith("What it shows: ")]
    assert reasons == [f'What it shows: "Reason {number}"' for number in shown]
    assert 'Key points: "1. a mug\\n2. cheapest"' in asked.text
    assert "Step 1: action=" in asked.text
    assert "Blue Mug" not in asked.text.replace('{"done": {"answer": "Blue Mug, $7"}}', "")
    assert reward.parts == {"screenshots": 5, "screenshots_kept": len(shown)}
    assert reward.success


async def test_webjudge_decides_without_screenshots_where_none_matters() -> None:
    protocol = PROTOCOLS["webjudge"]
    model = Model({**protocol.replies, webjudge.SCREENSHOT: "Nothing.\nScore: 2"})
    assert (await judged(protocol.make(model), episode())).success
    assert model.about(webjudge.VERDICT)[0].images == []


async def test_webjudge_asks_for_key_points_from_the_task_alone() -> None:
    model = PROTOCOLS["webjudge"].model()
    await judged(PROTOCOLS["webjudge"].make(model), episode())
    (asked,) = model.about(webjudge.KEY_POINTS)
    assert asked.images == []
    assert "mug" in asked.text
    assert "Blue Mug" not in asked.text
    assert all(len(each.images) == 1 for each in model.about(webjudge.SCREENSHOT))
    assert all("Key points: " in each.text for each in model.about(webjudge.SCREENSHOT))


@pytest.mark.parametrize("said", ["Score: 0", "Score: 6", "Score: 3.5", "3", "Score: 3/5", "Score: three", "Score: -3"])
async def test_webjudge_reads_no_other_scores(said: str) -> None:
    protocol = PROTOCOLS["webjudge"]
    model = Model({**protocol.replies, webjudge.SCREENSHOT: said})
    assert (await judged(protocol.make(model), episode())).cause == "unreadable"
    assert model.about(webjudge.VERDICT) == []
