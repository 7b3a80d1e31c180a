"""The table of plugs in `docs/plugs.md` says what the code demands of each, and no more."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from webdojo.cli.parts import plugs

PAGE = (Path(__file__).parent.parent / "docs" / "plugs.md").read_text()
ROWS = [
    [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE[PAGE.index("| key | entry points |") :].splitlines()[2:]
    if line.startswith("| ")
]
NOT_ABSTRACT = {"EngineConfig": {"open"}, "Engine": {"generate"}}
"""Methods that must be written and are not marked so: one that raises, and one of a protocol."""


def said(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def signature(name: str, function: Any) -> str:
    """A function as the table writes it, without `self`."""
    found = inspect.signature(function)
    parameters = [
        f"{each.name}: {each.annotation}{'' if each.default is each.empty else ' = …'}"
        for each in found.parameters.values()
        if each.name != "self"
    ]
    asynchronous = "async " if inspect.iscoroutinefunction(function) else ""
    return f"{asynchronous}{name}({', '.join(parameters)}) -> {found.return_annotation}"


def demanded(plug: Any) -> set[str]:
    if inspect.isfunction(plug):
        return {signature(plug.__name__, plug)}
    if dataclasses.is_dataclass(plug):
        return {f"{each.name}: {each.type}" for each in dataclasses.fields(plug) if each.default is dataclasses.MISSING}
    names = NOT_ABSTRACT.get(plug.__name__) or plug.__abstractmethods__
    return {signature(name, getattr(plug, name)) for name in names}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: said(row[2])[-1])
def test_a_row_has_the_signatures_of_the_code(row: list[str]) -> None:
    module, _, name = said(row[2])[-1].rpartition(".")
    assert set(said(row[3])) == demanded(getattr(importlib.import_module(module), name))


def test_every_plug_has_a_row() -> None:
    told = {said(row[0])[0]: said(row[1])[0] for row in ROWS if said(row[0])}
    assert told == {key: registry.group for key, registry in plugs().items() if key != "env.kinds"}
