"""A double of `helm template` for the part of Go's templates that our chart is written in.

It knows `.Values`, `.Release`, `.` in a range, `default`, `quote`, `toYaml`, `nindent`, pipes, `if`/`else`, `range`,
`end` and the marks that trim blanks; anything else raises, so that a template that needs the real Helm is seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def render(chart: Path, release: str = "dojo", **values: Any) -> Iterator[dict[str, Any]]:
    """The manifests of a chart's templates, with `values` over those of its own file."""
    scope = {
        "Values": merged(yaml.safe_load((chart / "values.yaml").read_text()), values),
        "Release": {"Name": release},
    }
    for file in sorted((chart / "templates").glob("*.yaml")):
        tokens = re.split(r"(\{\{-?.*?-?\}\})", file.read_text())
        text, rest = block(trimmed(tokens), scope, scope)
        assert not rest, f"{file.name}: {rest[0]} without a beginning"
        yield from (each for each in yaml.safe_load_all(text) if each is not None)


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {key: merged(base[key], value) if isinstance(base.get(key), dict) else value for key, value in over.items()}
    return base | both


def trimmed(tokens: list[str]) -> list[str]:
    for at, token in enumerate(tokens):
        if token.startswith("{{-"):
            tokens[at - 1] = tokens[at - 1].rstrip()
        if token.endswith("-}}"):
            tokens[at + 1] = tokens[at + 1].lstrip()
    return tokens


def block(tokens: list[str], scope: Any, root: dict[str, Any]) -> tuple[str, list[str]]:
    """The text up to the `else` or `end` that closes this block, and the tokens from there on."""
    text = ""
    while tokens:
        token, *tokens = tokens
        if not token.startswith("{{"):
            text += token
            continue
        word, _, rest = token.strip("{}-").strip().partition(" ")
        if word in ("else", "end"):
            return text, [token, *tokens]
        if word not in ("if", "range"):
            text += str(value(token.strip("{}-").strip(), scope, root))
            continue
        found = value(rest, scope, root)
        first = [found] if word == "if" and found else found if word == "range" and found else []
        for each in first:
            text += block(tokens, scope if word == "if" else each, root)[0]
        _, tokens = block(tokens, scope if word == "if" else None, root) if first or word == "if" else skipped(tokens)
        if tokens[0].strip("{}- ") == "else":
            other, tokens = block(tokens[1:], scope, root)
            text += "" if first else other
        tokens = tokens[1:]
    return text, []


def skipped(tokens: list[str]) -> tuple[str, list[str]]:
    """The tokens from the `end` of a block on whose content does not count."""
    depth = 0
    for at, token in enumerate(tokens):
        word = token.strip("{}- ").partition(" ")[0] if token.startswith("{{") else ""
        if word == "end" and not depth:
            return "", tokens[at:]
        depth += (word in ("if", "range")) - (word == "end")
    raise AssertionError("a block without an end")


def value(pipeline: str, scope: Any, root: dict[str, Any]) -> Any:
    first, *filters = (part.split() for part in pipeline.split("|"))
    if first[0] in ("toYaml", "quote"):
        first, filters = first[1:], [first[:1], *filters]
    [path] = first
    found = scope if path == "." else looked_up(path, root)
    for name, *arguments in filters:
        found = filtered(name, arguments, found)
    return found


def looked_up(path: str, root: dict[str, Any]) -> Any:
    found: Any = root
    assert path.startswith("."), path
    for name in path[1:].split("."):
        found = found[name]  # a key that values.yaml does not have is a mistake
    return found


def filtered(name: str, arguments: list[str], given: Any) -> Any:
    if name == "quote":
        return json.dumps(str(given))
    if name == "default":
        return given or json.loads(arguments[0])
    if name == "toYaml":
        return yaml.safe_dump(given).rstrip()
    if name == "nindent":
        return "".join(f"\n{' ' * int(arguments[0])}{line}" for line in str(given).splitlines())
    raise AssertionError(f"the double of Helm does not know {name}")
