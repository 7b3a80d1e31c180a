"""The environment of applications, its verdicts, and what it serves, by an application that needs no packages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.envs.apps.notes import Ledger, Notes, installed
from tests.envs.apps.playing import seconds_to_visit
from tests.rollout.records import trajectory
from webdojo.envs.apps.application import Home
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.goal import fetched, given, shown
from webdojo.envs.apps.verdict import DatabaseReward, has, state_of, text_of
from webdojo.envs.env import Visit
from webdojo.errors import Missing, SiteError, TaskError
from webdojo.store.images import MemoryImages
from webdojo.types import Reward, Task

NOTES = "tests.envs.apps.notes:Notes"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apps")
    installed(folder)
    installed(folder, Ledger())
    return folder


@pytest.fixture
def env(cache: Path) -> Apps:
    return Apps(applications=[NOTES], folder=str(cache))


def drawn(env: Apps, template: str) -> Task:
    return next(task for task in env.tasks("train", 20, 0) if task.metadata["template"] == template)


def client(env: Apps, visit: Visit) -> httpx.AsyncClient:
    cookies = {each["name"]: each["value"] for each in (visit.storage_state or {"cookies": []})["cookies"]}
    return httpx.AsyncClient(base_url=f"http://{env.front.address}", headers=visit.headers, cookies=cookies)


async def score(task: Task, state: dict[str, Any], answer: str | None) -> Reward:
    episode = trajectory(task, 0)
    episode.reward, episode.answer, episode.state = None, answer, state
    return await DatabaseReward().score(episode, MemoryImages())


# --- tasks ------------------------------------------------------------------------------------


def test_tasks_are_drawn_without_the_application_and_do_not_depend_on_their_number() -> None:
    env = Apps(applications=[NOTES], folder="/nowhere")
    tasks = env.tasks("train", 30, 3)
    assert list(env.tasks("train", 10, 3)) == list(tasks[:10])
    assert env.tasks("train", 30, 4) != tasks
    assert len({task.id for task in tasks}) == 30
    assert {task.metadata["template"] for task in tasks[:2]} == {"write", "read"}
    assert list(env.difficulty_levels()) == [1, 2]


def test_training_and_evaluation_share_neither_hosts_nor_phrasings() -> None:
    env = Apps(applications=[NOTES])
    train, heldout = env.tasks("train", 60, 0), env.tasks("eval", 60, 0)
    assert not {task.website for task in train} & {task.website for task in heldout}
    assert not {task.id[-1] for task in train} & {task.id[-1] for task in heldout}


def test_tasks_end_where_worlds_have_no_more() -> None:
    env = Apps(applications=[NOTES], templates=["read"], train_seeds=1)
    assert 8 < len(env.tasks("train", 1000, 0)) <= 24
    with pytest.raises(TaskError, match=r"no application has a template 'rite' \(env.templates\); there are write, re"):
        Apps(applications=[NOTES], templates=["rite"]).tasks("train", 1, 0)


async def test_an_application_that_is_not_installed_is_named_with_the_command(tmp_path: Path) -> None:
    env = Apps(applications=[NOTES], folder=str(tmp_path))
    task = env.tasks("train", 1, 0)[0]
    with pytest.raises(Missing, match=r"'notes' is not installed in .*: webdojo apps install notes"):
        env.check(task)
    async with env:
        with pytest.raises(Missing, match="webdojo apps install notes"):
            await env.visit(task)


def test_addresses_of_other_hosts_are_no_applications(env: Apps) -> None:
    assert env.kind_of("http://notes-3.localhost/x") == "notes"
    assert env.kind_of("http://shop-3.localhost/") == ""
    with pytest.raises(TaskError, match=r"which is no application's; those are at http://notes-17.localhost"):
        env.kind_of("http://notes-x.localhost/")


# --- two applications -------------------------------------------------------------------------


async def test_an_episode_has_two_applications_and_is_judged_on_both(cache: Path) -> None:
    ledger = "tests.envs.apps.notes:Ledger"
    env = Apps(applications=[NOTES, ledger], templates=["copy"], folder=str(cache), train_seeds=1)
    task = env.tasks("train", 1, 0)[0]
    env.check(task)
    async with env:
        visit, other = await asyncio.gather(env.visit(task), env.visit(task))
        assert visit.storage_state is not None
        domains = {each["domain"] for each in visit.storage_state["cookies"]}
        assert domains == {"ledger-0.localhost", "notes-0.localhost"}
        async with client(env, visit) as one, client(env, other) as two:
            notes = {"Host": "notes-0.localhost"}
            await one.get("/", headers=notes)
            await one.post("/", data={"text": "copied"}, headers=notes)
            half = await env.state(visit)
            assert "copied" not in (await one.get("/", headers={"Host": "ledger-0.localhost"})).text
            assert "copied" in (await one.get("/", headers=notes)).text
            assert "copied" not in (await two.get("/", headers=notes)).text
            await one.post("/", data={"text": "and more"}, headers={"Host": "ledger-0.localhost"})
            spoiled = await env.state(visit)
            await one.get("/crash", headers=notes)
        with pytest.raises(SiteError, match="notes does not serve"):
            await env.is_over(visit)
        await env.leave(visit)
        assert not await env.is_over(other)
        await env.leave(other)
    assert (await score(task, half, "Done")).success
    assert "which was not asked for" in (await score(task, spoiled, "Done")).reason


def test_a_task_of_two_applications_is_drawn_where_both_are_named(cache: Path) -> None:
    ledger = "tests.envs.apps.notes:Ledger"
    task = Apps(applications=[ledger, NOTES]).tasks("train", 1, 0)[0]
    assert task.metadata["template"] == "copy"
    assert len(Apps(applications=[ledger]).tasks("train", 1, 0)) == 0
    with pytest.raises(TaskError, match=r"the template 'copy' \(env.templates\) needs the application 'notes' as well"):
        Apps(applications=[ledger], templates=["copy"]).tasks("train", 1, 0)
    with pytest.raises(TaskError, match=r"needs the application 'notes' as well: name it in env.applications"):
        Apps(applications=[ledger], folder=str(cache)).check(task)


# --- visits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [False, True])
async def test_what_is_allowed_on_the_way_happens_once_unless_it_may_be_many(many: bool) -> None:
    task = drawn(Apps(applications=[NOTES]), "write")
    wanted = task.evaluator["facts"][0]["change"]["values"]
    task.evaluator["allowed"] = [
        {"table": "log", "kind": "added", "values": {"of": 1}, **({"many": True} if many else {})}
    ]
    asked = {"table": "note", "kind": "added", "key": {"id": 9}, "values": wanted}
    logs = [{"table": "log", "kind": "added", "key": {"id": at}, "values": {"of": 1}} for at in (1, 2)]

    async def judged(*changes: dict[str, Any]) -> Reward:
        state = {"changes": list(changes), "shown": [], "fetched": [], "pages": []}
        return await score(task, {task.website: state}, "Done")

    assert (await judged(asked)).success and (await judged(asked, logs[0])).success
    twice = await judged(asked, *logs)
    assert twice.success is many
    assert many or "log {'id': 2} was added, which was not asked for" in twice.reason
    assert not (await judged(asked, logs[0], {**logs[1], "values": {"of": 2}})).success


async def test_each_visit_has_its_own_copy_and_the_verdict_reads_it(env: Apps) -> None:
    task = drawn(env, "write")
    text = task.evaluator["facts"][0]["change"]["values"]["text"]
    async with env:
        assert env.hosts == {"notes-*.localhost:80": env.front.address}
        first, second = await asyncio.gather(env.visit(task), env.visit(task))
        async with client(env, first) as one, client(env, second) as other:
            assert task.metadata["role"] and "Notes of owner" in (await one.get("/")).text
            await one.post("/", data={"text": text})
            assert text in (await one.get("/")).text
            assert text not in (await other.get("/")).text
            assert (await one.get("/static/style.css")).headers["content-type"] == "text/css"
            assert (await one.get("/static/../db.sqlite3")).status_code == 200  # a page, and not the file
            assert (await one.get("/static/%2e%2e/db.sqlite3")).status_code == 404
            good, idle = await env.state(first), await env.state(second)
            await other.post("/", data={"text": text})
            await other.post("/", data={"text": "and more"})
            spoiled = await env.state(second)
        await env.leave(first)
        await env.leave(second)
        async with client(env, first) as gone:
            assert (await gone.get("/")).status_code == 404
    assert (await score(task, good, "Done")).success
    assert (await score(task, good, "Done")).facts == [True]
    assert not (await score(task, good, None)).success
    assert (await score(task, good, "I could not save it.")).success, "closing words do not count"
    assert not (await score(task, idle, "Done")).success
    refused = await score(task, spoiled, "Done")
    assert not refused.success
    assert refused.reason.endswith("was added, which was not asked for")


async def test_an_answer_counts_only_where_what_it_says_was_shown(env: Apps) -> None:
    task = drawn(env, "read")
    right = task.evaluator["facts"][1]["answer"]["value"]
    async with env:
        visit = await env.visit(task)
        unseen = await env.state(visit)
        async with client(env, visit) as browser:
            await browser.get("/caf%C3%A9")
        seen = await env.state(visit)
        assert seen[task.website]["pages"][0]["path"] == "/café"
        html = next(env.front.stay(visit.id).pages())["html"]
        assert html.startswith("<!doctype html><link")
        await env.leave(visit)
    assert (await score(task, seen, right)).success
    assert not (await score(task, unseen, right)).success
    assert not (await score(task, seen, "pink99")).success
    assert not (await score(task, {}, right)).success


async def test_what_the_agent_sends_is_not_shown_to_it(env: Apps) -> None:
    task = drawn(env, "read")
    told = {"path": "/", "method": "GET", "status": 200, "html": task.evaluator["facts"][0]["shown"][0]}
    sent = {**told, "path": f"/search?{urlencode({'q': told['html']})}"}
    answered = {**told, "method": "POST"}
    named = {**told, "path": "/?q=note"}
    for page, counts in ((told, True), (sent, False), (answered, False), (named, True)):
        assert bool(state_of(task, [], [page])["shown"]) is counts, page


@pytest.mark.parametrize(
    "path", ["/wiki/Special:Search/{}", "/wiki/special:links/{}", "/{}", "/find?{}", "/find?q={}&page=2", "/x/{}/y"]
)
@pytest.mark.parametrize("sent", ["Height 320 m", "Height_320__m", "height%20320_m", "Height+320+m"])
def test_a_page_whose_address_has_what_is_asked_for_shows_nothing(path: str, sent: str) -> None:
    said = {"path": path.format(sent), "method": "GET", "status": 200, "html": "<h1>Height 320 m</h1> Old Mill"}
    linked = {**said, "html": f"{said['html']} <a href='{said['path']}'>to itself</a>"}
    task = asking("Old Mill", "Height 320 m")
    assert state_of(task, [], [said])["shown"] == []
    assert state_of(task, [], [linked, linked])["shown"] == []
    notice = {**said, "path": "/wiki/Old_Mill", "html": f"You searched for Height 320 m. {said['html']}"}
    jump = {**said, "status": 302, "html": ""}
    assert state_of(task, [], [jump, notice])["shown"] == [], "what was searched for is repeated after a redirection"
    named = {**jump, "path": "/search?q=Old+Mill"}
    assert state_of(task, [], [jump, {**said, "path": "/", "html": ""}, named, notice])["shown"] != []
    assert state_of(task, [], [{**said, "path": "/wiki/Old_Mill"}])["shown"] == [["Old Mill", "Height 320 m"]]


@pytest.mark.parametrize(
    ("path", "href"),
    [
        ("/wiki/Café_“Sun”", "/wiki/Caf%C3%A9_%E2%80%9CSun%E2%80%9D"),
        ("/wiki/Café_“Sun”", "Café_%E2%80%9CSun”#top"),
        (
            "/wiki/index?title=Caf%C3%A9+%E2%80%9CSun%E2%80%9D&x=1",
            "index?title=Caf%C3%A9_%E2%80%9CSun%E2%80%9D&amp;x=1",
        ),
    ],
)
def test_a_page_that_another_one_linked_to_shows_the_title_in_its_address(path: str, href: str) -> None:
    title = "Café “Sun”"
    page = {"path": path, "method": "GET", "status": 200, "html": f"<h1>{title}</h1> Hill Town"}
    listed = {"path": "/wiki/Hill", "method": "GET", "status": 200, "html": f'<a href="{href}">{title}</a>'}
    task = asking(title, "Hill", "Town")
    assert state_of(task, [], [listed, page])["shown"] == [[title, "Hill", "Town"]]
    assert state_of(task, [], [page, listed])["shown"] == [], "it was guessed"


def asking(*texts: str) -> Task:
    """A task that names Old Mill, and wants texts to be shown."""
    task = Apps(applications=[NOTES]).tasks("train", 1, 0)[0]
    evaluator = {**task.evaluator, "facts": [shown("They were shown", *texts)]}
    return task.model_copy(update={"instruction": "How high is Old Mill?", "evaluator": evaluator})


async def test_what_scripts_fetch_is_kept_and_is_evidence(env: Apps) -> None:
    task = drawn(env, "read")
    note = {"id": 2, "text": "blue0"}
    task = task.model_copy(update={"website": "notes-0.localhost", "start_url": "http://notes-0.localhost/"})
    task.evaluator["facts"] = [fetched("The notes were shown", given("/other", note), given("/api", note, {"id": 3}))]
    async with env:
        visit = await env.visit(task)
        async with client(env, visit) as browser:
            await browser.get("/")
            await browser.head("/api")
            unseen = await env.state(visit)
            await browser.get("/api?page=1")
        seen = await env.state(visit)
        await env.leave(visit)
    assert not (await score(task, unseen, "Done")).success
    assert (await score(task, seen, "Done")).success


async def test_a_visit_begins_in_less_than_a_second(env: Apps) -> None:
    task = drawn(env, "read")
    async with env:
        assert await seconds_to_visit(env, task) < 1


async def test_an_application_reaches_nothing_outside(env: Apps) -> None:
    async with env:
        visit = await env.visit(drawn(env, "read"))
        async with client(env, visit) as browser:
            assert (await browser.get("/outside")).text == "PermissionError"
        await env.leave(visit)


async def test_a_crash_ends_its_own_visit_alone_and_the_next_one_begins(env: Apps) -> None:
    task = drawn(env, "read")
    async with env:
        crashed, other = await env.visit(task), await env.visit(task)
        async with client(env, crashed) as browser:
            assert (await browser.get("/crash")).status_code == 502
        with pytest.raises(SiteError, match=r"does not serve visit .* any more: it ended a connection without"):
            await env.is_over(crashed)
        with pytest.raises(SiteError, match="does not serve visit"):
            await env.state(crashed)
        await env.leave(crashed)
        assert not await env.is_over(other)
        stay = env.front.stay(other.id)
        stay.process.close()
        with pytest.raises(SiteError, match="its process has ended"):
            await env.state(other)
        await env.leave(other)
        again = await env.visit(task)
        async with client(env, again) as browser:
            assert (await browser.get("/")).status_code == 200
        await env.leave(again)


def test_an_installation_that_fails_says_why_and_leaves_nothing(cache: Path, tmp_path: Path) -> None:
    class Broken(Notes):
        folder = tmp_path / "broken"

    Broken.folder.mkdir()
    (Broken.folder / "requirements.txt").write_text("")
    (Broken.folder / "inside.py").write_text("def install():\n    raise RuntimeError('no disk')\n")
    home = Home(Broken(), tmp_path / "cache")
    with pytest.raises(FileNotFoundError):
        home._make(home.base, "install")
    (home.environment / "bin").mkdir(parents=True)
    home.python.symlink_to(Home(Notes(), cache).python.resolve())
    with pytest.raises(SiteError, match=r"failed: .*RuntimeError: no disk"):
        home._make(home.base, "install")
    assert not list(home.data.iterdir())


# --- texts of pages ---------------------------------------------------------------------------


def test_the_text_of_a_page_has_its_fields_and_no_scripts() -> None:
    html = """<head><title>T</title></head><script>var hidden = 1</script><p>Price: <b>£2.00</b> &amp; more
    <input type=hidden value=secret><input value="17"><textarea>said &lt;</textarea>"""
    assert text_of(html) == "Price: £2.00 & more 17 said <"
    assert text_of('<input value="AT&amp;amp;T"> AT&amp;amp;T') == "AT&amp;T AT&amp;T", "entities are read once"


# --- what scripts fetch -----------------------------------------------------------------------

ROWS = {"total": 2, "tasks": [{"id": 3, "by": [{"user": 1}, {"user": 2}], "data": {"text": "x"}}, {"id": 4, "by": []}]}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"id": 3}, True),
        ({"id": 5}, False),
        ({"id": "3"}, False),
        ({"id": 3, "data": {"text": "x"}}, True),
        ({"id": 4, "data": {"text": "x"}}, False),
        ({"id": 3, "by": [{"user": 2}]}, True),
        ({"id": 3, "by": [{"user": 1}, {"user": 3}]}, False),
        ({"id": 4, "by": [{"user": 1}]}, False),
        ({"total": 2, "tasks": [{"id": 4}]}, True),
        ({"text": "x"}, True),
        ({"total": True}, False),
    ],
)
def test_an_object_is_found_anywhere_in_an_answer_by_the_keys_that_are_wanted(
    wanted: dict[str, Any], found: bool
) -> None:
    assert has(ROWS, wanted) is found
