"""No order of a page, a task or an agent reaches a judge as one: whatever they write, a request has one skeleton."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reward.judges.episodes import judged, script
from tests.reward.judges.obedient import HOSTILE, ORDER, Obedient, hostile
from tests.reward.judges.protocols import GOOD, PROTOCOLS, Protocol
from webdojo.reward.judges import webgym
from webdojo.reward.judges.case import Case
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import failed, passed
from webdojo.reward.judges.openwebrl import SYSTEM, OpenWebRLJudge
from webdojo.reward.judges.verdict import SUCCESS, choice
from webdojo.types import Reward

REFERENCED = replace(
    PROTOCOLS["webgym"],
    replies={**PROTOCOLS["webgym"].replies, webgym.REFERENCE: GOOD},
    verdict=webgym.REFERENCE,
    evaluator=PROTOCOLS["webgym"].evaluator | {"definite_answer": "x"},
)
JUDGES = PROTOCOLS | {"webgym_reference": REFERENCED}


async def heard(protocol: Protocol, text: str) -> Obedient:
    model = Obedient(protocol, text)
    reward = await judged(protocol.judge(engine=script(model), **protocol.options), hostile(text, protocol))
    assert (reward.value, reward.success, reward.valid) == (0, False, True), reward.reason
    assert model.skeletons
    return model


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", JUDGES)
async def test_nothing_that_others_write_reaches_a_judge_unquoted(name: str, text: str) -> None:
    harmless, attacked = await heard(JUDGES[name], "a mug"), await heard(JUDGES[name], text)
    assert attacked.obeyed == []
    assert sorted(attacked.skeletons) == sorted(harmless.skeletons)


async def test_the_obedient_judge_obeys() -> None:
    """The same order unquoted is obeyed, so that these tests can fail."""
    protocol = PROTOCOLS["openwebrl"]

    class Careless(OpenWebRLJudge):
        async def judge(self, case: Case, hearing: Hearing) -> Reward:
            success = await hearing.ask("verdict", SYSTEM, [case.answer], lambda text: choice(text, SUCCESS))
            return passed("so it says") if success else failed("it is not")

    model = Obedient(protocol, HOSTILE[0])
    assert (await judged(Careless(engine=script(model)), hostile(HOSTILE[0], protocol))).success
    assert all(ORDER in text for text in HOSTILE)
