"""Whatever the OpenAPI page allows, and much that it forbids: the server answers, as documented and never with 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from tests.browser.conftest import CONFIG
from tests.browser_service.served import Served
from webdojo.browser.config import ServeConfig

TOKEN = "a-secret"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    limits = {"navigation_retries": 0, "start_timeout_s": 10, "action_timeout_s": 2, "ready_cap_s": 1}
    config = CONFIG.model_copy(update=limits | {"serve": ServeConfig(max_sessions=4)})
    with Served(config, TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def session_id(server: Served, site: str) -> str:
    """A session that really is there, so that requests reach a browser."""
    answer = httpx.post(
        f"{server.url}/sessions",
        json={"start_url": f"{site}/"},
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=30,
        trust_env=False,
    )
    return str(answer.json()["id"])


@pytest.fixture(scope="module")
def api(server: Served) -> Any:
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


OPERATIONS = [
    ("POST", "/sessions"),
    ("GET", "/sessions/{session_id}/observation"),
    ("POST", "/sessions/{session_id}/act"),
    ("GET", "/sessions/{session_id}/snapshot"),
    ("POST", "/sessions/{session_id}/read"),
    ("GET", "/sessions/{session_id}/har"),
    ("DELETE", "/sessions/{session_id}"),
    ("GET", "/health"),
    ("GET", "/metrics"),
]


def test_every_operation_is_tried(api: Any) -> None:
    documented = [result.ok() for result in api.get_all_operations()]
    assert {(operation.method.upper(), operation.path) for operation in documented} == set(OPERATIONS)


@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_request_breaks_the_server(method: str, path: str, mode: GenerationMode, api: Any, session_id: str) -> None:
    @settings(max_examples=25, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(case=api[path][method].as_strategy(generation_mode=mode))
    def try_it(case: Any) -> None:
        if mode is GenerationMode.POSITIVE and method != "DELETE" and "session_id" in path:
            case.path_parameters["session_id"] = session_id
        case.call_and_validate(
            headers={"Authorization": f"Bearer {TOKEN}"},
            checks=[
                schemathesis.checks.not_a_server_error,
                schemathesis.checks.status_code_conformance,
                schemathesis.checks.content_type_conformance,
                *([schemathesis.checks.response_schema_conformance] if mode is GenerationMode.POSITIVE else []),
            ],
        )

    try_it()
