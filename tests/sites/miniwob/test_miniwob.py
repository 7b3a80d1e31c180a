"""The server of MiniWoB++ over plain HTTP; `tests/tasks` has the pages in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from webdojo.errors import SiteError
from webdojo.sites.miniwob.server import MiniwobServer, episode_over
from webdojo.tasks.miniwob import HOST

PAGE = "/miniwob/click-test.html?seed=7"


@pytest.fixture(scope="module")
def server() -> Iterator[MiniwobServer]:
    with MiniwobServer() as server:
        yield server


def get(server: MiniwobServer, path: str, visit: str) -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{server.port}{path}", headers=server.headers(visit))


def report(server: MiniwobServer, visit: str, **said: Any) -> None:
    url = f"http://127.0.0.1:{server.port}/report"
    assert httpx.post(url, headers=server.headers(visit), json=said).status_code == 204


def test_pages_are_the_packages_own_with_one_script_before_theirs(server: MiniwobServer) -> None:
    html = get(server, PAGE, "a").text
    assert html.index("core.js") < html.index("core.startEpisode = ") < html.index("var genProblem")
    assert get(server, "/core/core.js", "a").text.startswith("var core")
    assert get(server, "/miniwob/click-tset.html", "a").status_code == 404
    server.end("a")


def test_the_first_end_of_the_first_page_counts(server: MiniwobServer) -> None:
    get(server, PAGE, "b")
    report(server, "b", page=PAGE, utterance="Click the button.")
    assert not episode_over(server.state("b"))
    get(server, "/miniwob/focus-text.html?seed=1", "b")
    report(server, "b", page="/miniwob/focus-text.html?seed=1", utterance="Easier.")
    report(server, "b", page="/miniwob/focus-text.html?seed=1", raw_reward=1.0)
    report(server, "b", page="/miniwob/click-test.html?seed=8", raw_reward=1.0)
    assert not episode_over(server.state("b"))
    report(server, "b", page=PAGE, raw_reward=-1.0, reason="missed")
    report(server, "b", page=PAGE, raw_reward=1.0)
    said = {"page": PAGE, "utterance": "Click the button.", "done": True, "raw_reward": -1.0, "reason": "missed"}
    assert server.state("b") == {HOST: said}
    assert episode_over(server.state("b"))


def test_visits_never_see_one_another(server: MiniwobServer) -> None:
    get(server, PAGE, "c")
    get(server, PAGE, "d")
    report(server, "c", page=PAGE, raw_reward=0.5)
    assert server.state("c")[HOST]["raw_reward"] == 0.5
    assert not server.state("d")[HOST]["done"]
    server.end("c")
    server.end("c")
    assert server.state("c") == {}
    report(server, "nobody", page=PAGE, raw_reward=1.0)
    assert server.state("nobody") == {}


def test_a_taken_port_is_one_clear_line(server: MiniwobServer) -> None:
    with pytest.raises(SiteError, match=f"port {server.port} of 127.0.0.1 cannot be used"):
        MiniwobServer(server.port)
