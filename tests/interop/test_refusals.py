"""What a client may not ask is refused in one line, over HTTP with a status that is its own fault."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from webdojo.errors import ConfigError, StartError
from webdojo.interop.refusals import check_action, check_reset, tell_refusals

CLICK = {"name": "click", "arguments": {"x": 5, "y": 5}}


@pytest.mark.parametrize(
    "action", [{"calls": [CLICK]}, {"calls": []}, {"text": ""}, {"calls": None, "text": "</think>"}]
)
def test_an_action_is_calls_or_text(action):
    check_action(action)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ({}, "calls or text, and this one has neither"),
        ({"calls": [CLICK], "text": "I click"}, "calls or text, and this one has both"),
        ({"cals": [CLICK]}, "calls or text, not 'cals'"),
        ({"calls": CLICK}, "must be a list"),
        ({"text": 3}, "text = 3 of an action must be the text"),
        ({"calls": [CLICK, {"name": "click", "args": {}}]}, "call 2 is {'name': 'click', 'args': {}}, and must look"),
        ({"calls": ["click"]}, "call 1 is 'click', and must look"),
        ({"calls": [{"name": "click", "arguments": "x"}]}, "call 1 is .* and must look"),
    ],
)
def test_another_action_is_refused(action, says):
    with pytest.raises(ConfigError, match=says):
        check_action(action)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"seed": "x"}, "seed = 'x' of reset must be a whole number"),
        ({"seed": True}, "seed = True of reset must be a whole number"),
        ({"task": 3}, "task = 3 of reset must be a text"),
        ({"tsk": "wiki-0"}, "reset takes seed, episode_id, task, group, not 'tsk'"),
    ],
)
def test_a_reset_takes_no_more_than_it_says(given, says):
    check_reset({"seed": 3, "episode_id": None, "task": "", "group": ""})
    with pytest.raises(ConfigError, match=says):
        check_reset(given)


def test_http_tells_whose_fault_it_is():
    app = FastAPI()
    tell_refusals(app)

    @app.post("/step")
    def step() -> None:
        raise ConfigError("no episode is under way: call reset first")

    @app.post("/reset")
    def reset() -> None:
        raise StartError("http://wiki-0.localhost/ cannot be reached")

    client = TestClient(app)
    assert (client.post("/step").status_code, client.post("/reset").status_code) == (400, 503)
    assert client.post("/step").json() == {"detail": "no episode is under way: call reset first"}


@pytest.mark.parametrize(
    ("module", "package", "says"),
    [
        ("openenv.client", "openenv", "pip install 'webdojo[openenv]'"),
        ("verifiers.taskset", "verifiers", "pip install 'webdojo[verifiers]'"),
        ("nemo_gym.server", "nemo_gym", "pip install 'webdojo[nemo-gym]'"),
        ("browsergym", "browsergym", "pip install browsergym-core"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_the_way_to_install_it(module, package, says):
    if find_spec(package) is not None:
        pytest.skip("it is installed here")
    script = f"import webdojo.interop.{module}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert f"is not installed: {says}" in done.stderr.splitlines()[-1]
