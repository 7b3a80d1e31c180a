"""Rows of WebArena config files as tasks."""

import json
from pathlib import Path

import pytest

from webdojo.envs.web import load
from webdojo.errors import TaskError

WEBARENA = Path(__file__).parent.parent / "data" / "webarena.json"
SITES = {
    "__SHOPPING__": "http://localhost:7770/",
    "__SHOPPING_ADMIN__": "http://localhost:7780/admin",
    "__REDDIT__": "http://localhost:9999",
    "__MAP__": "http://localhost:3000",
    "__WIKIPEDIA__": "http://localhost:8888/wiki",
}


def test_webarena_rows_become_tasks_on_the_users_own_sites():
    tasks = {task.id: task for task in load(WEBARENA, SITES)}
    shop = tasks["webarena:22"]
    assert shop.instruction == "List out reviewers, if exist, who mention about under water photo"
    assert shop.start_url.startswith("http://localhost:7770/fujifilm-finepix-z200fd")
    assert (shop.website, shop.kind) == ("localhost", "")
    assert shop.storage_state == "./.auth/shopping_state.json"
    assert shop.evaluator["type"] == "webarena"
    assert shop.evaluator["reference_answers"] == {"fuzzy_match": "N/A"}
    post = tasks["webarena:600"]
    assert post.evaluator["reference_url"] == "http://localhost:9999/f/consoles"
    assert "'__last_url__'" in post.evaluator["program_html"][0]["url"]


def test_further_start_pages_are_kept():
    tasks = load(WEBARENA, SITES)
    several = next(task for task in tasks if task.metadata["more_start_urls"])
    assert " |AND| " not in several.start_url
    assert all(url.startswith("http://localhost:7770/") for url in several.metadata["more_start_urls"])


def test_tasks_on_sites_that_are_not_hosted_are_left_out():
    rows = json.loads(WEBARENA.read_text())
    only = load(WEBARENA, {"__MAP__": SITES["__MAP__"]})
    assert [task.metadata["sites"] for task in only] == [row["sites"] for row in rows if row["sites"] == ["map"]]
    # This one starts on the map, but cannot be done without the encyclopedia.
    assert "webarena:97" not in {task.id for task in only}
    assert "webarena:97" in {task.id for task in load(WEBARENA, SITES)}


@pytest.mark.parametrize(
    ("sites", "says"),
    [
        ({}, "no task of .* is on no site alone; its sites are __"),
        ({"__SHOP__": "http://localhost:1"}, "no task of .* is on __SHOP__; its sites are .*__SHOPPING__"),
        ({"__MAP__": "localhost:3000"}, "'localhost:3000' is no address"),
        ({"__WIKIPEDIA__": "http://localhost:8888"}, "is on __WIKIPEDIA__ alone"),
    ],
)
def test_wrong_webarena_sites_are_named(sites, says):
    with pytest.raises(TaskError, match=says):
        load(WEBARENA, sites)


def test_a_row_that_is_no_webarena_task_is_named(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([{"task_id": 1, "intent": "x"}]))
    with pytest.raises(TaskError, match=r"task 1 of .* is no WebArena task: start_url: field required"):
        load(file, SITES)
