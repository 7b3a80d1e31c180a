import re
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webdojo.agent.pycall import PyCall, find, read, write

FUNCTIONS = ["do", "exit", "go_backward"]


def call(text: str) -> PyCall:
    begin = find(FUNCTIONS, text)
    assert begin is not None
    return read(text, begin)[0]


@pytest.mark.parametrize(
    ("text", "positional", "named"),
    [
        ('do(action="Click", element="7")', [], {"action": "Click", "element": "7"}),
        ("do('Click', None, 7)", ["Click", None, "7"], {}),
        ('do ( "Click" , element = 7 , )', ["Click"], {"element": "7"}),
        ("do(action=“Click”, argument=‘it’s’, element=＂7＂)", None, None),
        ("do(action=“Click”, element=‘7’)", [], {"action": "Click", "element": "7"}),
        ("do(“Say “)", ["Say "], {}),
        (r'do("a \"b\" \\ \n \t \' \q \u003c \x41 \ud83d\ude00")', ['a "b" \\ \n \t \' \\q < A \U0001f600'], {}),
        ("do('don”t')", ["don”t"], {}),
        ('do("two\nlines")', ["two\nlines"], {}),
        ("do(-1.5)", ["-1.5"], {}),
        ('do(argument=null, action="Wait")', [], {"argument": None, "action": "Wait"}),
        ("do()", [], {}),
    ],
)
def test_what_is_read(text, positional, named):
    if positional is None:  # a quote that looks alike ends a text that one opened
        with pytest.raises(ValueError, match="expected a comma"):
            call(text)
        return
    assert call(text) == PyCall("do", positional, named)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("do(", "expected a value at the end"),
        ('do("', "no closing quote"),
        ('do("\\', "no closing quote"),
        ("do(\"a' )", "no closing quote"),
        ('do("a"', "expected a comma or a closing bracket at the end"),
        ('do("a" "b")', 'expected a comma or a closing bracket near "do("a" "b")"'),
        ("do(action=Click)", "Click must stand in quotes"),
        ("do(True)", "True must stand in quotes"),
        ("do([7])", "expected a value near"),
        ("do(=1)", "expected a value near"),
        ('do("\\u12")', "a bad escape"),
        ('do("\\UFFFFFFFF")', "a bad escape"),
        ('do("\\ud800")', "half a character"),
        ("do(a=1, a=2)", "do got a twice"),
        ("do(a=1, 2)", "a value without a name"),
        ("do(do(do(1)))", "do must stand in quotes"),
    ],
)
def test_what_is_wrong_is_said(text, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        call(text)


def test_calls_begin_outside_comments_and_other_names():
    assert find(FUNCTIONS, "undo(1) page.do(1) redo (2) do") is None
    text = "# do(1)\n  # I may exit(2)\nthen go_backward()"
    begin = find(FUNCTIONS, text)
    assert begin is not None
    assert begin[1] == "go_backward"
    _, end = read(text, begin)
    assert end == len(text)
    assert find(FUNCTIONS, text, end) is None


def test_values_are_bound_to_parameters():
    parameters = ("action", "argument", "element")
    assert call('do("Click", None, 7)').bound(parameters) == {"action": "Click", "element": "7"}
    for text, reason in (
        ("do(1, 2, 3, 4)", "do takes at most 3 values, not 4"),
        ('do("Click", action="Click")', "do got action twice"),
        ("do(id=7)", 'do has no argument "id"; it takes action, argument, element'),
    ):
        with pytest.raises(ValueError, match=reason):
            call(text).bound(parameters)


@settings(max_examples=500)
@given(st.text(), st.text(max_size=5))
def test_what_was_written_is_read_back(first, second):
    text = write("do", {"argument": first, "element": second}, re.compile("[<&]"))
    assert "<" not in text and "\n" not in text
    assert call(text).named == {"argument": first, "element": second}


tokens = ["do(", "do", "(", ")", ",", "=", '"', "'", "“", "’", "\\", "\\u", "#", "\n", "a", "7", "None"]
pieces = st.sampled_from(tokens)


@settings(max_examples=1000)
@given(st.lists(pieces | st.text(max_size=4), max_size=14).map("".join))
def test_any_text_is_a_call_or_an_error(text):
    begin = find(FUNCTIONS, text)
    if begin is None:
        return
    try:
        _, end = read(text, begin)
    except ValueError:
        return
    assert begin.start() < end <= len(text)


UNITS = ["do(", "do ", "#", "# do(\n", " ", "\\", 'do("', '"a",', "a=1,", "9", "a", "a =", "“", "\\u0041", "do(1) "]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("opening", ["", "do(", 'do("'])
def test_time_grows_no_faster_than_the_text(opening, unit):
    text = opening + unit * (500_000 // len(unit))
    started = time.process_time()
    begin = find(FUNCTIONS, text)
    if begin is not None:
        with suppress(ValueError):
            read(text, begin)
    assert time.process_time() - started < 5
