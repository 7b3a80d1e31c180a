"""`webdojo tasks …` as a user runs it: another process, its output, its exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import ENVIRONMENT, webdojo
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.tasks import records

ROWS = [
    {"id": "Allrecipes--0", "ques": "Find a recipe with 5 stars", "web": "https://www.allrecipes.com/"},
    {"id": "Amazon--0", "ques": "Find a green lamp", "web": "https://www.amazon.com/"},
    {"id": "Amazon--1", "ques": "Buy a green lamp", "web": "https://www.amazon.com/"},
    {"id": "BBC--0", "ques": "Show the news", "web": "https://www.bbc.com/"},
]
SOURCE = ["--source", "webvoyager"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"web_name": str(row["id"]).partition("--")[0], **row, "note": {"n": None}} for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def tasks(folder: Path, *arguments: str, code: int = 0) -> str:
    done = webdojo("tasks", *arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    return done.stdout if code in (0, 1) else done.stderr


def test_a_set_goes_through_every_format_and_stays_the_same(folder: Path) -> None:
    assert tasks(folder, "convert", "rows.jsonl", "a.parquet", *SOURCE) == "4 tasks in a.parquet\n"
    tasks(folder, "convert", "a.parquet", "b")
    tasks(folder, "convert", "b", "c.jsonl")
    assert list(records.load(folder / "c.jsonl")) == list(records.load(folder / "a.parquet"))
    first = next(records.load(folder / "c.jsonl"))
    assert (first.id, first.metadata) == ("webvoyager:Allrecipes--0", {"note": {"n": None}, "web_name": "Allrecipes"})
    tasks(folder, "convert", "c.jsonl", "two.jsonl", "--limit", "2")
    assert len(list(records.load(folder / "two.jsonl"))) == 2


def test_show_and_stats(folder: Path) -> None:
    shown = tasks(folder, "show", "rows.jsonl", *SOURCE, "--id", "webvoyager:BBC--0")
    assert "webvoyager:BBC--0  (difficulty 1)\n  Show the news\n  https://www.bbc.com/\n" in shown
    assert "Allrecipes" not in shown
    assert [row["id"] for row in json.loads(tasks(folder, "show", "rows.jsonl", *SOURCE, "--n", "2", "--json"))] == [
        "webvoyager:Allrecipes--0",
        "webvoyager:Amazon--0",
    ]
    told = tasks(folder, "stats", "rows.jsonl", *SOURCE)
    assert "4 tasks on 3 sites\nsites: amazon.com 2, allrecipes.com 1, bbc.com 1\n" in told
    counts = json.loads(tasks(folder, "stats", "rows.jsonl", *SOURCE, "--json"))
    assert counts["domains"] == {"Lifestyle & Leisure": 3, "Misc.": 1}
    assert counts["subdomains"] == {"Shopping": 2, "Food & Cooking": 1, "News": 1}


def test_lint_ends_with_1_where_there_is_an_error(folder: Path) -> None:
    told = tasks(folder, "lint", "rows.jsonl", *SOURCE, code=1)
    assert told == (
        "row 3  webvoyager:Amazon--1  error  unsafe: 'Buy a green lamp' would be done for real\n"
        "1 errors, 0 warnings: unsafe 1\n"
    )
    found = json.loads(tasks(folder, "lint", "rows.jsonl", *SOURCE, "--json", code=1))
    assert (found["errors"], found["counts"], found["findings"][0]["row"]) == (1, {"unsafe": 1}, 3)
    assert tasks(folder, "lint", "rows.jsonl", *SOURCE, "--ignore", "unsafe") == "0 errors, 0 warnings\n"


def test_lint_asks_a_model_where_one_is_named(folder: Path) -> None:
    def reply(messages: list[dict[str, Any]]) -> str:
        vague = "news" in messages[-1]["content"][0]["text"]
        return json.dumps({"problems": [{"rule": "unclear", "why": "which news"}] if vague else []})

    with Endpoint(default=replying(reply)) as endpoint:
        asking = ["lint", "rows.jsonl", *SOURCE, "--model", "m", "--endpoint", endpoint.url, "engine.max_retries=0"]
        told = tasks(folder, *asking, code=1)
        assert "row 4  webvoyager:BBC--0  warning  unclear: which news (by the model)" in told
        assert tasks(folder, *asking, code=1) == told
        assert len(endpoint.bodies) == 4, "the cache was not asked"
    assert "engine.max_retry: extra inputs" in tasks(folder, *asking, "engine.max_retry=1", code=2)


def test_domains_that_nothing_says_come_from_a_model_where_one_is_named(folder: Path) -> None:
    row = {"id": "lamp", "instruction": "Find a lamp", "start_url": "http://a.example/", "website": "a.example"}
    rows = [row, row | {"id": "news", "website": "www.bbc.com"}]
    (folder / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "domains: Misc. 1, unknown 1\n" in tasks(folder, "stats", "two.jsonl")
    with Endpoint(default=replying(lambda messages: '{"subdomain": "Shopping"}')) as endpoint:
        asking = ["--model", "m", "--endpoint", endpoint.url, "engine.max_retries=0"]
        told = tasks(folder, "stats", "two.jsonl", *asking)
        assert "domains: Lifestyle & Leisure 1, Misc. 1\nsubdomains: News 1, Shopping 1\n" in told
        assert tasks(folder, "convert", "two.jsonl", "out.jsonl", *asking) == "2 tasks in out.jsonl\n"
        assert len(endpoint.bodies) == 1, "the cache was not asked"
    written = [task.metadata for task in records.load(folder / "out.jsonl")]
    assert written == [{"domain": "Lifestyle & Leisure", "subdomain": "Shopping"}, {}]
    assert tasks(folder, "stats", "out.jsonl").splitlines()[:4] == told.splitlines()[:4]


def test_a_split_is_written_held_against_its_set_and_used(folder: Path) -> None:
    told = tasks(folder, "split", "rows.jsonl", "split.json", *SOURCE, "--hold-out", "test=2", "--seed", "1")
    assert "test: 2 tasks on " in told
    assert "(asked: 2)" in told
    tasks(folder, "convert", "rows.jsonl", "all.parquet", *SOURCE)
    assert "fits: split.json, of sha256 " in tasks(folder, "split", "all.parquet", "split.json", "--check")
    for part in ("train", "test"):
        tasks(folder, "convert", "all.parquet", f"{part}.jsonl", "--split", "split.json", "--part", part)
    sites = [{task.website for task in records.load(folder / f"{part}.jsonl")} for part in ("train", "test")]
    assert sites[0].isdisjoint(sites[1])
    assert len(sites[0] | sites[1]) == 3
    tasks(folder, "convert", "all.parquet", "three.jsonl", "--limit", "3")
    refused = tasks(folder, "split", "three.jsonl", "split.json", "--check", code=2)
    assert refused == "error: split 'split.json' does not fit: the set has no task on bbc.com\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["stats", "none.jsonl"], "task file 'none.jsonl' does not exist"),
        (
            ["stats", "rows.jsonl"],
            "is no task record (the rows of a benchmark need its source): instruction: field requ",
        ),
        (["stats", "rows.jsonl", "--source", "webvoyage"], "did you mean 'webvoyager'"),
        (["stats", "rows.jsonl", *SOURCE, "kinds=3"], "task set 'webvoyager' takes no kinds"),
        (["stats", "rows.jsonl", *SOURCE, "kinds"], "option 'kinds' must look like key=value"),
        (["stats", "dojo:train"], "dojo:train has no end"),
        (["show", "rows.jsonl", *SOURCE, "--id", "x"], "'rows.jsonl' has no task 'x'"),
        (["convert", "rows.jsonl", "out.csv", *SOURCE], "end the name in .jsonl or .parquet"),
        (["convert", "rows.jsonl", "out.jsonl", *SOURCE, "--split", "no.json"], "split 'no.json' cannot be read"),
        (["lint", "rows.jsonl", *SOURCE, "--ignore", "safe"], "there is no rule 'safe'"),
        (["lint", "rows.jsonl", *SOURCE, "--model", "m"], "engine.base_url"),
        (["stats", "rows.jsonl", *SOURCE, "--model", "m"], "engine.base_url"),
        (["split", "rows.jsonl", "s.json", *SOURCE, "--hold-out", "test"], "'test' must be a new part"),
        (["split", "rows.jsonl", "s.json", *SOURCE, "--hold-out", "train=3"], "'train=3' must be a new part"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(folder: Path, arguments: list[str], says: str) -> None:
    told = tasks(folder, *arguments, code=2)
    assert says in told
    assert "Traceback" not in told


def test_a_stream_may_be_counted_in_part(folder: Path) -> None:
    assert "3 tasks on " in tasks(folder, "stats", "dojo:valid", "--limit", "3")


def test_the_page_on_task_sets_does_what_it_shows(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()
    ran = 0
    for heading in ("Rows", "Look at a set", "Lint", "Split by web site"):
        section = re.split(r"^## ", page.partition(f"## {heading}\n")[2], flags=re.MULTILINE)[0]
        printed = ""
        for language, title, text in re.findall(
            r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', section, re.MULTILINE | re.DOTALL
        ):
            if title:
                (tmp_path / title).write_text(text)
            elif language == "bash":
                for line in text.splitlines():
                    printed += tasks(tmp_path, *line.split()[2:], code=int(heading == "Lint"))
                    ran += 1
            elif language == "text":
                for line in text.splitlines():
                    assert re.search(re.escape(line).replace("…", r"\w+…"), printed), f"{line!r} is not in\n{printed}"
    assert ran == 6


@pytest.mark.parametrize("command", ["stats", "lint"])
def test_what_reads_json_loads_no_library_that_it_does_not_need(folder: Path, command: str) -> None:
    code = (
        f"import sys; sys.argv[1:] = ['tasks', {command!r}, 'rows.jsonl', '--source', 'webvoyager']\n"
        "from webdojo.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "webdojo.tasks.records" in loaded
    assert loaded & {"torch", "transformers", "pandas", "pyarrow", "datasets", "playwright"} == set()
