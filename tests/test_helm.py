"""The Helm chart of the browser servers, and the plain manifests beside it.

There is no Helm here: `tests/helm.py`, a small double, renders the templates, and Kubernetes' schemas validate them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from tests import helm
from tests.kubernetes import validate
from webdojo.browser_service.service import Metrics
from webdojo.cli import app
from webdojo.recipe import load_recipe

DEPLOY = Path(__file__).parent.parent / "deploy"
CHART = DEPLOY / "helm" / "webdojo-browser"
PLAIN = [file for file in sorted((DEPLOY / "kubernetes").glob("*.yaml")) if file.name != "kustomization.yaml"]
AUTOSCALED = {"autoscaling": {"enabled": True}}
MONITORED = {"prometheusNamespace": {"kubernetes.io/metadata.name": "monitoring"}}


def rendered(**values: Any) -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in helm.render(CHART, **values)}


def plain() -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in (yaml.safe_load(file.read_text()) for file in PLAIN)}


@pytest.mark.parametrize("file", PLAIN, ids=lambda file: file.stem)
def test_kubernetes_takes_the_plain_manifests(file: Path) -> None:
    validate(yaml.safe_load(file.read_text()))


@pytest.mark.parametrize(
    "values", [{}, AUTOSCALED, MONITORED, {"args": []}], ids=["default", "auto", "prometheus", "bare"]
)
def test_kubernetes_takes_what_the_chart_renders(values: dict[str, Any]) -> None:
    found = rendered(**values)
    assert set(found) == {"NetworkPolicy", "PodDisruptionBudget", "Service", "StatefulSet"} | (
        {"HorizontalPodAutoscaler"} if values is AUTOSCALED else set()
    )
    for each in found.values():
        validate(each)


def test_kubernetes_schemas_see_a_wrong_field() -> None:
    service = rendered()["Service"]
    with pytest.raises(Exception, match="clusterIp"):
        validate(service | {"spec": service["spec"] | {"clusterIp": "None"}})


def test_servers_have_the_sizes_of_the_page() -> None:
    page = (DEPLOY.parent / "docs" / "browser-service.md").read_text()
    [(a_core, gib)] = re.findall(r"^\| live web \| (\d+) \| (\d+) GiB \|", page, re.M)
    for found in (rendered(), plain()):
        [container] = found["StatefulSet"]["spec"]["template"]["spec"]["containers"]
        limits = container["resources"]["limits"]
        [sessions] = [int(word.partition("=")[2]) for word in container["args"] if "--max-sessions" in word]
        assert limits == container["resources"]["requests"]
        assert (int(limits["cpu"]) * int(a_core), limits["memory"]) == (sessions, f"{sessions * int(gib)}Gi")
    service = yaml.safe_load((DEPLOY / "docker-compose.yaml").read_text())["services"]["browser"]
    assert (service["command"][1], service["cpus"], service["mem_limit"]) == (str(sessions), int(limits["cpu"]), "16g")
    metric = rendered(**AUTOSCALED)["HorizontalPodAutoscaler"]["spec"]["metrics"][0]
    assert int(metric["pods"]["target"]["averageValue"]) == sessions * 3 // 4


def test_a_monitor_sends_the_token_to_the_service() -> None:
    found = rendered(serviceMonitor={"enabled": True, "labels": {"release": "prometheus"}})
    monitor, service = found["ServiceMonitor"], found["Service"]
    assert monitor["metadata"]["labels"] == {"release": "prometheus"}
    assert monitor["spec"]["selector"]["matchLabels"] == service["metadata"]["labels"]
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint["port"] == service["spec"]["ports"][0]["name"]
    [variable] = found["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert endpoint["authorization"]["credentials"] == variable["valueFrom"]["secretKeyRef"]
    assert "ServiceMonitor" not in rendered()


def test_images_of_a_private_registry_are_pulled_with_its_secret() -> None:
    stateful = rendered(imagePullSecrets=[{"name": "registry"}])["StatefulSet"]
    validate(stateful)
    assert stateful["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "registry"}]


def test_servers_are_added_by_their_sessions() -> None:
    found = rendered(**AUTOSCALED)
    spec = found["HorizontalPodAutoscaler"]["spec"]
    [metric] = spec["metrics"]
    measured = {each.name for each in Metrics(lambda: 0, lambda: 0).registry.collect()}
    assert metric["pods"]["metric"]["name"] in measured
    assert metric["pods"]["target"] == {"type": "AverageValue", "averageValue": "6"}
    assert spec["scaleTargetRef"]["name"] == found["StatefulSet"]["metadata"]["name"]
    # A number of replicas in the release would undo what the autoscaler has set.
    assert "replicas" not in found["StatefulSet"]["spec"]
    assert rendered()["StatefulSet"]["spec"]["replicas"] == spec["minReplicas"]


def test_the_chart_is_as_safe_as_the_plain_manifests() -> None:
    ours, theirs = rendered(), plain()
    pod, other = (each["StatefulSet"]["spec"]["template"]["spec"] for each in (ours, theirs))
    for key in ("automountServiceAccountToken", "enableServiceLinks", "securityContext", "volumes"):
        assert pod[key] == other[key]
    assert pod["containers"][0]["securityContext"] == other["containers"][0]["securityContext"]
    assert ours["NetworkPolicy"]["spec"]["egress"] == theirs["NetworkPolicy"]["spec"]["egress"]
    assert ours["NetworkPolicy"]["spec"]["ingress"] == theirs["NetworkPolicy"]["spec"]["ingress"]


def test_prometheus_reaches_the_servers_where_its_namespace_is_named() -> None:
    [rule] = rendered(**MONITORED)["NetworkPolicy"]["spec"]["ingress"]
    assert rule["from"][1] == {"namespaceSelector": {"matchLabels": MONITORED["prometheusNamespace"]}}


def test_names_and_labels_of_a_release_fit_together() -> None:
    found = rendered(release="training")
    stateful, service, policy = found["StatefulSet"], found["Service"], found["NetworkPolicy"]
    labels = stateful["spec"]["template"]["metadata"]["labels"]
    assert labels == {"app": "training-browser"} == stateful["spec"]["selector"]["matchLabels"]
    assert service["spec"]["selector"] == policy["spec"]["podSelector"]["matchLabels"] == labels
    assert stateful["spec"]["serviceName"] == service["metadata"]["name"]


def test_the_servers_command_line_is_understood_and_drains_in_time() -> None:
    pod = rendered()["StatefulSet"]["spec"]["template"]["spec"]
    serve = typer.main.get_command(app).commands["browser"].commands["serve"]  # type: ignore[attr-defined]
    given = serve.make_context("serve", ["--host", "0.0.0.0", *pod["containers"][0]["args"]]).params
    assert given["max_sessions"] == 8
    drain = load_recipe(given["recipe_name"], given["overrides"]).browser.serve.drain_timeout_s
    assert drain < pod["terminationGracePeriodSeconds"]


def test_the_double_of_helm_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "values.yaml").write_text("name: x\nlist: [a, b]\nempty: []\n")
    file = tmp_path / "templates" / "x.yaml"
    chosen = '{{ if .Values.empty }}no{{ else }}a: {{ .Values.name | default "y" | quote }}{{ end }}'
    file.write_text(f"{chosen}\nb:{{{{ range .Values.list }}}} {{{{ . }}}}{{{{ end }}}}")
    assert list(helm.render(tmp_path)) == [{"a": "x", "b": "a b"}]
    for wrong in ("{{ .Values.nane }}", "{{ .Values.name | upper }}", '{{ include "x" . }}', "{{ end }}"):
        file.write_text(f"a: {wrong}")
        with pytest.raises((AssertionError, KeyError, ValueError)):
            list(helm.render(tmp_path))


def test_the_kuberay_example_is_what_the_command_writes() -> None:
    file = DEPLOY / "kuberay" / "openwebrl-80gb.yaml"
    first = file.read_text().splitlines()[0]
    words = first.removeprefix("# webdojo ").split()
    done = CliRunner().invoke(app, [*words, "--dry-run"], catch_exceptions=False)
    assert file.read_text() == f"{first}\n{done.output}"
