"""Fifty tasks in the formats of WebVoyager and of WebArena, on sites of this machine, from the command line: agents of
known strength get the rate that they deserve, and `webdojo compare` tells apart those that differ, and no others.

The agents stand behind an endpoint. Each knows the tasks and does some of them: it opens the page that a task is about,
and answers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import console_script
from tests.loops.one_site import OneSite
from tests.policy.chat.endpoint import Endpoint, completion, say
from webdojo.sites.taskgen import make_tasks
from webdojo.types import Task

pytestmark = pytest.mark.slow

N = 50
SHARES = {"oracle": 1.0, "null": 0.0, "half-a": 0.5, "half-b": 0.5}
"""The agents, by the share of the tasks that they do."""
SITES: dict[str, Sequence[int]] = {"shop": [1_000_065], "wiki": [1_000_071]}


@dataclass(frozen=True)
class Known:
    """A task with its solution."""

    instruction: str
    start: str
    page: str
    """The page that it is about."""
    answer: str
    """Empty where it asks for the page alone."""


def known(task: Task, start: str) -> Known:
    *visits, done = task.metadata["plan"]
    answer = "" if done["answer"] == "done" else done["answer"]
    return Known(task.instruction, start, start + visits[-1]["path"], answer)


@pytest.fixture(scope="module")
def tasks() -> Iterator[list[Known]]:
    """Fifty that ask for an answer, then fifty that ask for a page."""
    drawn = make_tasks(list(SITES), SITES, 400, seed=0, layout="compact")
    with ExitStack() as servers:
        at = {
            site: servers.enter_context(OneSite(site)).address for site in sorted({str(task.website) for task in drawn})
        }
        all_known = [
            known(task, f"http://{at[str(task.website)]}")
            for task in drawn
            if {step["do"] for step in task.metadata["plan"]} == {"visit", "done"}
        ]
        asking = [each for each in all_known if each.answer]
        going = [each for each in all_known if not each.answer]
        assert len(asking) >= N
        assert len(going) >= N
        yield [*asking[:N], *going[:N]]


def does(agent: str, instruction: str) -> bool:
    draw = int.from_bytes(hashlib.sha256(f"{agent} {instruction}".encode()).digest()[:4]) / 2**32
    return draw < SHARES[agent]


def voyager_words(call: str, value: str) -> str:
    name, given = ("goto_url", "url") if call == "go" else ("done", "answer")
    return f"<think>So.</think><tool_call>{json.dumps({'name': name, 'arguments': {given: value}})}</tool_call>"


def arena_words(call: str, value: str) -> str:
    said = f"goto(url={json.dumps(value)})" if call == "go" else f"exit(message={json.dumps(value)})"
    return f"<think>So.</think><answer>{said}</answer>"


@pytest.fixture
def endpoint(tasks: list[Known], request: pytest.FixtureRequest) -> Iterator[Endpoint]:
    """Serves the agents, and as `judge` a model that compares the answer with the right one."""
    words: Callable[[str, str], str] = request.param

    def reply(body: dict[str, Any]) -> str:
        asked = json.dumps(body["messages"])
        (task,) = (each for each in tasks if json.dumps(each.instruction)[1:-1] in asked)
        if body["model"] == "judge":
            told = re.search(r"Final answer of the agent: (.*)", body["messages"][-1]["content"][1]["text"])
            assert told is not None
            return f"So.\n{'SUCCESS' if json.loads(told[1]) == task.answer else 'NOT SUCCESS'}"
        if not does(body["model"], task.instruction):
            return words("done", "no idea")
        if any(message["role"] == "assistant" for message in body["messages"]):
            return words("done", task.answer or "done")
        return words("go", task.page)

    with Endpoint(default=lambda http: say(completion(reply(http.body)))(http)) as endpoint:  # type: ignore[attr-defined]
        yield endpoint


def evaluated(agent: str, recipe: str, endpoint: Endpoint, folder: Path, *options: str) -> dict[str, Any]:
    model, few = ["--endpoint", endpoint.url, "--model", agent], ["evaluate.max_steps=3", "rollout.concurrency=4"]
    return evaluated_by(model, agent, recipe, folder, *few, *options)


def evaluated_by(model: list[str], run: str, recipe: str, folder: Path, *options: str) -> dict[str, Any]:
    always = ["browser.guard.private_hosts=['127.0.0.1']", f"evaluate.tasks={N}"]
    done = console_script("eval", recipe, *model, "--run", run, "--json", *always, *options, cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return dict(result["success_eval"])


def compared(folder: Path, *agents: str) -> list[dict[str, Any]]:
    """Each of the others with the first."""
    done = console_script("compare", *agents, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return [each["official"] for each in json.loads(done.stdout)["comparisons"]]


def check(rates: dict[str, dict[str, Any]], instructions: list[str], folder: Path) -> None:
    for agent, rate in rates.items():
        assert (rate["n"], rate["valid_n"]) == (N, N)
        assert rate["successes"] == sum(does(agent, each) for each in instructions)
    assert (rates["oracle"]["rate"], rates["null"]["rate"]) == (1, 0)
    for stronger in compared(folder, "null", "half-a", "oracle"):
        assert stronger["difference"]["ci95"][0] > 0
        assert stronger["mcnemar_p"] < 0.001
    (like,) = compared(folder, "half-a", "half-b")
    assert like["won"]
    assert like["lost"]
    low, high = like["difference"]["ci95"]
    assert low < 0 < high
    assert like["mcnemar_p"] > 0.05


def check_tiny(folder: Path, *options: str) -> None:
    """Untrained, the tiny model does a few of the tasks that ask for a page, with one seed as with another."""
    for seed in ("0", "1"):
        seeded = [f"seed={seed}", "evaluate.runs=4", "rollout.concurrency=8"]
        rate = evaluated_by(["--model", "tiny"], seed, "quickstart", folder, *options, *seeded)
        assert 0 < rate["rate"] < 0.3
    (like,) = compared(folder, "0", "1")
    low, high = like["difference"]["ci95"]
    assert low <= 0 <= high


def webvoyager(tasks: list[Known], folder: Path) -> list[str]:
    """Writes them as WebVoyager's file; returns the option that names it."""
    rows = [
        {"web_name": task.start, "id": f"{n}", "ques": task.instruction, "web": task.start}
        for n, task in enumerate(tasks)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["tasks.eval_path=tasks.jsonl"]


@pytest.mark.parametrize("endpoint", [voyager_words], indirect=True)
def test_webvoyager(endpoint: Endpoint, tasks: list[Known], tmp_path: Path) -> None:
    options = [*webvoyager(tasks[:N], tmp_path), "env.episodes_per_minute=6000"]
    options += [f"reward.engine.base_url={endpoint.url}", "reward.engine.model=judge", "reward.engine.api_key_env="]
    rates = {agent: evaluated(agent, "webvoyager", endpoint, tmp_path, *options) for agent in SHARES}
    check(rates, [task.instruction for task in tasks[:N]], tmp_path)


def arena(tasks: list[Known], folder: Path) -> str:
    """Writes them as WebArena's file; returns its environment's options."""
    sites = dict(zip(["shopping", "wikipedia"], sorted({task.start for task in tasks}), strict=True))
    tokens = {address: f"__{name.upper()}__" for name, address in sites.items()}
    rows = []
    for n, task in enumerate(tasks):
        token = tokens[task.start]
        evaluator: dict[str, Any] = {"eval_types": ["string_match"], "reference_answers": {"exact_match": task.answer}}
        if not task.answer:
            page = task.page.replace(task.start, token)
            evaluator = {"eval_types": ["url_match"], "reference_url": page, "url_note": "EXACT"}
        about = {"sites": [token.strip("_").lower()], "start_url": token, "intent": task.instruction}
        rows.append({"task_id": n, **about, "eval": evaluator})
    (folder / "tasks.json").write_text(json.dumps(rows))
    at = ", ".join(f"{token}: '{address}'" for address, token in tokens.items())
    return f"env={{name: webarena, eval_path: tasks.json, sites: {{{at}}}}}"


@pytest.mark.parametrize("endpoint", [arena_words], indirect=True)
def test_webarena(endpoint: Endpoint, tasks: list[Known], tmp_path: Path) -> None:
    taken = tasks[N // 2 : N // 2 + N]
    options = [arena(taken, tmp_path), "harness.address_bar=true"]
    rates = {agent: evaluated(agent, "webarena_lite", endpoint, tmp_path, *options) for agent in SHARES}
    check(rates, [task.instruction for task in taken], tmp_path)


def last_image(messages: list[dict[str, Any]]) -> str:
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    return str([part["image_url"]["url"] for part in parts if part["type"] == "image_url"][-1])


@pytest.fixture
def looking(tasks: list[Known]) -> Iterator[Endpoint]:
    """Serves the oracle, and a judge that compares the last screenshot with the one that the oracle ended on."""
    pages: dict[str, str] = {}

    def reply(body: dict[str, Any]) -> str:
        asked = json.dumps(body["messages"])
        (task,) = (each for each in tasks if json.dumps(each.instruction)[1:-1] in asked)
        if body["model"].startswith("judge"):
            image = last_image(body["messages"])
            if body["model"] == "judge-that-learns":
                pages[task.page] = image
            return "So.\n" + ("SUCCESS" if image == pages[task.page] else "NOT SUCCESS")
        if any(message["role"] == "assistant" for message in body["messages"]):
            return voyager_words("done", "done")
        return voyager_words("go", task.page)

    with Endpoint(default=lambda http: say(completion(reply(http.body)))(http)) as endpoint:  # type: ignore[attr-defined]
        yield endpoint


def test_the_tiny_model_in_webvoyagers_format(tasks: list[Known], looking: Endpoint, tmp_path: Path) -> None:
    reward = "reward={{name: webvoyager, format_reward: false, engine: {{name: chat, base_url: '{}', model: {}}}}}"
    options = [
        *webvoyager(tasks[N:], tmp_path),
        "tasks.source=webvoyager",
        "env={name: web, episodes_per_minute: 6000}",
    ]
    shown = reward.format(looking.url, "judge-that-learns")
    assert evaluated("oracle", "quickstart", looking, tmp_path, *options, shown)["rate"] == 1
    check_tiny(tmp_path, *options, reward.format(looking.url, "judge"))


def test_the_tiny_model_in_webarenas_format(tasks: list[Known], tmp_path: Path) -> None:
    options = [arena(tasks[N:], tmp_path), "reward={name: webarena, dialect: webarena_lite, format_reward: false}"]
    check_tiny(tmp_path, *options)
