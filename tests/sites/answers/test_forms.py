"""The calls of tools by which models answer say what their argument says."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.values import among, missing, number, refused, text, winner

COUNT = "How many chairs are there?"
MORE = "Which has more views: Oak Hall or Pine Road?"
OAK = winner([("Oak Hall",), ("Pine Road",)], 0, (9, 3))
CALLS = (
    'done(text="{}", success=True)', "finish(answer='{}')", "stop [{}]", "```stop [{}]```", "Action: finish[{}]",
    '{{"action": [{{"done": {{"text": "{}", "success": true}}}}]}}', '{{"answer": "{}", "success": true}}',
    '<tool_call>\n{{"name": "finish", "arguments": {{"answer": "{}", "success": true}}}}\n</tool_call>',
    '{{"name": "computer_use", "arguments": {{"action": "answer", "text": "{}"}}}}',
    '{{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["{}"], "error_details": null}}',
    "Thought: I think that this was all.\nAction: finished(content='{}')",
    "Thought: I looked at both. I now know it.\nFinal Answer: {}",
    "Let's think step-by-step. I have it. In summary, the next action I will perform is ```stop [{}]```",
    "I looked at both pages.\n\n\\boxed{{{}}}", "$\\boxed{{{}}}$", "$$\\boxed{{\\text{{{}}}}}$$",
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


@pytest.mark.parametrize("said", ["Oak Hall has more views.\n\n\\boxed{{{}}}", "Oak Hall has more views.\nFinal: {}"])
def test_a_box_and_the_words_before_it_must_agree(said: str) -> None:
    assert says(OAK, said.format("Oak Hall"), MORE)
    assert not says(OAK, said.format("Pine Road"), MORE)


def test_a_figure_alone_at_the_end_is_the_answer() -> None:
    views = among([winner([("Oak Hall",), ("Pine Road",)], 0, (9, 3), by_figure=True), number(9)])
    question = "Tell me the higher number of views of Oak Hall and Pine Road."
    for end in ("\n\n\\boxed{{{}}}", "\n\n{}"):
        assert says(views, "The higher number of views is 9." + end.format(9), question)
        assert not says(views, "The higher number of views is 9." + end.format(3), question)


def test_a_record_that_says_two_things_says_neither() -> None:
    assert not says(number(21), '{"answer": 21, "answer": 22}', COUNT)


def test_the_words_of_an_error_are_the_answer() -> None:
    def error(words: str, status: str = "NOT_FOUND_ERROR", data: str = "null") -> str:
        return f'{{"task_type": "NAVIGATE", "status": "{status}", "retrieved_data": {data}, "error_details": {words}}}'

    lamp, sold_out = missing("Red Lamp"), refused("sold out")
    there_is_none = '"There is no Red Lamp on this site."'
    assert says(lamp, error(there_is_none), "Open Red Lamp.")
    assert says(sold_out, error('"It cannot be done: it is sold out."', "ACTION_NOT_ALLOWED_ERROR"), "Buy Red Lamp.")
    assert not says(lamp, error(there_is_none, "SUCCESS"), "Open Red Lamp.")
    assert not says(lamp, error(there_is_none, data='"Red Lamp"'), "Open Red Lamp.")
    assert not says(lamp, error('"There is no Blue Lamp on this site."'), "Open Red Lamp.")
    assert not says(lamp, error("null"), "Open Red Lamp.")
    assert not says(number(21), error('"There are 22 chairs."'), COUNT)


def test_what_a_record_tells_of_the_run_is_no_answer() -> None:
    record = (
        '{{"status": "finished", "answer": "{}", "steps_taken": {}, "seconds": 44.1, '
        '"final_url": "http://news-1.localhost/pine-road"{}}}'
    )
    assert says(OAK, record.format("Oak Hall", 15, ""), MORE)
    assert not says(OAK, record.format("Pine Road", 15, ""), MORE)
    assert not says(OAK, record.format("Oak Hall", 15, ', "note": "or Pine Road"'), MORE)
    assert says(number(21), record.format(21, 15, ""), COUNT)
    assert not says(number(21), record.format(22, 21, ""), COUNT)


def test_quotation_marks_inside_of_a_call_are_of_the_name() -> None:
    assert says(text("Cat's Eye"), "finished(content='Cat\\'s Eye')", "What is the title of the oldest article?")


TABLES = (
    "| | Oak Hall | Pine Road |\n|---|---|---|\n| views | 9 | 3 |\n| Higher? | {} | {} |",
    "| | Oak Hall | Pine Road |\n|---|---|---|\n| Highest | {} | {} |",
    "| Name | Views | Higher? |\n|---|---|---|\n| Oak Hall | 9 | {} |\n| Pine Road | 3 | {} |",
)


@pytest.mark.parametrize("table", TABLES)
def test_a_tick_says_what_stands_above_or_beside_it(table: str) -> None:
    assert says(OAK, table.format("✅", "❌"), MORE)
    assert says(OAK, table.format("✓", ""), MORE)
    assert not says(OAK, table.format("❌", "✅"), MORE)
    assert not says(OAK, table.format("✅", "✅"), MORE)


def test_a_table_with_names_as_heads_gives_each_its_figure() -> None:
    table = "| | Oak Hall | Pine Road |\n|---|---|---|\n| views | {} | {} |\n\nSo Oak Hall has more views."
    assert says(OAK, table.format(9, 3), MORE)
    assert not says(OAK, table.format(3, 9), MORE)
