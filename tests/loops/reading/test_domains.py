"""The domains that a model behind a real endpoint gives to the tasks of which nothing else says one."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.policy.chat.endpoint import Endpoint, completion, replying, say
from webdojo.errors import BudgetError
from webdojo.loops.reading.domains import with_domains
from webdojo.loops.reading.reader import Reader
from webdojo.policy.engines import Chat
from webdojo.tasks.domains import DOMAIN_OF
from webdojo.types import Task


def task(id: str, instruction: str = "Find a lamp", website: str = "a.example", **more: Any) -> Task:
    return Task(id=id, instruction=instruction, start_url=f"https://{website}/", website=website, **more)


def named(subdomain: str) -> str:
    return json.dumps({"subdomain": subdomain})


def by_its_words(messages: list[dict[str, Any]]) -> str:
    return named("Music" if "song" in messages[1]["content"][0]["text"] else "Shopping")


def reader(endpoint: Endpoint, cache: str = "", **engine: Any) -> Reader:
    return Reader(engine=Chat(base_url=endpoint.url, model="reader", cache=cache, max_retries=0, **engine))


async def test_a_model_is_asked_about_the_tasks_of_an_unknown_domain_alone() -> None:
    tasks = [
        task("own", metadata={"domain": "Travel"}),
        task("song", "Find a song", metadata={"author": "ada"}),
        task("table", website="www.bbc.com"),
        task("lamp"),
        task("embedded", kind="shop"),
    ]
    with Endpoint(default=replying(by_its_words)) as endpoint:
        found = await with_domains(tasks, reader(endpoint))
    assert [each.metadata for each in found] == [
        {"domain": "Travel"},
        {"author": "ada", "domain": "Entertainment", "subdomain": "Music"},
        {},
        {"domain": "Lifestyle & Leisure", "subdomain": "Shopping"},
        {},
    ]
    assert [each.model_copy(update={"metadata": {}}) for each in found] == [
        each.model_copy(update={"metadata": {}}) for each in tasks
    ]
    shown = [json.loads(body["messages"][1]["content"][0]["text"]) for body in endpoint.bodies]
    assert sorted(each["task"] for each in shown) == ["Find a lamp", "Find a song"]
    assert shown[0]["start_url"] == "https://a.example/"
    question = endpoint.bodies[0]["messages"][0]["content"]
    assert [subdomain for subdomain in DOMAIN_OF if subdomain not in question] == []


async def test_no_model_is_asked_where_every_domain_is_known() -> None:
    with Endpoint() as endpoint:
        assert await with_domains([task("a", kind="shop")], reader(endpoint)) == [task("a", kind="shop")]
    assert endpoint.bodies == []


@pytest.mark.parametrize(
    "bad",
    [
        "Shopping",
        named("Lamps"),
        named("shopping"),
        named("Lifestyle & Leisure"),
        '{"subdomain": ["Shopping"]}',
        '{"subdomain": "Shopping", "sure": true}',
        f"{named('Shopping')} {named('Music')}",
    ],
)
async def test_what_is_no_subdomain_is_asked_for_once_more_and_then_left(
    bad: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Endpoint(say(completion(bad)), default=say(completion(named("Music")))) as endpoint:
        (found,) = await with_domains([task("a")], reader(endpoint))
    assert found.metadata["subdomain"] == "Music"
    assert "could not be read" in endpoint.bodies[1]["messages"][1]["content"][-1]["text"]
    cache = str(tmp_path / "cache.sqlite")
    with caplog.at_level(logging.WARNING), Endpoint(default=say(completion(bad))) as endpoint:
        assert await with_domains([task("a")], reader(endpoint, cache)) == [task("a")]
        assert len(endpoint.bodies) == 2
        endpoint.default = say(completion(named("Music")))
        (found,) = await with_domains([task("a")], reader(endpoint, cache))
    assert "a stays without a domain: the model's answer could not be read" in caplog.text
    assert found.metadata["subdomain"] == "Music", "the cache keeps what could not be read"


async def test_a_budget_that_is_spent_ends_it_and_the_next_call_goes_on(tmp_path: Path) -> None:
    tasks = [task(str(n), f"Find song {n}") for n in range(5)]
    cache = str(tmp_path / "cache.sqlite")
    with Endpoint(default=replying(by_its_words)) as endpoint:
        with pytest.raises(BudgetError, match="budget_requests"):
            await with_domains(tasks, reader(endpoint, cache, budget_requests=2, max_concurrency=1))
        assert len(endpoint.bodies) == 2
        found = await with_domains(tasks, reader(endpoint, cache))
    assert [each.metadata["subdomain"] for each in found] == ["Music"] * 5
    asked = [json.loads(body["messages"][1]["content"][0]["text"])["task"] for body in endpoint.bodies]
    assert sorted(asked) == [f"Find song {n}" for n in range(5)], "an answer was paid twice"
