"""The five papers' recipes in their real settings, scaled down by overrides: tasks of a file, on a site that stands for
the open web, judged by a model behind an endpoint, or by WebArena's evaluators.

The tiny model samples and learns; what it is taken to have said is a step and then an answer, right in every other
episode, because in most of these formats it says nothing that could be judged. The judge is a server that reads that
answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.loops.test_recipes import OWN, TINY
from tests.policy.chat.endpoint import Endpoint, completion, say
from tests.rollout.stage import serving
from webdojo.agent.harness import Harness
from webdojo.envs import polite
from webdojo.loops import rollouts
from webdojo.loops.start import train
from webdojo.recipe import load_recipe
from webdojo.reward.judges import webgym
from webdojo.rollout.episode import run_episode
from webdojo.store.run import RunStore
from webdojo.types import Observation, Task, ToolCall

KEY = "sk-of-nobody-0123456789"
STEP = ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})
FAST = ["train.iterations=2", "env.episodes_per_minute=6000"]


class Said:
    """A conversation in which the agent scrolls, and then answers."""

    def __init__(self, harness: Harness, conversation: Any, answer: str) -> None:
        done = ToolCall(name="done", arguments={"answer": answer})
        self._texts = iter([harness.render("I look around.", [STEP])[0], harness.render("I know it.", [done])[0]])
        self._conversation = conversation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conversation, name)

    def parse(self, text: str) -> Any:
        return self._conversation.parse(next(self._texts))


class Saying:
    """A harness whose agents answer 7 and 8 in turn."""

    def __init__(self, harness: Harness, numbers: Iterator[int]) -> None:
        self._harness, self._numbers = harness, numbers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._harness, name)

    def start(self, task: Task, observation: Observation) -> Any:
        answer = str(7 + next(self._numbers) % 2)
        return Said(self._harness, self._harness.start(task, observation), answer)


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch) -> None:
    run, numbers = run_episode, count()

    async def says(task: Task, *, harness: Harness, **parts: Any) -> Any:
        return await run(task, harness=Saying(harness, numbers), **parts)  # type: ignore[arg-type]

    monkeypatch.setattr(rollouts, "run_episode", says)


RULED = {webgym.KEY_SCREENSHOT: "YES", webgym.BLOCKING: "NO", webgym.FACT: "SUCCESS"}
"""What the judge says of all but the answer."""


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def verdict(http: BaseHTTPRequestHandler) -> None:
        system, asked = (json.dumps(message) for message in endpoint.bodies[-1]["messages"])
        ruled = next((word for prompt, word in RULED.items() if json.dumps(prompt)[1:-1] in system), "")
        right = ruled == "SUCCESS" or r"\"7\"" in asked
        said = f"It {'says' if right else 'does not say'} 7."
        say(completion(f"{said}\n{ruled or ('SUCCESS' if right else 'NOT SUCCESS')}"))(http)

    with Endpoint(default=verdict) as endpoint:
        yield endpoint


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    async def yes(host: str) -> bool:
        return True

    monkeypatch.setattr(polite, "is_public", yes)
    with serving() as address:
        yield address


def tasks_file(file: Path, site: str) -> str:
    rows = [
        {"id": f"t{n}", "instruction": f"What is {n} + {7 - n}?", "start_url": f"{site}/start", "website": "127.0.0.1"}
        for n in range(4)
    ]
    file.write_text("".join(json.dumps(row | {"difficulty": 1 + n % 2}) + "\n" for n, row in enumerate(rows)))
    return str(file)


def webarena_file(file: Path) -> str:
    verdict = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "7"}}
    row = {"sites": ["shopping"], "start_url": "__SHOPPING__/start", "eval": verdict}
    file.write_text(json.dumps([{"task_id": n, "intent": f"What is {n} + {7 - n}?", **row} for n in range(4)]))
    return str(file)


def trained(name: str, overrides: list[str], run: Path) -> None:
    always = ["browser.guard.private_hosts=[127.0.0.1]", *TINY, *OWN.get(name, [])]
    recipe = load_recipe(name, [*always, "train.iterations=2", "evaluate.max_steps=2", *overrides])
    result = train(recipe, run, resume=False)
    assert {"success_base", "success_rl"} <= set(result)
    assert result["success_rl"]["n"] == 2
    with RunStore.open(run, readonly=True) as store:
        assert [figures["version"] for figures in store.metrics("rl")] == [1, 2]
        learned = [figures for figures in store.metrics("rl") if figures["optimizer_steps"]]
        assert learned
        assert all(math.isfinite(figures["loss"]) and figures["grad_norm"] > 0 for figures in learned)
        seen = list(store.trajectories("rl"))
        assert {episode.termination for episode in seen} == {"completed"}
        for episode in seen:
            assert episode.reward is not None
            assert episode.reward.valid
            assert episode.reward.success == (episode.answer == "7"), episode.reward.reason
        assert {episode.answer for episode in seen} == {"7", "8"}
        if recipe.reward_function.costs:
            assert all(episode.reward is not None and episode.reward.judgements for episode in seen)
    assert not any(KEY.encode() in file.read_bytes() for file in run.rglob("*") if file.is_file()), "the key was kept"


@pytest.mark.parametrize("name", ["openwebrl", "webgym", "asyncwebrl", "openwebvoyager"])
def test_a_papers_recipe_trains_on_tasks_of_a_file_with_its_judge(
    name: str, tmp_path: Path, judge: Endpoint, site: str
) -> None:
    tasks = tasks_file(tmp_path / "tasks.jsonl", site)
    own = [f"tasks.path={tasks}", f"tasks.eval_path={tasks}", f"reward.engine.base_url={judge.url}", *FAST]
    trained(name, own, tmp_path / "run")
    assert {body["model"] for body in judge.bodies} <= {"gpt-4.1", "gpt-4o"}
    assert {headers.get("authorization") for headers in judge.headers} == {f"Bearer {KEY}"}
    parts = [
        part
        for body in judge.bodies
        for m in body["messages"]
        if isinstance(m["content"], list)
        for part in m["content"]
    ]
    assert any(part["type"] == "image_url" for part in parts)


def test_webagent_r1_trains_on_webarena_with_its_evaluators(tmp_path: Path, judge: Endpoint, site: str) -> None:
    rows = webarena_file(tmp_path / "rows.json")
    own = [f"env.path={rows}", f"env.eval_path={rows}", f"env.sites={{__SHOPPING__: '{site}'}}"]
    trained("webagent_r1", own, tmp_path / "run")
    assert not judge.bodies, "it has evaluators of its own"
