"""What `webdojo analyze` shows: tables as text, and a folder with them as Parquet, plots and one page."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from webdojo.loops.analysis.parquet import write_parquet
from webdojo.loops.analysis.table import HIGH, ITERATION, LOW, PHASE, RUN, Cell, Column, Kind, Row, Table
from webdojo.progress import plural
from webdojo.store.files import write_atomic
from webdojo.view.page import number, percent, write_page
from webdojo.view.plots import plots
from webdojo.view.tables import new_table

PAGE, TEXT = "analysis.html", "tables.txt"
SHOWN, SHOWN_ON_PAGE = 10, 100
"""How many rows of a phase are printed, and how many a page shows."""
_ORDERED = (ITERATION.name, "max_steps", "step")
"""Columns along which a long table is thinned out; others are cut after the first rows."""


def analysis_texts(tables: Sequence[Table]) -> Iterator[RenderableType]:
    """Each table with its notes, and a line for each run that has no data for it."""
    for table in tables:
        title = f"{table.title} ({table.paper})"
        rows = thinned(table, SHOWN)
        if rows:
            yield _text_table(title, table, rows)
            if len(rows) < len(table.rows):
                yield f"{len(rows)} of {plural(len(table.rows), 'row')}; --out writes them all"
        else:
            yield Text(title, style="italic")
        yield from (Text(printable(line)) for line in (*table.notes, *table.missing))
        yield ""


def _text_table(title: str, table: Table, rows: Sequence[Row]) -> RichTable:
    """Texts before numbers, an interval in one column, and no column of nothing."""
    columns = [
        column for column in table.columns if column.brief and any(row[table.places[column.name]] for row in rows)
    ]
    texts = [column for column in columns if column.kind is Kind.TEXT]
    rest = [column for column in columns if column.kind is not Kind.TEXT and column.name not in (LOW, HIGH)]
    bounds = [table.places[name] for name in (LOW, HIGH) if name in table.places]
    headings = [*map(_heading, rest), *(["95 %\ninterval"] if bounds else [])]
    shown = new_table(title, [*map(_heading, texts)], headings)
    for row in rows:
        cells = [cell_text(column, row[table.places[column.name]]) for column in (*texts, *rest)]
        interval = [_interval([row[place] for place in bounds])] if bounds else []
        shown.add_row(*(Text(cell) for cell in (*cells, *interval)))
    return shown


def _interval(bounds: Sequence[Cell]) -> str:
    return " .. ".join(f"{bound:.0%}" for bound in bounds if isinstance(bound, float))


def analysis_json(tables: Sequence[Table]) -> dict[str, Any]:
    """All rows by the name of the question."""
    return {
        table.name: {
            "rows": [dict(zip(table.places, row, strict=True)) for row in table.rows],
            "notes": list(table.notes),
            "missing": list(table.missing),
        }
        for table in tables
    }


def write_analysis(folder: Path, name: str, tables: Sequence[Table]) -> Path:
    """Write tables as `QUESTION.parquet` and into `tables.txt`, plots as `QUESTION-PLOT.svg` and `.png`, and a page.

    Returns the page. It loads nothing: plots are inside.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sections = []
    for table in tables:
        drawn = []
        for plot, svg, png in plots(table):
            for ending, data in (("svg", svg), ("png", png)):
                write_atomic(folder / f"{table.name}-{plot.name}.{ending}", data)
            drawn.append((plot.title, Markup("data:image/svg+xml;base64,") + base64.b64encode(svg).decode()))
        if table.rows:
            write_parquet(table, folder / f"{table.name}.parquet")
        rows = thinned(table, SHOWN_ON_PAGE)
        cells = [[cell_text(*each) for each in zip(table.columns, row, strict=True)] for row in rows]
        sections.append((table, drawn, cells))
    with (folder / TEXT).open("w") as file:
        console = Console(file=file, width=160)
        for each in analysis_texts(tables):
            console.print(each)
    return write_page(folder / PAGE, "analysis.html.j2", name=name, sections=sections)


def thinned(table: Table, most: int) -> list[Row]:
    """About so many rows of each phase and run: those of evenly spread values of a column that counts up, and otherwise
    the first."""
    keys = [table.places[name] for name in (RUN.name, PHASE.name) if name in table.places]
    ordered = next((table.places[name] for name in _ORDERED if name in table.places), None)
    found: list[Row] = []
    for _, group in groupby(table.rows, lambda row: [row[key] for key in keys]):
        rows = list(group)
        if ordered is None:
            found += rows[:most]
            continue
        values = sorted({int(row[ordered] or 0) for row in rows})
        places = max(3, most * len(values) // len(rows))  # a value may have several rows
        kept = {values[round(n * (len(values) - 1) / (places - 1))] for n in range(places)}
        found += [row for row in rows if int(row[ordered] or 0) in kept]
    return found


def cell_text(column: Column, cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return printable(cell)
    if column.kind is Kind.COUNT:
        return f"{cell:,.0f}"
    return percent(cell, 1) if column.kind is Kind.SHARE else number(cell)


def printable(text: str) -> str:
    """A text without what would move the cursor of a terminal or turn the direction of writing."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _heading(column: Column) -> str:
    return "iter." if column == ITERATION else column.name.replace("_", "\n")
