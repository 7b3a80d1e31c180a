"""The pictures of the documentation are those that code, records and results give now, and each has its place."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from scripts.pictures import NAMES, file_of
from scripts.pictures.canvas import Canvas
from scripts.pictures.record import group, lasting, recorded
from scripts.screenshots import file_of as screenshot_of
from scripts.screenshots import screenshots, words_of

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = {
    Path(target).name: alt
    for page in PAGES
    for alt, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text())
}
"""The alternative text of each image of the pages, by its file."""


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_what_would_be_drawn_now(name):
    drawn = importlib.import_module(f"scripts.pictures.{name}").picture()
    assert file_of(name).read_text() == drawn, "run: make docs-pictures"


@pytest.mark.integration
async def test_a_screenshot_shows_what_its_page_says_now():
    now = {name: taken.words async for name, taken in screenshots()}
    assert {name: words_of(screenshot_of(name)) for name in now} == now, "run: make docs-pictures"


def test_every_image_is_shown_somewhere_and_says_what_it_shows():
    assert {file.name for file in (ROOT / "docs" / "images").iterdir()} == set(SHOWN)
    assert [name for name, alt in SHOWN.items() if len(alt.split()) < 4] == []


@pytest.mark.integration
async def test_the_recorded_episodes_end_as_they_would_now():
    members, _ = await group()
    assert [lasting(each) for each in recorded()] == [lasting(each) for each in members], "run: make docs-pictures"


def test_a_text_that_does_not_fit_is_not_drawn():
    canvas = Canvas(100, "Boxes")
    canvas.box(10, 10, 120, 40, "an episode")
    with pytest.raises(ValueError, match=r"'an episode of many words' is .*, which does not fit"):
        canvas.box(10, 10, 120, 40, "an episode of many words")
