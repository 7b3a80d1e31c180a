"""`webdojo openenv serve`, and the files with which it becomes a container."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.interop.policies import SMALL
from webdojo.errors import Failure
from webdojo.store.run import RunStore

DEPLOY = Path(__file__).parents[3] / "deploy" / "openenv"


def test_the_files_for_a_container_name_what_there_is():
    manifest = yaml.safe_load((DEPLOY / "openenv.yaml").read_text())
    assert (manifest["spec_version"], manifest["name"], manifest["port"]) == (1, "webdojo", 8000)
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert '"openenv", "serve"' in dockerfile and "EXPOSE 8000" in dockerfile


def openenv(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run OpenEnv's own command."""
    command = [str(Path(sys.executable).with_name("openenv")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_openenv_validates_the_manifest():
    pytest.importorskip("openenv", reason="not installed here: make test-interop")
    done = openenv("validate", str(DEPLOY), "--level", "static")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("signals", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)])
def test_the_command_serves_until_a_signal_and_stores_the_episode_under_way(tmp_path, signals):
    client = pytest.importorskip("webdojo.interop.openenv.client", reason="not installed here: make test-interop")
    command = [sys.executable, "-m", "webdojo", "openenv", "serve", "--port", "0", "--tasks", "3", *SMALL]
    errors = tmp_path / "stderr"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            [*command, "--run", tmp_path / "run"], stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as server,
    ):
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            url = line.split()[0]
            assert "16 sessions, 3 tasks" in line
            validated = openenv("validate", "--url", url)
            assert validated.returncode == 0, validated.stdout
            session = client.WebdojoEnv(base_url=url).sync()
            session.reset(seed=7)
            for number in signals:
                server.send_signal(number)
            assert server.wait(60) == 0
            session.close()
        finally:
            server.kill()
    assert "Traceback" not in errors.read_text()
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        (trajectory,) = store.trajectories("openenv")
        assert trajectory.failure == Failure.CALLER_LOST


def test_a_package_that_is_not_installed_is_named():
    if find_spec("openenv") is not None:
        pytest.skip("it is installed here")
    done = subprocess.run(
        [sys.executable, "-m", "webdojo", "openenv", "serve"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "openenv is not installed: pip install 'webdojo[openenv]'" in done.stderr
