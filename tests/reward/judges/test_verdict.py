"""Verdicts are read where the protocol asks for them, and nowhere else."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from webdojo.reward.judges.verdict import (
    STATUS,
    SUCCESS,
    YES_NO,
    before_last_line,
    choice,
    json_object,
    last_line,
    record,
    said,
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("SUCCESS", True),
        ("NOT SUCCESS", False),
        ("It is so.\n\nSUCCESS\n", True),
        ("It is so.\r\nNOT SUCCESS\r\n", False),
        ("**SUCCESS**", True),
        ("> *NOT SUCCESS.*", False),
        ("`not success`!", False),
        ("'Success'", True),
        ("#  NOT   SUCCESS  ", False),
        ("SUCCESS_\n\n***\n", True),
        ("```\nSUCCESS\n```", True),
        ("NOT SUCCESS would be wrong.\nSUCCESS", True),
        ("SUCCESS would be wrong.\nNOT SUCCESS", False),
        ("<think>NOT SUCCESS</think>\nSUCCESS", True),
        ("<think>a\nSUCCESS\n</think>NOT SUCCESS", False),
        ("<think>a</think><think>b</think>SUCCESS", True),
        ("SUCCESS</think>", None),
        ("<think>\nSUCCESS", None),
        ("\n <think>hm\nSUCCESS", None),
        ("<think>a</think><think>b\nSUCCESS", None),
        ("", None),
        ("   \n\n", None),
        ("UNSUCCESSFUL", None),
        ("SUCCESSFUL", None),
        ("The agent was unsuccessful", None),
        ("SUCCESS or NOT SUCCESS", None),
        ("SUCCESS / NOT SUCCESS", None),
        ("NOT-SUCCESS", None),
        ("NO SUCCESS", None),
        ("SUCCESS\nI am sure.", None),
        ("Verdict: SUCCESS", None),
        ("My verdict is SUCCESS", None),
        ("It is a SUCCESS", None),
        ("NOT\u2028SUCCESS", False),
        ("NOT\x0bSUCCESS", False),
        ("Done.\u2028SUCCESS", None),
    ],
)
def test_the_verdict_is_the_last_line_alone(text: str, verdict: bool | None) -> None:
    assert choice(text, SUCCESS) is verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Status: success", True),
        ("Status: failure", False),
        ("**Status:** success", True),
        ("**Status: failure**", False),
        ('status : "SUCCESS"', True),
        ("Status: success\nStatus: failure", False),
        ("Status: failure\nStatus: success", True),
        ("Status: failure\nsuccess", None),
        ("success", None),
        ("failure", None),
        ("Status success", None),
        ("The status: success", None),
        ("Status: successful", None),
        ("Status: success or failure", None),
        ("Status: not failure", None),
        ("Status: success: failure", None),
        ("Score: success", None),
        ("Status:", None),
        (": success", None),
    ],
)
def test_a_labelled_verdict_needs_its_label(text: str, verdict: bool | None) -> None:
    assert choice(text, STATUS, "Status") is verdict


def test_the_words_of_a_protocol() -> None:
    assert SUCCESS == {"SUCCESS": True, "NOT SUCCESS": False}
    assert STATUS == {"SUCCESS": True, "FAILURE": False}
    assert YES_NO == {"YES": True, "NO": False}
    assert choice("3", {"3": 3}) == 3
    assert choice("Yes.", YES_NO) is True
    assert choice("no", YES_NO) is False
    assert choice("No, it is not", YES_NO) is None


def test_what_is_said_beside_the_last_line() -> None:
    text = "<think>x</think>\n It shows\n a mug.\n\nScore: 4\n"
    assert said(text) == "It shows\n a mug.\n\nScore: 4"
    assert before_last_line(text) == "It shows\n a mug."
    assert last_line(text) == "Score: 4"
    assert before_last_line("Score: 4") == ""
    assert before_last_line("A mug.\n**Score: 4**\n```\n") == "A mug."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        (' \n{"a": {"b": []}}\n', {"a": {"b": []}}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('So it is.\n```json\n{"a": 1}\n```\n', {"a": 1}),
        ('Page: ```json\n{"a": 2}\n```\nMine:\n```json\n{"a": 1}\n```', {"a": 1}),
        ('<think>{"a": 2}</think>{"a": 1}', {"a": 1}),
        ('{"a": "</think>"}', {"a": "</think>"}),
        ('<think>b</think>{"a": "<think>"}', {"a": "<think>"}),
        ('<think>{"a": 1}', None),
        ('So it is: {"a": 1}', None),
        ('{"a": 1} So it is.', None),
        ('```json\n{"a": 1}\n```\nSo it is.', None),
        ('{"a": 1}{"a": 2}', None),
        ('{"a": 1, "a": 2}', None),
        ('{"a": NaN}', None),
        ('{"a": Infinity}', None),
        ('{"a": 1', None),
        ("[1]", None),
        ("true", None),
        ("", None),
        ("```", None),
        ("[" * 100_000, None),
    ],
)
def test_a_json_answer_is_one_object_and_nothing_else(text: str, found: object) -> None:
    assert json_object(text) == found


class Form(BaseModel, strict=True):
    a: bool


def test_a_record_has_the_types_of_its_form() -> None:
    assert record('{"a": true, "b": 1}', Form) == Form(a=True)
    for wrong in ('{"a": 1}', '{"a": "true"}', '{"a": null}', '{"b": true}', "", "[]", "true"):
        assert record(wrong, Form) is None
