"""DeepShop: the one question of MolmoWeb, and one for each part of the query."""

from __future__ import annotations

import pytest

from tests.reward.judges.episodes import Model, episode, judged
from tests.reward.judges.protocols import GOOD, PROTOCOLS, QUERY, explained, task_with
from webdojo.errors import TaskError
from webdojo.reward.judges import deepshop, webvoyager


@pytest.mark.parametrize("said", [1, "true", None, [True]])
async def test_deepshop_takes_true_and_false_alone(said: object) -> None:
    protocol = PROTOCOLS["deepshop"]
    assert (await judged(protocol.make(protocol.model(verdict=explained(said))), episode())).cause == "unreadable"


@pytest.mark.parametrize("answers", [{"mug": GOOD}, {"mug": "NOT SUCCESS"}])
@pytest.mark.parametrize("last", [GOOD, "NOT SUCCESS"])
async def test_deepshops_own_verdict_is_the_product_of_the_parts_that_are_asked_for(answers, last) -> None:
    protocol = PROTOCOLS["deepshop_original"]

    def say(text: str) -> str:
        return answers["mug"] if "a blue mug" in text else last

    model = Model({webvoyager.SYSTEM: say})
    reward = await judged(protocol.make(model), episode(evaluator=QUERY))
    verdicts = {"attribute": float(answers["mug"] == GOOD), "sort": float(last == GOOD)}
    assert reward.parts == verdicts
    assert reward.value == verdicts["attribute"] * verdicts["sort"]
    assert [asked.texts[0] for asked in model.asked] == ['Task: "a blue mug"', 'Task: "cheapest first"']
    assert all("Find the cheapest mug" not in asked.text for asked in model.asked)
    wrong = [part for part, value in verdicts.items() if not value]
    assert reward.reason == (f"judged unsuccessful: {', '.join(wrong)}" if wrong else "judged successful")


def test_deepshops_own_variant_needs_a_query() -> None:
    own, molmo = deepshop.DeepShopJudge(variant="original"), deepshop.DeepShopJudge()
    for evaluator in ({}, {"attribute": "None", "filter": "", "sort": None}, {"attribute": " None "}):
        with pytest.raises(TaskError, match="attribute, filter, sort"):
            own.check(task_with(evaluator))
        molmo.check(task_with(evaluator))
    own.check(task_with({"sort": "cheapest"}))
