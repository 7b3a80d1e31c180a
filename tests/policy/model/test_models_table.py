"""The table of docs/models.md against layouts and tests."""

from __future__ import annotations

import re
from pathlib import Path

from tests.policy.conftest import FAMILIES, FOREIGN
from webdojo.policy.model.layouts import LAYOUTS

PAGE = Path(__file__).parents[3] / "docs" / "models.md"
ROW = re.compile(r"^\| [^|]+ \| `(\w+)` \| (\w+) \| (\w+) \| ([\w ]+) \|$", re.MULTILINE)


def test_the_table_says_what_is_so() -> None:
    told = {kind: (engine, learner, prompts) for kind, engine, learner, prompts in ROW.findall(PAGE.read_text())}
    paths = {True: ("shared", "packed"), False: ("plain", "plain")}
    layouts = {kind: (*paths[layout.shares], "layout") for kind, layout in LAYOUTS.items()}
    assert FAMILIES.keys() == LAYOUTS.keys(), "every layout is tried"
    assert told == layouts | dict.fromkeys(FOREIGN, ("plain", "plain", "read off"))
