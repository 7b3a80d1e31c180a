"""The map of `docs/architecture.md`, held by machine: arrows go down only, and imports are declared."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "webdojo"
LAYERS = [
    {"cli", "cli_runs", "doctor", "view", "gym", "supervise", "__init__"},
    {"loops"},
    {"rollout", "train", "evaluate"},
    {"agent", "policy", "reward", "sites"},
    {"browser_service"},
    {"browser", "tasks", "store"},
    {"types", "config", "errors", "estimate", "memory", "progress", "recipes"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Where the name to import differs from the name to install.
INSTALLED_AS = {"PIL": "pillow", "yaml": "pyyaml"}

EXTRAS: dict[str, set[str]] = {
    "gym": {"gym"},
    "lora": {"train"},
    "miniwob": set(),
    "torchao": {"train"},
    "vllm": {"policy"},
}
"""Optional dependencies, and the parts that import them; `miniwob` is pages only."""
OWN_ENVIRONMENT = {"torchao", "vllm"}
"""Extras whose tests run in an environment of their own. vLLM fixes the versions of many libraries; torchao, where it
is installed, is loaded by whatever imports transformers, and says so on stderr."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(file: Path) -> str:
    """The first name under `webdojo`: a folder, or a module at the top."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import, those inside functions included."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: import by full name"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((node.lineno, name) for name in (names if node.module == "webdojo" else [node.module]))


def names(requirements: list[str]) -> set[str]:
    """What to install, without versions."""
    found = [re.split(r"[><=~\[ ]", item, maxsplit=1)[0] for item in requirements]
    return {name.lower().replace("-", "_") for name in found}


def wrong_arrow(importer: str, imported: str) -> bool:
    """True where `imported` stands above `importer`."""
    return LEVEL[imported] < LEVEL[importer]


def test_every_part_has_its_place_on_the_map():
    assert {part_of(file) for file in modules()} <= set(LEVEL)


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_arrows_go_down_only(file):
    found = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for line, name in imports(file)
        if name.startswith("webdojo.")
        # The version is not a part of the map.
        and name != "webdojo.__version__"
        and wrong_arrow(part_of(file), name.split(".")[1])
    ]
    assert not found


def test_a_wrong_arrow_is_seen():
    assert wrong_arrow("browser", "policy")
    assert wrong_arrow("types", "store")
    assert not wrong_arrow("cli", "types")


def test_types_and_errors_import_nothing_of_ours():
    for name in ("types", "errors"):
        assert not [found for _, found in imports(PACKAGE / f"{name}.py") if found.startswith("webdojo")]


def test_every_library_that_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    optional = [item for extra in EXTRAS for item in extras[extra]]
    declared = names(project["dependencies"] + optional)
    used = {name.split(".")[0] for file in modules() for _, name in imports(file)}
    libraries = {INSTALLED_AS.get(name, name) for name in used - set(sys.stdlib_module_names) - {"webdojo"}}
    assert libraries <= declared
    assert declared <= libraries | {"uvicorn", "tensorboard"} | {"miniwob"}, "a dependency that nothing imports"
    tested = [item for extra in EXTRAS.keys() - OWN_ENVIRONMENT for item in extras[extra]]
    assert names(tested) <= names(extras["dev"]), "the tests need every extra"


@pytest.mark.parametrize("extra", EXTRAS)
def test_only_the_part_that_an_extra_is_for_imports_it(extra):
    libraries = names(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][extra])
    importers = {part_of(file) for file in modules() for _, name in imports(file) if name.split(".")[0] in libraries}
    assert importers <= EXTRAS[extra]
