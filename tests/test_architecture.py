"""The map of `docs/architecture.md`, held by machine: arrows go down only, no circles, and imports are declared.

Every import counts: those inside functions, those for types alone, and `module:name` in a string too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "webdojo"
LAYERS = [
    {"__init__", "__main__", "api", "cli", "cluster", "doctor", "gym", "interop", "tiny", "view"},
    {"loops"},
    {"dry_run"},
    {"recipe", "recipe_hints", "recipe_paths"},
    {"evaluation", "rollout", "trackers", "trainer"},
    {"agent", "envs", "policy", "reward"},
    {"browser_service", "sites"},
    {"browser", "store", "tasks"},
    {"placement", "plugins", "recipes"},
    {"config", "errors", "gather", "memory", "pace", "progress", "redact", "sleep_clock", "types", "version", "world"},
]
"""From the top down; parts of one layer may use one another, without circles."""
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
NEVER = {("policy", "sites")}
"""Arrows that go down and are wrong all the same: an engine serves a model to any environment."""
MOST_FILES = 20
"""In one folder; more want a sub-folder that says why."""

# Where the name to import differs from the name to install.
INSTALLED_AS = {"PIL": "pillow", "resources_servers": "nemo_gym", "yaml": "pyyaml"}

EXTRAS: dict[str, set[str]] = {
    "analysis": {"loops", "tasks", "view"},
    "cluster": {"cluster"},
    "embeddings": {"tasks"},
    "gym": {"gym", "interop"},
    "lora": {"trainer"},
    "miniwob": set(),
    "mlflow": {"trackers"},
    "nemo-gym": {"interop"},
    "openenv": {"interop"},
    "tasks": {"loops", "tasks"},
    "torchao": {"trainer"},
    "trackio": {"trackers"},
    "verifiers": {"interop"},
    "vllm": {"policy"},
    "wandb": {"trackers"},
    "webarena-verified": {"reward"},
}
"""Optional dependencies, and the parts that import them; `miniwob` is pages only."""
BESIDE = {"browsergym"}
"""What an adapter imports that cannot be an extra: it fixes a Playwright that is older than ours."""
INSIDE = {"inside", "django_site", "worker", "one_context"}
"""Names of modules and packages that run in the environment of an application (`envs/apps`) or of BrowserGym
(`envs/browsergym`), and import what it has."""
TRACKERS = {"mlflow", "trackio", "wandb"}
OWN_ENVIRONMENT = {"embeddings", "nemo-gym", "openenv", "torchao", "verifiers", "vllm", "webarena-verified"} | TRACKERS
"""Extras whose tests run in an environment of their own. vLLM and webarena-verified fix the versions of many
libraries; torchao, where it is installed, is loaded by whatever imports transformers, and says so on stderr, as is
scikit-learn, which sentence-transformers brings."""


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def part_of(module: str) -> str:
    """The first name under `webdojo`: a folder, or a module at the top."""
    return module.split(".")[1] if "." in module else "__init__"


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import, those inside functions included."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: import by full name"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((node.lineno, name if name in modules() else node.module) for name in names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            module, colon, _ = node.value.partition(":")
            if colon and module in modules():
                yield node.lineno, module


@cache
def arrows() -> dict[str, dict[str, int]]:
    """By module, the modules of ours that it imports and a line on which it does."""
    return {
        module: {name: line for line, name in imports(file) if name in modules() and name != module}
        for module, file in modules().items()
    }


def names(requirements: list[str]) -> set[str]:
    """What to install, without versions."""
    found = [re.split(r"[><=~\[ ]", item, maxsplit=1)[0] for item in requirements]
    return {name.lower().replace("-", "_") for name in found}


def wrong_arrow(importer: str, imported: str) -> bool:
    """True where `importer` may not know `imported`, as where that stands above."""
    return LEVEL[imported] < LEVEL[importer] or (importer, imported) in NEVER


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle of the graph; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_part_has_its_place_on_the_map():
    assert {part_of(module) for module in modules()} == set(LEVEL)


def test_arrows_go_down_only():
    found = [
        f"{modules()[module].relative_to(ROOT)}:{line} imports {name}"
        for module, imported in arrows().items()
        for name, line in imported.items()
        if wrong_arrow(part_of(module), part_of(name))
    ]
    assert not found, "\n".join(found)


def test_no_module_imports_itself_by_a_detour():
    assert circle({module: set(imported) for module, imported in arrows().items()}) == []


def test_no_part_imports_itself_by_a_detour():
    parts: dict[str, set[str]] = {}
    for module, imported in arrows().items():
        parts.setdefault(part_of(module), set()).update(map(part_of, imported))
    assert circle({part: used - {part} for part, used in parts.items()}) == []


def test_no_folder_has_more_files_than_one_can_overlook():
    files = Counter(file.parent for file in modules().values())
    assert {str(folder): count for folder, count in files.items() if count > MOST_FILES} == {}


def test_a_wrong_arrow_and_a_circle_are_seen():
    assert wrong_arrow("browser", "policy")
    assert wrong_arrow("policy", "recipe")
    assert wrong_arrow("types", "store")
    assert wrong_arrow("policy", "sites")
    assert not wrong_arrow("cli", "types")
    assert circle({"a": {"b"}, "b": {"a"}})
    assert "webdojo.recipe" in arrows()["webdojo.cli.train"], "an import inside a function"
    assert "webdojo.sites.taskgen" in arrows()["webdojo.envs.task_sets"], "an import by a string"


def test_types_and_errors_import_nothing_of_ours():
    assert not arrows()["webdojo.types"] and not arrows()["webdojo.errors"]


def test_every_library_that_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    optional = [item for extra in EXTRAS for item in extras[extra]]
    declared = names(project["dependencies"] + optional)
    ours = [file for name, file in modules().items() if INSIDE.isdisjoint(name.split("."))]
    used = {name.split(".")[0] for file in ours for _, name in imports(file)}
    libraries = {INSTALLED_AS.get(name, name) for name in used - set(sys.stdlib_module_names) - BESIDE - {"webdojo"}}
    assert libraries <= declared
    assert declared <= libraries | {"uvicorn", "tensorboard"} | {"miniwob"}, "a dependency that nothing imports"
    tested = [item for extra in EXTRAS.keys() - OWN_ENVIRONMENT for item in extras[extra]]
    assert names(tested) <= names(extras["dev"]), "the tests need every extra"


@pytest.mark.parametrize("extra", EXTRAS)
def test_only_the_part_that_an_extra_is_for_imports_it(extra):
    libraries = names(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][extra])
    importers = {
        part_of(module)
        for module, file in modules().items()
        for _, name in imports(file)
        if name.split(".")[0] in libraries and INSIDE.isdisjoint(module.split("."))
    }
    assert importers <= EXTRAS[extra]


@pytest.mark.parametrize("module", ["webdojo.policy.chat.engine", "webdojo.policy.engines", "webdojo.policy.vllm"])
def test_an_agent_behind_an_api_needs_no_torch(module):
    code = f"import sys, {module}; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
