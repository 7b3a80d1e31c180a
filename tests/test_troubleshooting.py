"""Every line that `docs/troubleshooting.md` says is printed is in the code, and every key that it names is in a recipe.

A message is the code span that begins a row of a table headed "it prints"; `…` in it stands for any text.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
VALUE = "\0"
"""Stands for what is filled in when a message is made."""
PLACEHOLDER = re.compile(r"%[.\d]*[sdgf]")
"""Where `logging` fills a value in."""
KEY = re.compile(
    r"`(?:reward\.(?=engine\.))?((?:browser|cluster|engine|env|model|reward|rollout|tasks|train)\.[a-z_.]+)"
)


def messages(page: str) -> list[str]:
    tables = re.findall(r"^\| it prints \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", page, re.MULTILINE)
    return [re.match(r"\| `([^`]+)` \|", row)[1] for table in tables for row in table.splitlines()]  # type: ignore[index]


def text(node: ast.expr) -> str:
    """A string expression with `VALUE` in place of whatever is not constant."""
    match node:
        case ast.Constant(value=str(value)):
            return PLACEHOLDER.sub(VALUE, value)
        case ast.JoinedStr(values=parts):
            return "".join(map(text, parts))
    return VALUE


@cache
def printed() -> list[str]:
    """The strings of the source, but for its docstrings."""
    nodes = [n for file in (ROOT / "src" / "webdojo").rglob("*.py") for n in ast.walk(ast.parse(file.read_text()))]
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = (node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in docstrings)
    return sorted({*map(text, strings)})


def is_printed(message: str) -> bool:
    pattern = re.compile(".*".join(map(re.escape, message.split("…"))), re.DOTALL)
    return any(map(pattern.search, printed()))


def test_the_page_has_messages():
    assert len(messages(PAGE)) > 30


@pytest.mark.parametrize("message", messages(PAGE))
def test_the_code_prints_what_the_page_says(message):
    assert re.search(r"[a-z]{3}.*[a-z]{3}", message), "it has too few words of its own to be looked for"
    assert is_printed(message)


@pytest.mark.parametrize("message", ["no Chromium found; …", "… already holds a run: …, or delete it"])
def test_a_message_that_has_changed_is_noticed(message):
    assert not is_printed(message)


def test_every_key_of_the_page_is_in_the_recipe_reference():
    reference = (ROOT / "docs" / "recipes.md").read_text()
    keys = {key.rstrip(".") for key in KEY.findall(PAGE)}
    assert len(keys) > 15
    assert sorted(key for key in keys if f"`{key}`" not in reference and f"`{key}." not in reference) == []
