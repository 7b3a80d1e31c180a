"""Every judge with the replies of a model that finds all well, and what the last question is; how requests are read."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.reward.judges.episodes import IMAGES, Model, Replies, script, shot
from webdojo.reward.judges import agenttrek, deepshop, openwebrl, process_outcome, webgym, webjudge, webvoyager
from webdojo.reward.judges.judge import Judge
from webdojo.reward.registry import REWARDS
from webdojo.types import Task

RUBRIC = {"evaluator_reference": [{"id": 1, "description": "the mug", "facts": ["It is a mug", "It is the cheapest"]}]}
QUERY = {"attribute": "a blue mug", "filter": "None", "sort": "cheapest first"}
CRITERIA = json.dumps({"criteria": [{"criterion": "a mug", "points": 3}, {"criterion": "cheapest", "points": 1}]})
FINDINGS = json.dumps({"evidence": [{"criterion": 1, "shows": "a mug", "screenshots": [1]}], "obstacles": []})


def task_with(evaluator: Mapping[str, object]) -> Task:
    return Task(
        id="t", instruction="Do it", start_url="http://a.example/", website="a.example", evaluator=dict(evaluator)
    )


def image(number: int) -> str:
    """The screenshot of a step as it is sent."""
    return f"data:image/png;base64,{base64.b64encode(IMAGES.get(shot(number))).decode()}"


def labels(texts: list[str]) -> list[int]:
    """The steps of the screenshots that a request announces."""
    return [int(text.split()[1].strip(",")) for text in texts if text.startswith("Screenshot ")]


def scores(*scored: tuple[float, str]) -> str:
    rows = [
        {"criterion": number, "reason": "so it is", "score": score, "blame": blame}
        for number, (score, blame) in enumerate(scored, 1)
    ]
    return json.dumps({"criteria": rows})


def explained(success: object) -> str:
    return json.dumps({"explanation": "so it is", "success": success})


@dataclass(frozen=True)
class Protocol:
    judge: type[Judge]
    options: dict[str, Any]
    replies: Replies
    """Of a model that finds all well."""
    verdict: str
    """System prompt of the question that decides."""
    bad: str
    """What that is answered where the agent has failed."""
    calls: int
    """Questions about an episode of three steps whose task is well done."""
    evaluator: dict[str, Any] = field(default_factory=dict)

    def model(self, **says: Any) -> Model:
        """The model; `verdict` is another answer to the question that decides."""
        return Model({**self.replies, **({self.verdict: says["verdict"]} if says else {})})

    def make(self, model: Model | None = None, **options: Any) -> Judge:
        engine: dict[str, Any] = {"engine": script(model)} if model is not None else {}
        return self.judge(**engine, **self.options, **options)


GOOD = "All is as asked.\n\nSUCCESS"
STATUS = "All is as asked.\nStatus: success"
SCREEN = "It shows the mug.\nScore: 4"

PROTOCOLS = {
    "openwebrl": Protocol(
        openwebrl.OpenWebRLJudge, {}, {openwebrl.SYSTEM: GOOD}, openwebrl.SYSTEM, "It is not.\nNOT SUCCESS", 1
    ),
    "webvoyager": Protocol(
        webvoyager.WebVoyagerJudge, {}, {webvoyager.SYSTEM: GOOD}, webvoyager.SYSTEM, "It is not.\nNOT SUCCESS", 1
    ),
    "webjudge": Protocol(
        webjudge.WebJudge,
        {},
        {webjudge.KEY_POINTS: "1. a mug\n2. cheapest", webjudge.SCREENSHOT: SCREEN, webjudge.VERDICT: STATUS},
        webjudge.VERDICT,
        "It is not.\nStatus: failure",
        6,
    ),
    "agenttrek": Protocol(
        agenttrek.AgentTrekJudge, {}, {agenttrek.SYSTEM: STATUS}, agenttrek.SYSTEM, "It is not.\nStatus: failure", 1
    ),
    "deepshop": Protocol(
        deepshop.DeepShopJudge, {}, {deepshop.SYSTEM: explained(True)}, deepshop.SYSTEM, explained(False), 1
    ),
    "deepshop_original": Protocol(
        deepshop.DeepShopJudge,
        {"variant": "original"},
        {webvoyager.SYSTEM: GOOD},
        webvoyager.SYSTEM,
        "It is not.\nNOT SUCCESS",
        2,
        QUERY,
    ),
    "webgym": Protocol(
        webgym.WebGymJudge,
        {},
        {
            webgym.KEY_SCREENSHOT: "It may.\nYES",
            webgym.BLOCKING: "It has not.\nNO",
            webgym.CLAIMS: GOOD,
            webgym.FACT: GOOD,
        },
        webgym.FACT,
        "It is not.\nNOT SUCCESS",
        7,
        RUBRIC,
    ),
    "process_outcome": Protocol(
        process_outcome.ProcessOutcomeJudge,
        {},
        {
            process_outcome.RUBRIC: CRITERIA,
            process_outcome.WINDOW: FINDINGS,
            process_outcome.PROCESS: scores((1, "none"), (1, "none")),
            process_outcome.OUTCOME: "All is as asked.\nOutcome: SUCCESS",
        },
        process_outcome.OUTCOME,
        "It is not.\nOutcome: FAILURE",
        4,
    ),
}

assert {protocol.judge for protocol in PROTOCOLS.values()} == {
    reward for reward in REWARDS.built_in.values() if issubclass(reward, Judge)
}, "a judge has no protocol in these tests"
