"""The examples of docs/gymnasium.md run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from webdojo.browser.tools import TOOLS

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "gymnasium.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
SAYS = [r'done: "42" 0\.0 True$', r"\A(\w.+\n){2}\w.+\Z", r"^Click Test Task http://miniwob\.localhost/"]
"""What each of them prints; the vector, three instructions."""


@pytest.mark.parametrize(
    ("example", "says"),
    [*zip(EXAMPLES, SAYS, strict=True)],
    ids=["environment", "vector", "miniwob"],
)
def test_an_example_runs(example, says):
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.search(says, done.stdout.strip()), done.stdout


def test_the_table_of_tools_is_that_of_the_code():
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", GUIDE, re.MULTILINE)
    assert rows == [(str(number), name) for number, name in enumerate(TOOLS)]
