from __future__ import annotations

import httpx
import pytest
from webdojo.sites.serving.web import EmbeddedWeb

from webdojo.errors import SiteError, TaskError
from webdojo.sites.taskgen import make_tasks
from webdojo.tasks.miniwob import HOST, load
from webdojo.types import Task

SHOP = make_tasks(["shop"], [3], 1, seed=0)[0]
CLICK = next(task for task in load([7]) if task.metadata["env"] == "click-test")


def get(web: EmbeddedWeb, pattern: str, task: Task, visit: str) -> None:
    path = task.start_url.partition(task.website)[2]
    headers = {**web.headers(visit), "Host": task.website}
    assert httpx.get(f"http://{web.hosts[pattern]}{path}", headers=headers).status_code == 200


def test_one_visit_can_use_every_kind_of_site() -> None:
    with EmbeddedWeb([SHOP, CLICK]) as web:
        # The narrower pattern has to come first.
        assert list(web.hosts) == [f"{HOST}:80", "*.localhost:80"]
        get(web, f"{HOST}:80", CLICK, "a")
        get(web, "*.localhost:80", SHOP, "a")
        assert set(web.state("a")) == {HOST, SHOP.website}
        assert web.state("b") == {}
        web.end("a")
        assert web.state("a") == {}
        with pytest.raises(SiteError, match="unknown layout 'wide'"):
            web.headers("a", "wide")


def test_only_what_the_tasks_need_is_served() -> None:
    with EmbeddedWeb([CLICK]) as web:
        assert list(web.hosts) == [f"{HOST}:80"]
    public = SHOP.model_copy(update={"kind": ""})
    with EmbeddedWeb([public]) as web:
        assert (web.hosts, web.headers("a"), web.state("a")) == ({}, {}, {})


def test_a_kind_without_a_server_is_named() -> None:
    with pytest.raises(TaskError, match="no server has tasks of kind 'bank'; kinds are shop, wiki, travel"):
        EmbeddedWeb([SHOP.model_copy(update={"kind": "bank"})])
