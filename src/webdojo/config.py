"""The base of every section of a recipe. Each section stands beside the code that reads it; `recipe.py` gathers them.

A module that defines a section imports nothing heavy, so that `--help` and a refusal of bad input load no torch.
"""

from __future__ import annotations

import os
import re

from pydantic import BaseModel, ConfigDict

from webdojo.errors import Missing

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Section(BaseModel):
    """A part of a recipe: each field is a key with its default and, right under it, its docstring."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)


def with_environment(value: str, key: str) -> str:
    """A value with each `${NAME}` replaced by that environment variable, which keeps secrets out of recipes.

    Raises:
        Missing: one is not set; `key` names the value.
    """
    for name in _VARIABLE.findall(value):
        if name not in os.environ:
            raise Missing(f"{key} is {value!r}, and {name} is not in the environment: set it")
    return _VARIABLE.sub(lambda found: os.environ[found[1]], value)
