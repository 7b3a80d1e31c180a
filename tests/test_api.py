"""The public names: they are there, documented, and their examples work."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

import webdojo


@pytest.mark.parametrize("name", webdojo.__all__)
def test_the_example_of_a_public_name_works(name: str) -> None:
    found = getattr(webdojo, name)
    assert found.__doc__
    results = [doctest.DocTestRunner().run(test) for test in doctest.DocTestFinder(recurse=False).find(found, name)]
    assert not any(result.failed for result in results)
    is_function = name.islower()
    assert any(result.attempted for result in results) or not is_function or "Example: see" in found.__doc__


def test_the_names_are_those_that_the_package_lists() -> None:
    assert sorted(webdojo.__all__) == webdojo.__all__
    assert set(webdojo.__all__) <= set(dir(webdojo))
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        webdojo.trian  # noqa: B018


def test_the_table_of_the_page_names_what_the_page_documents() -> None:
    page = (Path(__file__).parent.parent / "docs" / "api.md").read_text()
    documented = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    named = re.findall(r"^\| `(\S+)` \|", page, re.MULTILINE)
    assert [resolve_name(name) for name in named] == [resolve_name(name) for name in documented]


def test_importing_the_package_brings_nothing_heavy() -> None:
    script = "import sys, webdojo; print(*{'torch', 'pydantic', 'playwright'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "\n"
