"""Sites that are there already: a file of tasks, nothing that is served, and manners on sites of others."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.rollout.records import task
from webdojo.envs import polite
from webdojo.envs.polite import Robots, is_public
from webdojo.envs.web import Web
from webdojo.errors import Failure, Missing, StartError, TaskError

RULES = "User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n\nUser-agent: webdojo\nDisallow: /not-you\n"


class Site:
    """Serves `/robots.txt` as it is told to, and counts who asks for what."""

    def __init__(self) -> None:
        self.text, self.status, self.location = RULES, 200, ""
        self.asked: Counter[str] = Counter()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked[self.path] += 1
                body = site.text.encode()
                moved = site.location if self.path == "/robots.txt" else ""
                self.send_response(302 if moved else site.status)
                if moved:
                    self.send_header("Location", moved)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *values: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    threading.Thread(target=site.server.serve_forever, daemon=True).start()
    yield site
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine stands for the open web."""

    async def yes(host: str) -> bool:
        return host == "127.0.0.1"

    monkeypatch.setattr(polite, "is_public", yes)


async def test_it_serves_nothing_and_has_no_verdict_and_no_tasks_of_its_own() -> None:
    async with Web() as env:
        visit = await env.visit(task("a"), "seed")
        assert (visit.task, visit.start_url, visit.headers) == (task("a"), "http://site.localhost/", {})
        assert (env.hosts, env.reward, env.oracle) == ({}, None, None)
        assert (await env.state(visit), await env.is_over(visit)) == ({}, False)
        await env.leave(visit)
    with pytest.raises(Missing, match=r"tasks\.path=my-tasks\.jsonl"):
        env.tasks("train", 1, 0)


async def test_a_task_that_robots_txt_forbids_does_not_begin(site: Site, public: None) -> None:
    env = Web()
    await env.admit(task("a").model_copy(update={"start_url": f"{site.url}/shop"}))
    forbidden = task("b").model_copy(update={"start_url": f"{site.url}/not-you/here"})
    with pytest.raises(StartError, match=r"robots\.txt forbids http://127.*/not-you/here .*env\.robots_txt") as caught:
        await env.admit(forbidden)
    assert caught.value.failure is Failure.ROBOTS_TXT
    await Web(robots_txt=False).admit(forbidden)
    assert site.asked == {"/robots.txt": 1}, "it is read once for a site, and not where nobody cares"


async def test_rules_for_everybody_hold_where_none_are_for_us(site: Site, public: None) -> None:
    site.text = RULES.partition("\n\n")[0]
    robots = Robots()
    asked = [robots.allows(f"{site.url}{path}") for path in ("/", "/private/a", "/a/b.pdf", "/a/b.pdf?x", "/not-you")]
    assert await asyncio.gather(*asked) == [True, False, False, True, True]
    assert site.asked == {"/robots.txt": 1}, "many that ask at once read it once"


@pytest.mark.parametrize(
    ("status", "text"), [(404, RULES), (500, RULES), (200, "<html>no rules at all</html>"), (200, "")]
)
async def test_a_robots_txt_that_is_none_forbids_nothing(site: Site, public: None, status: int, text: str) -> None:
    site.status, site.text = status, text
    assert await Robots().allows(f"{site.url}/private")
    assert site.asked == {"/robots.txt": 1}


async def test_a_robots_txt_may_lie_elsewhere_but_not_on_this_network(site: Site, public: None) -> None:
    site.location = "/elsewhere.txt"
    assert not await Robots().allows(f"{site.url}/not-you")
    site.location = site.url.replace("127.0.0.1", "localhost") + "/elsewhere.txt"
    assert await Robots().allows(f"{site.url}/not-you")
    site.location = "/robots.txt"
    assert await Robots().allows(f"{site.url}/not-you"), "in a circle"
    assert site.asked["/elsewhere.txt"] == 1


async def test_hosts_of_ones_own_are_not_asked(site: Site) -> None:
    assert await Robots().allows(f"{site.url}/not-you")
    assert not site.asked
    assert not await is_public("localhost")
    assert not await is_public("10.1.2.3")
    assert not await is_public("no-such-host.invalid")
    assert await is_public("93.184.216.34")


async def waits(env: Web, urls: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long episodes at these addresses wait, by a clock that stands still, in tenths of a second."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(round(seconds, 1))

    with monkeypatch.context() as patch:
        patch.setattr("webdojo.envs.web.asyncio.sleep", sleep)
        patch.setattr("webdojo.envs.web.time.monotonic", lambda: 1000.0)
        for url in urls:
            await env.admit(task("a").model_copy(update={"start_url": url}))
    return waited


@pytest.mark.parametrize(
    ("per_minute", "waited"), [(600, [0.0, 0.1, 0.2, 0.3, 0.0, 0.1]), (0, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0])]
)
async def test_episodes_begin_at_a_host_at_an_even_pace(
    per_minute: float, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = Web(episodes_per_minute=per_minute, robots_txt=False)
    assert await waits(env, (f"http://{host}.example/" for host in "aaaabb"), monkeypatch) == waited


async def test_hosts_of_ones_own_have_no_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    env = Web(episodes_per_minute=30, robots_txt=False)
    assert await waits(env, ["http://127.0.0.1:8090/"] * 3 + ["http://10.1.2.3/"] * 2, monkeypatch) == []
    assert await waits(env, ["http://93.184.216.34/"] * 2, monkeypatch) == [0.0, 2.0]


async def test_the_environment_keeps_its_pace_by_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    env = Web(episodes_per_minute=300, robots_txt=False)
    urls = ["http://a.example/", "http://A.example:80/x", "http://b.example/"]
    assert await waits(env, urls, monkeypatch) == [0.0, 0.2, 0.0]


async def test_nobody_logs_in_unless_the_recipe_says_so() -> None:
    logged_in = task("a").model_copy(update={"storage_state": "me.json"})
    with pytest.raises(TaskError, match=r"task 'a' begins logged in .* env\.allow_login=true"):
        Web().check(logged_in)
    with pytest.raises(TaskError, match="begins logged in"):
        await Web().admit(logged_in)
    Web(allow_login=True).check(logged_in)
