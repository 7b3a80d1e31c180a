"""Cookies and local storage that a session begins with, as Playwright's `storage_state` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from webdojo.errors import ConfigError

StorageState = dict[str, Any]
"""Plain JSON with `cookies` and `origins`."""


def read_storage_state(file: str, named_by: str) -> StorageState | None:
    """Read a storage state from a file; return None if its name is empty.

    Args:
        named_by: the key or task that names the file, for the error.

    Raises:
        ConfigError: there is no such file, or Playwright did not write it.
    """
    if not file:
        return None
    try:
        state = json.loads(Path(file).read_text())
        well_formed = isinstance(state, dict) and {"cookies", "origins"} & state.keys()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{named_by} {file!r} cannot be read: {' '.join(str(error).split())}") from None
    if not well_formed:
        raise ConfigError(f"{named_by} {file!r} has no 'cookies' and no 'origins': save one with Playwright")
    return dict(state)
