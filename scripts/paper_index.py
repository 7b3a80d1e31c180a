"""Prints docs/papers.md: what of each paper is where, from docs/papers/*.yaml, checked against recipes and code.

A row of such a file has `at`, where the paper says it; `what` it is; and one or two of

    says, key          the paper's value, and the recipe's key that must have it
    one_of, key        values that the paper names without a choice, one of which the key must have
    says, key, here, differs   the key's value, and why it is another than the paper's
    code               file:name of what implements it, inside src/webdojo
    missing            why it is not there

`recipe` in a row is another one than that of the file. `ours` has, by recipe, the keys that no paper's number stands
behind, with the reason. Whatever does not hold is an error: a value that changed, a key without a citation, code that
is gone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from webdojo.recipe import Recipe, load_recipe

ROOT = Path(__file__).parents[1]
HEAD = """\
# Paper index

What the five papers say, number by number and formula by formula, and what stands here in its place. "equal" is a key
of the recipe with the paper's value; where a paper names several values and not the best one, it is one of them. Keys
that a recipe sets and no paper names are ours.

This page is written by `make docs` from `docs/papers/*.yaml`, which a test compares with the recipes and the code.
"""

KEYS = {"at", "what", "says", "one_of", "key", "here", "differs", "code", "missing", "recipe"}
Row = dict[str, Any]


def value_at(recipe: Recipe, key: str) -> Any:
    """The value of a dotted key, as plain data; a KeyError or IndexError where there is none."""
    node: Any = recipe.model_dump(mode="json")
    for part in key.split("."):
        node = node[part if isinstance(node, dict) and part in node else int(part)]
    return node


def plain(value: Any) -> Any:
    """As it is in JSON, whose keys are text."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def found(row: Row, recipe: str) -> tuple[str, str]:
    """What stands here, and how it compares; a ValueError says what does not hold."""
    here, status = [], ""
    if unknown := row.keys() - KEYS:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}; quote a text with a comma")
    if "key" in row:
        try:
            value = plain(value_at(load_recipe(recipe), row["key"]))
        except (LookupError, ValueError):  # int() of a name
            raise ValueError(f"{recipe} has no key {row['key']}") from None
        here.append(f"`{row['key']}: {shown(value)}`")
        wanted = row["one_of"] if "one_of" in row else [row["says"]]
        if "differs" in row:
            if value != plain(row["here"]):
                raise ValueError(f"{row['key']} of {recipe} is {value!r}, not {row['here']!r}")
            if value in plain(wanted):
                raise ValueError(f"{row['key']} of {recipe} does not differ")
            status = f"differs: {row['differs']}"
        elif any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in plain(wanted)):
            status = "equal" if "says" in row else "one of these"
        else:
            raise ValueError(f"{row['key']} of {recipe} is {value!r}, the paper says {wanted!r}")
    if "code" in row:
        file, _, name = row["code"].partition(":")
        if name not in names_in(ROOT / "src/webdojo" / file):
            raise ValueError(f"{file} has no {name}")
        here.append(f"`{row['code']}`")
        status = status or "there"
    if "missing" in row:
        status = f"not here: {row['missing']}"
    if not status:
        raise ValueError("it says neither key, code nor missing")
    return " ".join(here), status


def names_in(file: Path) -> set[str]:
    """The names that a module defines."""
    if not file.is_file():
        return set()
    names = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names


def keys_to_cite(recipe: str, main: bool) -> Iterator[str]:
    """The dotted keys that a recipe's own file sets, and for the `main` one of a paper those that decide what is
    learned, whether they are set, inherited or a default."""
    if main:
        trains = load_recipe(recipe).train.iterations > 0
        yield from (key for key in LEARNING if trains or key not in ONLINE)
        yield from WARM_START if load_recipe(recipe).sft.demos else ()
    data = yaml.safe_load(files("webdojo.recipes").joinpath(f"{recipe}.yaml").read_text())

    def walk(prefix: str, node: dict[str, Any]) -> Iterator[str]:
        for name, value in node.items():
            key = f"{prefix}{name}"
            if key in SECTIONS:
                yield from walk(f"{key}.", value)
            elif key == "train.stages":
                yield from (f"{key}.{n}.{part}" for n, stage in enumerate(value) for part in stage)
            elif key.endswith("max_steps_by_difficulty"):
                yield from (f"{key}.{part}" for part in value)
            else:
                yield key

    yield from walk("", {key: part for key, part in data.items() if isinstance(part, dict)})


ONLINE = [
    *(f"train.{key}" for key in ("lr", "schedule", "warmup_steps", "weight_decay", "adam_betas", "grad_clip")),
    *(f"train.{key}" for key in ("groups_per_iteration", "ppo_epochs", "batch_size", "kl_coef")),
    "rollout.group_size",
]
"""What only online training reads."""
LEARNING = [
    *ONLINE,
    *(f"rollout.sampling.{key}" for key in ("temperature", "top_p", "top_k", "max_tokens")),
    *("train.iterations", "rollout.max_context_tokens", "reward.format_reward", "model.path"),
]
WARM_START = [f"sft.{key}" for key in ("lr", "schedule", "warmup_ratio", "epochs", "batch_size")]
SECTIONS = set(Recipe.model_fields) | {"rollout.sampling", "evaluate.sampling", "model.lora"}


def shown(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n").removesuffix("\n...")


def page(file: Path) -> Iterator[str]:
    """The lines of one paper; a ValueError says what does not hold."""
    data = yaml.safe_load(file.read_text())
    yield f"## {data['paper']}"
    yield ""
    yield f"Recipe: `{data['recipe']}`."
    yield ""
    yield "| where | what | the paper | here | |"
    yield "|---|---|---|---|---|"
    cited: dict[str, set[str]] = {recipe: set(keys) for recipe, keys in data["ours"].items()}
    for row in data["rows"]:
        recipe = row.get("recipe", data["recipe"])
        try:
            here, status = found(row, recipe)
        except ValueError as problem:
            raise ValueError(f"{file.name}, {row['at']}, {row['what']}: {problem}") from None
        cited.setdefault(recipe, set()).add(row.get("key", ""))
        says = (
            " or ".join(map(shown, row["one_of"])) if "one_of" in row else shown(row["says"]) if "says" in row else ""
        )
        cells = (row["at"], row["what"], says, here, status)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    for recipe, keys in cited.items():
        if bare := dict.fromkeys(key for key in keys_to_cite(recipe, recipe == data["recipe"]) if key not in keys):
            raise ValueError(f"{file.name}: {recipe} has {', '.join(bare)} without a citation; cite them, or say ours")
    for recipe, keys in data["ours"].items():
        yield ""
        yield f"Ours, in `{recipe}`:"
        yield ""
        for key, reason in keys.items():
            yield f"- `{key}: {shown(plain(value_at(load_recipe(recipe), key)))}`: {reason}"


def main() -> None:
    lines = [HEAD]
    for paper in ("openwebrl", "webgym", "webagent_r1", "asyncwebrl", "openwebvoyager"):
        lines += [*page(ROOT / "docs/papers" / f"{paper}.yaml"), ""]
    print("\n".join(lines).rstrip())


if __name__ == "__main__":
    try:
        main()
    except ValueError as problem:
        sys.exit(f"paper index: {problem}")
