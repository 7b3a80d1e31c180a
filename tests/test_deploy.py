"""The files in `deploy/` agree with the code: options, limits, libraries, addresses."""

from __future__ import annotations

import ast
import ipaddress
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from webdojo.browser.access import TOKEN_VARIABLE
from webdojo.cli import app
from webdojo.config import load_recipe

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
YAML = sorted(DEPLOY.rglob("*.yaml"))


def manifest(kind: str) -> dict[str, Any]:
    found = [loaded(file) for file in YAML]
    return next(one for one in found if one.get("kind") == kind)


def loaded(file: Path) -> dict[str, Any]:
    content = yaml.safe_load(file.read_text())
    assert isinstance(content, dict)
    return content


def container() -> dict[str, Any]:
    one = manifest("StatefulSet")["spec"]["template"]["spec"]["containers"][0]
    assert isinstance(one, dict)
    return one


def entrypoint() -> list[str]:
    found = re.search(r"^ENTRYPOINT (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words


def compose() -> dict[str, Any]:
    service = loaded(DEPLOY / "docker-compose.yaml")["services"]["browser"]
    assert isinstance(service, dict)
    return service


@pytest.mark.parametrize("file", YAML, ids=lambda file: file.name)
def test_yaml_files_can_be_read(file: Path) -> None:
    assert loaded(file)


def test_kustomization_names_every_manifest() -> None:
    folder = DEPLOY / "kubernetes"
    named = set(loaded(folder / "kustomization.yaml")["resources"])
    assert named == {file.name for file in folder.glob("*.yaml")} - {"kustomization.yaml"}


@pytest.mark.parametrize("more", [[], compose()["command"], container()["args"]], ids=["docker", "compose", "k8s"])
def test_the_command_line_is_understood(more: list[str]) -> None:
    words = [*entrypoint(), *more]
    at = words.index("webdojo")
    assert words[:at] == ["tini", "--"]
    browser = typer.main.get_command(app).commands["browser"]  # type: ignore[attr-defined]
    given = browser.commands["serve"].make_context("serve", words[at + 3 :]).params
    assert words[at + 1 : at + 3] == ["browser", "serve"]
    assert (given["host"], given["port"]) == ("0.0.0.0", 8400)
    load_recipe(given["recipe_name"], given["overrides"])


def test_stopping_waits_longer_than_the_drain() -> None:
    default = load_recipe("openwebrl").browser.serve.drain_timeout_s
    for words, grace in [
        (compose()["command"], float(compose()["stop_grace_period"].removesuffix("s"))),
        (container()["args"], manifest("StatefulSet")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]),
    ]:
        overrides = [word for word in words if word.startswith("browser.")]
        assert default <= load_recipe("openwebrl", overrides).browser.serve.drain_timeout_s < grace


def test_the_token_comes_from_the_secret() -> None:
    [variable] = container()["env"]
    assert variable["name"] == TOKEN_VARIABLE
    secret = manifest("Secret")
    source = variable["valueFrom"]["secretKeyRef"]
    assert source["name"] == secret["metadata"]["name"]
    # An empty token ends the server with an error, so nobody runs with a token out of this repository.
    assert secret["stringData"] == {source["key"]: ""}
    assert TOKEN_VARIABLE in compose()["environment"]


def test_labels_and_ports_fit_together() -> None:
    stateful, service, policy = manifest("StatefulSet"), manifest("Service"), manifest("NetworkPolicy")
    labels = stateful["spec"]["template"]["metadata"]["labels"]
    assert stateful["spec"]["selector"]["matchLabels"] == labels
    assert service["spec"]["selector"] == labels
    assert policy["spec"]["podSelector"]["matchLabels"] == labels
    assert stateful["spec"]["serviceName"] == service["metadata"]["name"]
    [port] = container()["ports"]
    assert port["containerPort"] == service["spec"]["ports"][0]["port"] == 8400
    assert policy["spec"]["ingress"][0]["ports"][0]["port"] == 8400


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("1.1.1.1", True),
        ("2606:4700::1111", True),
        ("169.254.169.254", False),
        ("10.1.2.3", False),
        ("172.20.0.1", False),
        ("192.168.1.1", False),
        ("100.100.100.200", False),
        ("127.0.0.1", False),
        ("fd00:ec2::254", False),
        ("fe80::1", False),
        ("::1", False),
    ],
)
def test_the_network_policy_lets_pods_reach_public_addresses_only(address: str, allowed: bool) -> None:
    wanted = ipaddress.ip_address(address)

    def holds(block: dict[str, Any]) -> bool:
        inside = wanted in ipaddress.ip_network(block["cidr"])
        return inside and not any(wanted in ipaddress.ip_network(part) for part in block.get("except", []))

    rules = manifest("NetworkPolicy")["spec"]["egress"]
    blocks = [peer["ipBlock"] for rule in rules for peer in rule["to"] if "ipBlock" in peer]
    assert any(holds(block) for block in blocks) is allowed


def imported_libraries(modules: set[str]) -> Iterator[str]:
    """Top-level names of what our modules import, at once or later, other than ourselves and Python."""
    for name in modules:
        path = ROOT / "src" / Path(*name.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.split(".")[0]


def test_the_image_has_every_library_that_the_server_imports() -> None:
    script = (
        "import sys, webdojo.cli, webdojo.config, webdojo.browser.serve;"
        "print(*(name for name in sys.modules if name.split('.')[0] == 'webdojo' and name != 'webdojo.recipes'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert not {"webdojo.policy", "webdojo.train"} & modules
    used = set(imported_libraries(modules)) - set(sys.stdlib_module_names) - {"webdojo"}
    lines = (DEPLOY / "requirements.txt").read_text().splitlines()
    names = {re.split(r"[><=]", line)[0].replace("-", "_") for line in lines if not line.startswith("#")}
    assert {"pyyaml" if name == "yaml" else name for name in used} <= names


def test_libraries_of_the_image_are_those_of_the_package() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    for line in (DEPLOY / "requirements.txt").read_text().splitlines():
        assert line.startswith("#") or f'"{line}"' in project
