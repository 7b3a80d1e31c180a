"""The files in `deploy/` agree with the code: options, limits, libraries, addresses."""

from __future__ import annotations

import ast
import ipaddress
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from tests.browser_service.served import Served
from webdojo.browser.config import BrowserConfig
from webdojo.browser_service.server import OPEN_PATHS
from webdojo.browser_service.wire import TOKEN_VARIABLE
from webdojo.cli import app
from webdojo.recipe import load_recipe

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
YAML = sorted([*DEPLOY.glob("*.yaml"), *(DEPLOY / "kubernetes").glob("*.yaml")])


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


def instructions(dockerfile: Path = DEPLOY / "Dockerfile") -> list[tuple[str, str]]:
    """Word and arguments of each instruction of a Dockerfile, with its lines joined."""
    text = re.sub(r"^#.*\n", "", dockerfile.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def arguments(word: str, dockerfile: Path = DEPLOY / "Dockerfile") -> str:
    """Of the only instruction of that kind."""
    [found] = [rest for each, rest in instructions(dockerfile) if each == word]
    return found


def entrypoint() -> list[str]:
    words: list[str] = json.loads(arguments("ENTRYPOINT"))
    return words


def pod() -> dict[str, Any]:
    spec = manifest("StatefulSet")["spec"]["template"]["spec"]
    assert isinstance(spec, dict)
    return spec


def in_build_context(path: str, dockerfile: Path = DEPLOY / "Dockerfile") -> bool:
    """Whether the ignore file lets a path reach the build: the last pattern for it, or a folder above, decides."""
    admitted = True
    for line in Path(f"{dockerfile}.dockerignore").read_text().split():
        pattern = line.removeprefix("!")
        regex = re.escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
        if re.fullmatch(f"{regex}(/.*)?", path):
            admitted = line.startswith("!")
    return admitted


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


def test_what_the_image_copies_is_there_and_reaches_the_build() -> None:
    for sources in (rest.split()[:-1] for word, rest in instructions() if word == "COPY"):
        for source in sources:
            assert (ROOT / source).exists() and in_build_context(source.rstrip("/")), source
    assert in_build_context("src/webdojo/browser_service/server.py")
    weights = "src/webdojo/policy/weights/tiny/model.safetensors"
    for left_out in (weights, "src/webdojo/__pycache__/cli.pyc", ".git/HEAD"):
        assert not in_build_context(left_out), left_out
    # What hatchling reads of the folder, beside the package.
    assert all(in_build_context(name) for name in [PROJECT["readme"], *PROJECT["license-files"]])


def test_the_image_has_the_python_of_the_package() -> None:
    found = re.fullmatch(r"python:3\.(\d+)-slim-bookworm", arguments("FROM"))
    low, high = re.findall(r"3\.(\d+)", PROJECT["requires-python"])
    assert found is not None
    assert int(low) <= int(found[1]) < int(high)


def test_the_image_of_kuberay_has_what_its_pods_need() -> None:
    file = DEPLOY / "kuberay" / "Dockerfile"
    assert arguments("FROM", file) == arguments("FROM")
    for source in (source for word, rest in instructions(file) if word == "COPY" for source in rest.split()[:-1]):
        assert (ROOT / source).exists() and in_build_context(source, file), source
    assert in_build_context("src/webdojo/policy/weights/tiny/model.safetensors", file)
    assert not in_build_context(".git/HEAD", file)
    extras = arguments("ARG", file).removeprefix("EXTRAS=").split(",")
    assert {"cluster", "vllm"} == set(extras) <= set(PROJECT["optional-dependencies"])
    # The job server, by which KubeRay starts a RayJob, is in this extra alone.
    [ray] = PROJECT["optional-dependencies"]["cluster"]
    assert ray.startswith("ray[default]")
    job = list(yaml.safe_load_all((DEPLOY / "kuberay" / "openwebrl-80gb.yaml").read_text()))[1]
    security = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["securityContext"]
    assert arguments("USER", file) == str(security["runAsUser"])


def test_everybody_means_the_same_user_and_home() -> None:
    user, home = arguments("USER"), arguments("WORKDIR")
    [made] = [rest for word, rest in instructions() if word == "RUN" and rest.startswith("useradd")]
    assert made.split() == ["useradd", "--create-home", "--uid", user, Path(home).name]
    assert f"{home}:uid={user}" in compose()["tmpfs"]
    assert {str(pod()["securityContext"][key]) for key in ("runAsUser", "runAsGroup", "fsGroup")} == {user}
    assert {"/tmp", "/dev/shm", home} == {mount["mountPath"] for mount in container()["volumeMounts"]}


def test_the_health_check_is_what_the_server_answers() -> None:
    options, _, command = arguments("HEALTHCHECK").partition("CMD ")
    interpreter, *rest = json.loads(command)
    assert interpreter == "python" and "--timeout=5s" in options

    def healthy(url: str) -> bool:
        words = [word.replace("http://127.0.0.1:8400", url) for word in rest]
        return subprocess.run([sys.executable, *words], stderr=subprocess.DEVNULL, check=False).returncode == 0

    with Served(BrowserConfig(), "a-secret") as server:
        assert healthy(server.url)
        server.service.drain()
        assert not healthy(server.url)
    assert not healthy(server.url)


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


KINDS = {
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    "Namespace": "v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "Secret": "v1",
    "Service": "v1",
    "StatefulSet": "apps/v1",
}


def test_manifests_are_of_kinds_that_kubernetes_has() -> None:
    found = [loaded(file) for file in sorted((DEPLOY / "kubernetes").glob("*.yaml"))]
    assert {one["kind"]: one["apiVersion"] for one in found} == KINDS
    assert all(one["metadata"]["name"] for one in found if one["kind"] != "Kustomization")


def test_names_inside_the_pod_lead_somewhere() -> None:
    volumes, ports = {one["name"] for one in pod()["volumes"]}, {one["name"] for one in container()["ports"]}
    assert {mount["name"] for mount in container()["volumeMounts"]} == volumes
    assert {container()[probe]["httpGet"]["port"] for probe in ("readinessProbe", "livenessProbe")} == ports
    assert {container()[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")} <= OPEN_PATHS
    assert manifest("Service")["spec"]["ports"][0]["targetPort"] in ports


def test_the_pod_passes_the_policy_of_its_namespace() -> None:
    """The rules of the Pod Security Standard "restricted"."""
    labels = manifest("Namespace")["metadata"]["labels"]
    assert labels == {"pod-security.kubernetes.io/enforce": "restricted"}
    assert pod()["securityContext"]["runAsNonRoot"] is True
    assert pod()["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    assert container()["securityContext"]["allowPrivilegeEscalation"] is False
    assert container()["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert all(set(volume) == {"name", "emptyDir"} for volume in pod()["volumes"])
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod())


def test_the_sites_of_a_training_pod_can_be_reached() -> None:
    rules = manifest("NetworkPolicy")["spec"]
    trainers = {"podSelector": rules["ingress"][0]["from"][0]["podSelector"]}
    [rule] = [rule for rule in rules["egress"] if rule["to"] == [trainers]]
    [port] = rule["ports"]
    assert f"env.port={port['port']}" in (DEPLOY / "README.md").read_text()


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
    """Top-level names of what our modules import for a browser server, other than ourselves and Python."""
    for name in modules:
        path = ROOT / "src" / Path(*name.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if path.is_dir() and not file.exists():
            continue  # A folder of modules imports nothing itself.
        tree = ast.parse(file.read_text())
        # Functions of other parts, which import what they need, are never called by the server.
        for node in ast.walk(tree) if name.startswith("webdojo.browser") else tree.body:
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.split(".")[0]


def test_the_image_has_every_library_that_the_server_imports() -> None:
    script = (
        "import sys, webdojo.cli, webdojo.recipe, webdojo.browser_service.server;"
        "print(*(name for name in sys.modules if name.split('.')[0] == 'webdojo' and name != 'webdojo.recipes'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert not {"torch", "transformers"} & modules
    used = set(imported_libraries(modules)) - set(sys.stdlib_module_names) - {"webdojo"}
    lines = (DEPLOY / "requirements.txt").read_text().splitlines()
    names = {re.split(r"[><=]", line)[0].replace("-", "_") for line in lines if not line.startswith("#")}
    assert {{"yaml": "pyyaml", "PIL": "pillow"}.get(name, name) for name in used} <= names


def test_libraries_of_the_image_are_those_of_the_package() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    for line in (DEPLOY / "requirements.txt").read_text().splitlines():
        assert line.startswith("#") or f'"{line}"' in project
