"""All of WebArena's published specs become typed evaluators, and what is wrong with a spec is named."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from webdojo.errors import TaskError
from webdojo.reward.webarena.spec import (
    PLACES,
    Call,
    Evaluator,
    Expression,
    LastPage,
    NotAchievable,
    ProgramHtml,
    StringMatch,
    UrlMatch,
    needs_grader,
    read_call,
    read_spec,
)

FILE = Path(__file__).parent.parent.parent / "data" / "webarena-evals.json.gz"
ROWS: list[dict[str, Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
TARGET = {"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}}


def spec_of(task_id: int) -> dict[str, Any]:
    return next(row["eval"] for row in ROWS if row["task_id"] == task_id)


def test_every_published_spec_is_read() -> None:
    kept = TypeAdapter(tuple[Evaluator, ...])
    for row in ROWS:
        spec = row["eval"]
        evaluators = read_spec(spec, "webarena")
        assert [each.kind for each in evaluators] == spec["eval_types"], row
        assert kept.validate_json(kept.dump_json(evaluators)) == evaluators, row
        for each in evaluators:
            match each:
                case StringMatch():
                    assert len(each.checks) == len(spec["reference_answers"]), row
                case UrlMatch():
                    assert (" |OR| ".join(each.references), each.exact) == (spec["reference_url"], False), row
                case ProgramHtml():
                    assert len(each.targets) == len(spec["program_html"]), row
        assert len(read_spec(spec, "webarena_lite")) == len(evaluators), row


def test_there_are_812_and_118_need_a_grader() -> None:
    assert sorted(row["task_id"] for row in ROWS) == list(range(812))
    found = Counter(needs_grader(read_spec(row["eval"], "webarena")) for row in ROWS)
    assert found == {True: 118, False: 694}


def test_what_the_parts_of_a_spec_become() -> None:
    (page,) = [each for each in read_spec(spec_of(699), "webarena") if isinstance(each, ProgramHtml)]
    prepared = page.targets[-1]
    assert isinstance(prepared.place, LastPage) and isinstance(prepared.locator, Expression)
    assert prepared.locator.prepare and not prepared.locator.prepare[0].endswith(";")
    (answer,) = read_spec(spec_of(22), "webarena")
    assert isinstance(answer, StringMatch) and isinstance(answer.checks[0], NotAchievable)
    assert answer.checks[0].reason
    calls = {
        each.function
        for row in ROWS
        for evaluator in read_spec(row["eval"], "webarena")
        if isinstance(evaluator, ProgramHtml)
        for target in evaluator.targets
        for each in (target.place, target.locator)
        if isinstance(each, Call)
    }
    assert len(calls) == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("func:open('/etc/passwd')", "calls 'open'; here it may call"),
        ("func:reddit_get_post_url", "is no call of a function"),
        ("func:reddit_get_post_url()", "must give reddit_get_post_url 1 texts"),
        ("func:reddit_get_post_url('a', 'b')", "must give reddit_get_post_url 1 texts"),
        ("func:reddit_get_post_url(1)", "must give reddit_get_post_url 1 texts"),
        ("func:reddit_get_post_url(url='a')", "is no call of a function"),
        ("func:reddit_get_post_url(*'a')", "must give reddit_get_post_url 1 texts"),
        ("func:reddit_get_post_url(__import__('os').getcwd())", "must give reddit_get_post_url 1 texts"),
        ("func:__import__('os').system('true')", "is no call of a function"),
        ("func:(lambda: 'a')()", "is no call of a function"),
        ("func:reddit_get_post_url('a'); 1", "is no call of a function"),
        ("func:gitlab_get_project_memeber_role(__page__, 'x')", "calls 'gitlab_get_project_memeber_role'"),
    ],
)
def test_only_listed_functions_are_called_with_texts(text: str, says: str) -> None:
    with pytest.raises(TaskError, match=re.escape(says)):
        read_call(text, PLACES)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({}, "eval_types must be a list, but is None"),
        ({"eval_types": []}, "eval_types names no evaluator"),
        ({"eval_types": ["page_image_query"]}, "eval_types has 'page_image_query'"),
        ({"eval_types": ["string_match"], "reference_answers": None}, "reference_answers must be a dict, but is None"),
        ({"eval_types": ["string_match"], "reference_answers": {}}, "reference_answers is empty"),
        ({"eval_types": ["string_match"], "reference_answers": {"exact_match": 5}}, "exact_match must be a text"),
        ({"eval_types": ["string_match"], "reference_answers": {"must_include": []}}, "must be a list of texts"),
        ({"eval_types": ["string_match"], "reference_answers": {"must_include": [5]}}, "must be a list of texts"),
        ({"eval_types": ["string_match"], "reference_answers": {"like": "x"}}, "there is no check 'like'"),
        (
            {"eval_types": ["string_match"], "reference_answers": {"one_of": ["x"]}},
            "'one_of' is a check of WebArena-Lite",
        ),
        ({"eval_types": ["program_html"], "program_html": []}, "program_html is empty"),
        ({"eval_types": ["program_html"], "program_html": ["x"]}, "a target of program_html must be an object"),
        ({"eval_types": ["program_html"], "program_html": [TARGET | {"url": None}]}, "url must be a str"),
        ({"eval_types": ["program_html"], "program_html": [TARGET | {"required_contents": {}}]}, "but has none"),
        (
            {"eval_types": ["program_html"], "program_html": [TARGET | {"locator": "window.x"}]},
            "the locator 'window.x'",
        ),
        (
            {"eval_types": ["program_html"], "program_html": [TARGET | {"locator": "lambda:() => 1"}]},
            "the locator 'lambda:() => 1' is none of webarena",
        ),
        (
            {"eval_types": ["program_html"], "program_html": [TARGET | {"required_contents": {"fuzzy_match": ["x"]}}]},
            "'fuzzy_match' is no check of a page in webarena",
        ),
    ],
)
def test_what_is_wrong_with_a_spec_is_named(spec: dict[str, Any], says: str) -> None:
    with pytest.raises(TaskError, match=re.escape(says)):
        read_spec(spec, "webarena")
