"""What the viewer answers: lists, filters, one trajectory, notes, and to whom."""

import json
import socket
import time

import pytest
from starlette.testclient import TestClient

from tests.store.fabricate import page_image, trajectory, turn
from tests.view.demo_run import create
from webdojo.errors import ConfigError, StoreError
from webdojo.store.run import RunStore
from webdojo.types import Judgement, Reward, ToolCall
from webdojo.view.server.access import HEADERS, TOKEN_VARIABLE
from webdojo.view.server.app import create_app
from webdojo.view.server.pages import static_address
from webdojo.view.server.runs import Runs
from webdojo.view.server.serve import Server, serve


@pytest.fixture
def store(tmp_path):
    with create(tmp_path / "one") as store:
        for k in range(12):
            store.add_trajectory(
                trajectory(
                    f"t{k}",
                    store.images,
                    success=k % 3 == 0,
                    difficulty=k % 4 + 1,
                    kind="shop" if k % 2 else "wiki",
                    valid=k != 11,
                    group=f"g{k // 4}",
                    instruction=f"Open the page of kettle {k}.",
                    reason="The cart is empty.",
                ),
                "rl",
                k // 6 + 1,
            )
        yield store


@pytest.fixture
def client(store):
    runs = Runs([store.path.parent])
    yield TestClient(create_app(runs), base_url="http://localhost")
    runs.close()


def ids(client, **filters):
    return [row["id"] for row in client.get("/runs/one/rows", params=filters).json()["rows"]]


def until(check, seconds=10.0):
    end = time.monotonic() + seconds
    while not (found := check()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def test_lists_are_filtered_sorted_and_paged(client):
    assert ids(client)[:3] == ["t11", "t10", "t9"]
    assert ids(client, outcome="success", kind="shop") == ["t9", "t3"]
    assert ids(client, outcome="invalid") == ["t11"]
    assert ids(client, iteration="2", sort="-difficulty")[:2] == ["t11", "t7"]
    assert ids(client, group="g1", sort="added") == ["t4", "t5", "t6", "t7"]
    page = client.get("/runs/one/rows", params={"offset": 10, "limit": 5, "sort": "added"}).json()
    assert [row["id"] for row in page["rows"]] == ["t10", "t11"] and page["total"] == 12
    first = client.get("/runs/one/rows", params={"kind": "wiki", "difficulty": ["1", "3"]}).json()
    assert first["facets"]["kind"] == {"wiki": 6}, "odd difficulties are all of wikis"
    assert first["facets"]["difficulty"] == {"1": 3, "3": 3}
    assert first["rows"][0]["instruction"] == "Open the page of kettle 10."


@pytest.mark.parametrize(
    ("filters", "why"),
    [({"sort": "x"}, "sort='x' is no order"), ({"version": "new"}, "version='new'"), ({"offset": "-1"}, "offset='-1'")],
)
def test_a_wrong_filter_is_told_in_one_line(client, filters, why):
    answer = client.get("/runs/one/rows", params=filters)
    assert answer.status_code == 400 and why in answer.json()["error"]


def test_words_are_found_once_the_records_are_read(client):
    def found(words):
        answer = client.get("/runs/one/rows", params={"q": words}).json()
        return None if answer["reading"] is not None else [row["id"] for row in answer["rows"]]

    assert until(lambda: found("KETT 7")) == ["t7"]
    assert found("empty cart") == ids(client)
    assert found('"') == [] and found("teapot") == []
    assert ids(client, version="0") == ids(client) and ids(client, version="1") == []


def test_a_secret_is_found_in_no_list_and_seen_on_no_page(store, client):
    call = ToolCall(name="write", arguments={"text": "hunter22"})
    turns = [turn(page_image(store.images, 1), [call], "I type hunter22 here.")]
    store.add_trajectory(trajectory("s", store.images, turns=turns, secrets=["hunter22"]), "rl", 3)
    assert "hunter22" not in client.get("/runs/one/trajectory?id=s").text
    assert "hunter22" not in client.get("/runs/one/record?id=s").text
    assert "hunter22" not in client.get("/runs/one/export?id=s").text
    assert until(lambda: ids(client, q="type"), 10) == ["s"]
    assert ids(client, q="hunter22") == []


def test_a_live_run_grows_and_forgets_in_the_list(store, client):
    assert len(ids(client)) == 12
    store.add_trajectory(trajectory("new", store.images), "rl", 3)
    assert until(lambda: ids(client)[0] == "new")
    store.discard_trajectories("rl", 3)
    for k in range(2):
        store.add_trajectory(trajectory(f"again{k}", store.images), "rl", 3)
    assert until(lambda: ids(client)[:3] == ["again1", "again0", "t11"])


def test_a_verdict_that_comes_later_shows(store, client):
    late = trajectory("late", store.images)
    reward, late.reward = late.reward, None
    store.add_trajectory(late, "rl", 3)
    assert until(lambda: ids(client, outcome="unscored") == ["late"])
    late.reward = reward
    store.replace_trajectory(late, "rl", 3)
    assert until(lambda: ids(client, outcome="unscored") == [])
    assert "late" in ids(client, outcome="success")


def test_judges_that_disagree_are_found_and_stand_side_by_side(store, client):
    said = [Judgement(step="screenshot 2", prompt="Is it there?", answer="The kettle is not to be seen.")]
    verdicts = {
        "t0": Reward(value=0, success=False, reason="No kettle.", judgements=said),
        "t1": Reward(value=0, success=False),
        "t3": Reward(value=0, success=False, valid=False),
    }
    (store.path / "judgements").mkdir()
    with (store.path / "judgements" / "webgym-0a1b2c3d-verdicts.jsonl").open("w") as log:
        for id, reward in verdicts.items():
            log.write(json.dumps({"id": id, "reward": reward.model_dump(mode="json")}) + "\n")
        log.write('{"id": "t6", "rew')
    assert ids(client, disagree="1") == ["t0"]
    page = client.get("/runs/one/trajectory?id=t0").text
    assert "webgym-0a1b2c3d" in page and "No kettle." in page and "the judges disagree" in page
    second = page[page.index('<li class="step" id="2"') : page.index('<li class="step" id="3"')]
    assert "The kettle is not to be seen." in second


def test_notes_are_kept_in_the_run_and_lead_back_to_it(store, client):
    note = {"text": "It gives up <b>early</b>.", "tags": ["loop", " loop", ""]}
    same = {"origin": "http://localhost"}
    assert client.put("/runs/one/note?id=t2", json=note, headers=same).json()["tags"] == ["loop"]
    assert json.loads((store.path / "notes.json").read_text()) == {"t2": {"text": note["text"], "tags": ["loop"]}}
    assert ids(client, tag="loop") == ["t2"]
    assert "It gives up &lt;b&gt;early&lt;/b&gt;." in client.get("/runs/one/trajectory?id=t2").text
    assert client.put("/runs/one/note?id=t2", json={}, headers=same).status_code == 200
    assert json.loads((store.path / "notes.json").read_text()) == {}
    assert client.put("/runs/one/note?id=t2", json={"x": 1}, headers=same).status_code == 400
    assert client.put("/runs/one/note?id=none", json={}, headers=same).status_code == 404
    assert client.put("/runs/one/note?id=t2", json={}).status_code == 403, "another page asks"


def test_neighbours_are_those_of_the_list(client):
    page = client.get("/runs/one/trajectory", params={"id": "t3", "outcome": "success", "sort": "added"}).text
    assert "2 of 4" in page
    assert 'rel="prev" href="/runs/one/trajectory?id=t0&amp;outcome=success&amp;sort=added"' in page
    assert 'rel="next" href="/runs/one/trajectory?id=t6&amp;outcome=success&amp;sort=added"' in page


def test_attempts_stand_side_by_side(store, client):
    page = client.get("/compare?run=one&group=g1").text
    assert page.count("<article") == 4 and "kettle 4" in page
    for iteration in (5, 6):
        again = trajectory("t1", store.images).model_copy(update={"id": f"later{iteration}"})
        store.add_trajectory(again, "eval_rl", iteration)
    page = client.get("/compare", params={"task": again.task.id}).text
    assert "eval_rl 5" in page and "eval_rl 6" in page and "rl 1" in page
    assert client.get("/compare?task=none").status_code == 404
    assert client.get("/compare").status_code == 400


def test_reading_leaves_the_run_as_it_is(store, client):
    before = {file.name for file in store.path.iterdir()}
    for address in ("/", "/runs/one", "/runs/one/dashboard", "/runs/one/rows?q=a", "/runs/one/trajectory?id=t1"):
        assert client.get(address).status_code == 200
    assert {file.name for file in store.path.iterdir()} == before
    store.add_trajectory(trajectory("more", store.images), "rl", 9)


def test_every_answer_has_the_policy(client):
    for address in ("/", "/runs/one/rows", f"{static_address()}/dom.js", "/none", "/runs/none"):
        headers = client.get(address).headers
        assert HEADERS.items() <= dict(headers).items(), address
        assert "unsafe" not in headers["content-security-policy"]


def test_only_loopback_names_are_answered_without_a_token(store):
    runs = Runs([store.path])
    assert TestClient(create_app(runs), base_url="http://evil.example").get("/").status_code == 403
    assert TestClient(create_app(runs), base_url="http://127.0.0.1:8600").get("/").status_code == 200
    runs.close()


def test_a_token_becomes_a_cookie_and_nothing_is_said_without_it(store):
    runs = Runs([store.path])
    client = TestClient(create_app(runs, "öpen"), base_url="http://gpu-7")
    assert client.get("/").status_code == client.get("/static/x/dom.js").status_code == 401
    assert client.get("/?token=wrong").status_code == 401
    first = client.get("/runs/one?token=öpen&a=b", follow_redirects=False)
    assert first.headers["location"] == "/runs/one?a=b" and "HttpOnly" in first.headers["set-cookie"]
    assert client.get("/").status_code == 200
    runs.close()


def test_an_address_that_others_can_reach_has_a_token_of_its_own(store, monkeypatch):
    monkeypatch.setattr(Server, "run", lambda self, sockets: None)
    said: list[str] = []
    for host in ("127.0.0.1", "0.0.0.0", "0.0.0.0"):
        serve([store.path], host, 0, said.append)
    assert "token" not in said[0]
    tokens = [address.partition("?token=")[2] for address in said[1:]]
    assert len(set(tokens)) == 2 and all(len(token) >= 24 for token in tokens)
    monkeypatch.setenv(TOKEN_VARIABLE, "mine")
    serve([store.path], "0.0.0.0", 0, said.append)
    assert said[-1].endswith("?token=mine")


def test_a_folder_without_runs_is_an_error_of_one_line(tmp_path):
    with pytest.raises(StoreError, match="there is no run in"):
        Runs([tmp_path])
    with pytest.raises(StoreError, match="does not exist"):
        Runs([tmp_path / "none"])


def test_a_port_that_is_taken_is_an_error_of_one_line(store):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1 port {port}"):
            serve([store.path], "127.0.0.1", port, print)


def test_runs_of_one_name_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        create(tmp_path / folder / "run").close()
    runs = Runs([tmp_path / "a", tmp_path / "b"])
    assert list(runs.paths()) == ["run", "b~run"]
    with RunStore.open(runs.paths()["b~run"], readonly=True) as store:
        assert store.info["seed"] == 3
    runs.close()
