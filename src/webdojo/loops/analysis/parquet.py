"""Tables as Parquet, for programs that go on with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.errors import ConfigError
from webdojo.loops.analysis.table import Kind, Table
from webdojo.store.files import replacing, writing


def arrow() -> Any:
    """The library that writes Parquet.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise ConfigError(
            "Parquet needs the package 'pyarrow', which is not installed: pip install 'webdojo[analysis]'"
        ) from None
    return pyarrow


def write_parquet(table: Table, file: Path) -> None:
    """Write all rows; a column of texts, of whole numbers or of numbers each, where an empty cell is null."""
    library = arrow()
    types = {Kind.TEXT: library.string(), Kind.COUNT: library.int64()}
    columns = {
        column.name: library.array(table.column(column.name), types.get(column.kind, library.float64()))
        for column in table.columns
    }
    with writing(file), replacing(file) as target:
        library.parquet.write_table(library.table(columns), target)
