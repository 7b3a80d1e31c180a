"""What every block of the documentation names is there: modules and their names, commands, options and keys.

Pages that show a whole way are executed besides (`test_howtos.py`, `test_your_own.py`, `test_readme.py` and others).
"""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

from webdojo.cli import app
from webdojo.cli.keys import recipe_for
from webdojo.recipe import recipe_names

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r'^ *```(\w+)(?: title="[^"]+")?\n(.*?)^ *```', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_imports_is_there(page: Path) -> None:
    for language, block in BLOCK.findall(page.read_text()):
        for module, names in imported(block) if language == "python" else ():
            missing = [name for name in names if not has(module, name)]
            assert not missing, f"{module} has no {missing}"


def has(module: str, name: str) -> bool:
    """Whether a module has a name; by its source where it needs a package that only another environment has."""
    try:
        return hasattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        file = (ROOT / "src" / module.replace(".", "/")).with_suffix(".py")
        return re.search(rf"^(class|def|async def) {name}\b|^{name}\b", file.read_text(), re.MULTILINE) is not None


def imported(block: str) -> Iterator[tuple[str, list[str]]]:
    """The modules of webdojo that a block imports, and which of their names."""
    code = block.replace("…", "...")
    if code.startswith(">>>"):
        code = "".join(each.source for each in doctest.DocTestParser().get_examples(code))
    for node in ast.walk(ast.parse(code)):
        found: list[tuple[str, list[str]]] = []
        if isinstance(node, ast.ImportFrom):
            found = [(node.module or "", [each.name for each in node.names])]
        elif isinstance(node, ast.Import):
            found = [(each.name, []) for each in node.names]
        yield from (each for each in found if each[0].split(".")[0] == "webdojo")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_types_is_a_command_with_these_options_and_keys(page: Path) -> None:
    found = BLOCK.findall(page.read_text())
    for (language, block), (_, then) in zip(found, [*found[1:], ("", "")], strict=False):
        if language == "bash" and not then.startswith("error: "):
            for line in block.replace("\\\n", " ").splitlines():
                for words in typed(line):
                    check(words)


def typed(line: str) -> Iterator[list[str]]:
    """The words after each `webdojo` that a line of bash runs."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    try:
        left = list(lexer)
    except ValueError:  # a quotation that goes on in the next line
        return
    while "webdojo" in left:
        left = left[left.index("webdojo") + 1 :]
        words = list(takewhile(lambda word: not set(word) <= set("|&;<>"), left))
        if words:
            # `…` stands for a value, or for any overrides.
            yield [word for before, word in pairwise(["", *words]) if word != "…" or before.startswith("--")]


def check(words: list[str]) -> None:
    """Parse a command as the command line does, and load its recipe where the package has it."""
    command: Any = typer.main.get_command(app)
    name = ""
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words[0]]
        name = f"{name} {words.pop(0)}".strip()
    assert name, f"there is no command {words}"
    given = command.make_context(name, words).params
    recipe, overrides, model = (given.get(key) for key in ("recipe_name", "overrides", "model"))
    if recipe in recipe_names() and not any("./" in each for each in overrides or []):
        at_endpoint = given.get("endpoint") or str(model).startswith("http")
        recipe_for(name, recipe, list(overrides or []), ["engine.name=chat"] if at_endpoint else [])


@pytest.mark.integration
def test_the_browser_alone_does_what_its_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    block = next(
        text for language, text in BLOCK.findall((ROOT / "docs/browser.md").read_text()) if language == "python"
    )
    exec(compile(block, "browser.md", "exec"), {})
    feedback, seen = capsys.readouterr().out.splitlines()
    assert feedback.startswith("scroll down 0.5: ")
    assert re.fullmatch(r"http://shop-0.localhost/ [1-9]\d+ bytes", seen)
