"""What `webdojo analyze` prints and writes, also of names that were made to do harm."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from rich.console import Console

from tests.loops.analysis.made import episode, step
from tests.view.demo_run import HOSTILE
from webdojo.loops.analysis.analyze import analyze, chosen
from webdojo.loops.analysis.table import Table
from webdojo.store.run import RunStore
from webdojo.view.analyzing import analysis_json, analysis_texts, thinned, write_analysis
from webdojo.view.plots import plots

SITES = [HOSTILE, "[red]$\\frac{1}{$", "\x1b[31m\u202egpj.exe\n", "漢字" * 60, "_a.test", "a.test", ""]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run whose web sites have such names, with enough iterations for three phases."""
    with RunStore.create(tmp_path / "run", "name: quickstart\n", {"seed": 0}) as store:
        for n, site in enumerate(SITES):
            think = "So far <script>alert(1)</script> a captcha."
            made = episode(f"e{n}", step(think, memory='{"a": 1}'), step(think, same=True), website="a.test", kind=site)
            made.task.website = site
            assert made.reward is not None
            made.reward.success = n % 2 == 0
            store.add_trajectory(made, "eval", 0)
            for iteration in range(1, 13):
                again = made.model_copy(update={"id": f"e{n}-{iteration}"})
                store.add_trajectory(again, "rl", iteration)
    return tmp_path / "run"


def printed(tables: list[Table], width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    for each in analysis_texts(tables):
        console.print(each)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_folder_has_every_table_and_plot_and_nothing_warns(hostile: Path, tmp_path: Path) -> None:
    tables = analyze([hostile])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = write_analysis(tmp_path, "run", tables)
    drawn = {file.stem for file in tmp_path.glob("*.svg")}
    assert drawn == {f"{table.name}-{plot.name}" for table in tables if table.rows for plot in table.plots}
    assert drawn == {file.stem for file in tmp_path.glob("*.png")}
    assert {file.stem for file in tmp_path.glob("*.parquet")} == {table.name for table in tables if table.rows}
    for file in tmp_path.glob("*.svg"):
        root = ElementTree.parse(file).getroot()
        assert not [each for each in root.iter() if each.tag.endswith(("script", "}text", "foreignObject"))]
    for file in tmp_path.glob("*.png"):
        with Image.open(file) as image:
            assert min(image.size) > 300
    assert "Success by web site" in (tmp_path / "tables.txt").read_text()
    html = page.read_text()
    assert "<script>document.title" not in html and "&lt;script&gt;document.title" in html
    assert "Agreement of judges" in html and "no judge has judged its episodes again" in html


def test_the_same_tables_are_drawn_alike(hostile: Path) -> None:
    (table,) = analyze([hostile], questions=chosen(["lengths"]))
    first, second = ([drawn.svg for drawn in plots(table)] for _ in range(2))
    assert first == second


def test_a_terminal_is_not_steered_by_what_is_printed(hostile: Path) -> None:
    text = printed(analyze([hostile]))
    assert "\x1b[31m" not in text and "\u202e" not in text
    assert "[red]$" in text.replace("\n", "")


def test_tables_fit_into_eighty_characters(hostile: Path) -> None:
    text = printed(analyze([hostile]))
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_long_tables_are_thinned_and_say_so(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", "name: quickstart\n", {"seed": 0}) as store:
        for iteration in range(1, 61):
            store.add_trajectory(episode(f"a{iteration}", step("It is here.")), "rl", iteration)
    lengths, lexical = analyze([tmp_path / "run"], questions=chosen(["lengths", "lexical_proxies"]))
    shown = thinned(lengths, 10)
    assert [row[1] for row in shown][::9] == [1, 60] and len(shown) == 10
    assert {row[1] for row in thinned(lexical, 10)} == {1, 31, 60}
    assert "10 of 60 rows; --out writes them all" in printed([lengths])
    found = analysis_json([lengths, lexical])
    assert len(found["lengths"]["rows"]) == 60 and found["lengths"]["rows"][0]["episodes"] == 1


def test_several_runs_stand_side_by_side(hostile: Path, tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "other", "name: quickstart\n", {"seed": 0}) as store:
        store.add_trajectory(episode("a", step("It is here.")), "rl", 1)
    tables = analyze([hostile, tmp_path / "other"])
    write_analysis(tmp_path / "out", "run, other", tables)
    text = printed(tables)
    assert "other: no scored episode notes a memory" in text and "run: no judge" in text
