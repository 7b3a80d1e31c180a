"""The calls of tools by which models answer say what their argument says."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.values import number, winner

COUNT = "How many chairs are there?"
MORE = "Which has more views: Oak Hall or Pine Road?"
OAK = winner([("Oak Hall",), ("Pine Road",)], 0, (9, 3))
CALLS = (
    'done(text="{}", success=True)', "finish(answer='{}')", "stop [{}]", "```stop [{}]```", "Action: finish[{}]",
    '{{"action": [{{"done": {{"text": "{}", "success": true}}}}]}}', '{{"answer": "{}", "success": true}}',
    '<tool_call>\n{{"name": "finish", "arguments": {{"answer": "{}", "success": true}}}}\n</tool_call>',
    "$\\boxed{{{}}}$", "$$\\boxed{{\\text{{{}}}}}$$",
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_call_says_what_its_argument_says(call: str) -> None:
    assert says(OAK, call.format("Oak Hall"), MORE)
    assert not says(OAK, call.format("Pine Road"), MORE)
    assert says(number(21), call.format(21), COUNT)
    assert not says(number(21), call.format(22), COUNT)


def test_a_call_that_says_that_it_failed_contradicts_itself() -> None:
    assert not says(OAK, '{"done": {"text": "Oak Hall", "success": false}}', MORE)
    assert not says(number(21), 'done(text="21", success=False)', COUNT)
