"""The base of every section of a recipe. Each section stands beside the code that reads it; `recipe.py` gathers them.

A module that defines a section imports nothing heavy, so that `--help` and a refusal of bad input load no torch.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of a recipe: each field is a key with its default and, right under it, its docstring."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)
