"""Prints docs/recipes.md: every key of a recipe with its type, default and docstring, read from the code itself."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from webdojo.plugins import Plug, Registry, slot_of
from webdojo.recipe import PLUGS, Recipe

HEAD = """\
# Recipe reference

A recipe is one YAML file with everything that a run needs. Name one of the package
(`webdojo train quickstart`) or give a path (`webdojo train mine.yaml`). A key that is left out has the
default below; an unknown key is an error that names the nearest one. `section.key=value` on the command
line changes a single key; `--dry-run` prints the keys that differ from their defaults, and `--dry-run --full` all of
them. `base: openwebrl`, or a path beside the file, takes another recipe's keys wherever the file sets none.
Files that a recipe names are looked for beside it, and then in the working folder; those of the command line in the
working folder.

The sections `env`, `reward`, `harness`, `engine` and `tasks.sampler` are plugs: `name` says which one, and the other
keys are its own. The name alone, as in `env=dojo reward=rules`, is that plug with its defaults. Below are those that
are built in; an installed package may bring more, and your own is named `./file.py:Name` or `package.module:Name`.

This page is written by `make docs` from the sections in the code.
"""


def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The string under each field, inherited ones included, which Python itself does not keep."""
    found = {}
    for part in [part for part in reversed(model.__mro__) if issubclass(part, BaseModel) and part is not BaseModel]:
        body = ast.parse(textwrap.dedent(inspect.getsource(part))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, after in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
                text = ast.literal_eval(after.value)
                found[field.target.id] = " ".join(str(text).split())
    return found


def type_name(annotation: Any) -> str:
    """As a reader of the recipe would write it, safe in a table cell."""
    plain = isinstance(annotation, type) and not get_args(annotation)
    name = annotation.__name__ if plain else re.sub(r"\b(typing|webdojo[\w.]*)\.(?=\w)", "", str(annotation))
    name = re.sub(r"Annotated\[(\w+), FieldInfo\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\]", r"\1", name)
    return name.replace("|", r"\|")


def entries(annotation: Any) -> list[type[BaseModel]]:
    """The section that the entries of a list are, if they are."""
    return [a for a in get_args(annotation) if isinstance(a, type) and issubclass(a, BaseModel)]


def elsewhere(field: FieldInfo) -> str:
    """The section whose keys a field of a plug has too; empty where it has keys of its own."""
    slot = slot_of(field)
    for name, section in Recipe.model_fields.items():
        other = slot_of(section)
        if slot and other and slot.registry is other.registry:
            return name
        if not slot and not other and field.annotation is section.annotation and isinstance(field.default, BaseModel):
            return name
    return ""


def rows(prefix: str, model: type[BaseModel], defaults: BaseModel | None) -> list[str]:
    """Table rows of one section; sections inside it follow in place with dotted names."""
    notes, out = docstrings(model), []
    for name, field in model.model_fields.items():
        value = field.default if defaults is None else defaults.__dict__[name]
        if prefix and (same := elsewhere(field)):
            note = f"{notes.get(name, '')} Its keys are those of [{same}](#{same})."
            shown = f"`{value.name}`" if isinstance(value, Plug) else ""
            out.append(f"| `{prefix}{name}` | {type_name(field.annotation)} | {shown} | {note} |")
        elif prefix and isinstance(value, Plug):
            note = f"{notes.get(name, '')} Each one's keys are below."
            out.append(f"| `{prefix}{name}` | {type_name(field.annotation)} | `{value.name}` | {note} |")
        elif isinstance(value, BaseModel):
            out += rows(f"{prefix}{name}.", type(value), value)
        else:
            default = "required" if field.is_required() else f"`{value!r}`"
            note = notes.get(name, "").replace("|", r"\|")
            out.append(f"| `{prefix}{name}` | {type_name(field.annotation)} | {default} | {note} |")
            out += [row for part in entries(field.annotation) for row in rows(f"{prefix}{name}[].", part, None)]
    return out


TABLE = ["| key | type | default | meaning |", "|---|---|---|---|"]


def choices(key: str, registry: Registry[Any]) -> list[str]:
    """A part for each built-in plug that a key may name."""
    parts = []
    for choice, plug in registry.built_in.items():
        parts += [
            f"### {choice}",
            "",
            inspect.cleandoc(plug.__doc__ or ""),
            "",
            *TABLE,
            *rows(f"{key}.", plug, None),
            "",
        ]
    return parts[:-1]


def reference() -> str:
    """The whole page."""
    everything = rows("", Recipe, None)
    parts = [HEAD, *TABLE, *(row for row in everything if "." not in row.split("`")[1])]
    for name, field in Recipe.model_fields.items():
        if isinstance(field.default, BaseModel):
            parts += ["", f"## {name}", ""]
            if name in PLUGS:
                parts += choices(name, PLUGS[name][0])
                continue
            parts += [*TABLE, *(row for row in everything if row.startswith(f"| `{name}."))]
            for inner, part in type(field.default).model_fields.items():
                if (slot := slot_of(part)) is not None:
                    parts += ["", *choices(f"{name}.{inner}", slot.registry)]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(reference(), end="")
