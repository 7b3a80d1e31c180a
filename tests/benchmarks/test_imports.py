"""Benchmarks and scripts, most of which no test runs in full, import names that exist."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [file for folder in ("benchmarks", "scripts") for file in sorted((ROOT / folder).glob("*.py"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_file_imports_of_the_package_exists(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "webdojo":
            exec(f"from {node.module} import {', '.join(alias.name for alias in node.names)}", {})
        elif isinstance(node, ast.Import):
            for name in (alias.name for alias in node.names if alias.name.split(".")[0] == "webdojo"):
                import_module(name)
