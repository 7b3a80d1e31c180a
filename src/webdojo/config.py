"""The base of every section of a recipe. Each section stands beside the code that reads it; `recipe.py` gathers them.

A module that defines a section imports nothing heavy, so that `--help` and a refusal of bad input load no torch.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from webdojo.errors import Missing, WebdojoError, one_line

S = TypeVar("S", bound=BaseModel)

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Section(BaseModel):
    """A part of a recipe: each field is a key with its default and, right under it, its docstring."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)


def read_section(path: Path, section: type[S], what: str, error: type[WebdojoError]) -> S:
    """The section that a YAML file holds; an `error` of one line says what is wrong with the file, which is `what`."""
    try:
        return section.model_validate(yaml.safe_load(path.read_text()))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as failed:
        raise error(f"{what} {str(path)!r} cannot be read: {one_line(failed)}") from None
    except ValidationError as failed:
        first = failed.errors()[0]
        at = ".".join(map(str, first["loc"])) or "the file"
        raise error(f"{what} {str(path)!r}: {at}: {first['msg']}") from None


def with_environment(value: str, key: str) -> str:
    """A value with each `${NAME}` replaced by that environment variable, which keeps secrets out of recipes.

    Raises:
        Missing: one is not set; `key` names the value.
    """
    for name in _VARIABLE.findall(value):
        if name not in os.environ:
            raise Missing(f"{key} is {value!r}, and {name} is not in the environment: set it")
    return _VARIABLE.sub(lambda found: os.environ[found[1]], value)
