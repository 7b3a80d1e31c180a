"""`webdojo openenv serve`, and the files with which it becomes a container."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
import yaml

from tests.interop.policies import SMALL


def test_the_files_for_a_container_name_what_there_is():
    folder = Path(__file__).parents[3] / "deploy" / "openenv"
    manifest = yaml.safe_load((folder / "openenv.yaml").read_text())
    assert (manifest["spec_version"], manifest["name"], manifest["port"]) == (1, "webdojo", 8000)
    dockerfile = (folder / "Dockerfile").read_text()
    assert '"openenv", "serve"' in dockerfile and "EXPOSE 8000" in dockerfile


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(tmp_path):
    pytest.importorskip("openenv", reason="not installed here: make test-interop")
    command = [sys.executable, "-m", "webdojo", "openenv", "serve", "--port", "0", "--tasks", "3", *SMALL]
    with subprocess.Popen([*command, "--run", tmp_path / "run"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        url = line.split()[0]
        assert "16 sessions, 3 tasks" in line
        assert httpx.get(f"{url}/health").json()["status"] == "healthy"
        assert set(httpx.get(f"{url}/schema").json()["action"]["properties"]) >= {"calls", "text"}
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)


def test_a_package_that_is_not_installed_is_named():
    if find_spec("openenv") is not None:
        pytest.skip("it is installed here")
    done = subprocess.run(
        [sys.executable, "-m", "webdojo", "openenv", "serve"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "OpenEnv is not installed (openenv): pip install 'webdojo[openenv]'" in done.stderr
