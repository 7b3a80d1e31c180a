"""What the docs say that adding costs: one plug of each kind, from a package that somebody else installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.policy.conftest import family_dirs, model_dir
from webdojo.store.run import RunStore

__all__ = ["family_dirs", "model_dir"]

ROOT = Path(__file__).parent.parent
NEW_KIND = (ROOT / "docs" / "new-kind.md").read_text()

PLUGS = '''
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from webdojo import Environment, Reward, RewardFunction, Task, Visit
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.policy.engines import HF
from webdojo.tasks.samplers.sampler import Sampler
from webdojo.trainer.advantages import Advantage, by_group
from webdojo.trainer.losses import Loss


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<title>note</title><h1>A note</h1>")

    def log_message(self, *args):
        pass


class Notes(Environment):
    """Serves one page, and asks for it."""

    name: str = "notes"
    title: str = "note"
    """Of its only page."""

    _server: object = None

    def tasks(self, split, n, seed):
        return read(f"{split}.json")[:n]

    @property
    def hosts(self):
        return {"notes.test:80": f"127.0.0.1:{self._server.server_port}"}

    async def start(self):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    async def close(self):
        self._server.shutdown()
        self._server.server_close()

    async def visit(self, task, seed=""):
        return Visit(task, task.start_url, headers={"X-Seed": seed})

    async def state(self, visit):
        return {"seed": visit.headers["X-Seed"]}


class Looked(RewardFunction):
    """Looks at the first screen, whether the episode is finished or not."""

    name: str = "looked"
    scores_unfinished = True

    async def score(self, trajectory, images):
        looked = len(images.get(trajectory.turns[0].observation.screenshot)) > 0
        return Reward(value=1, success=True, facts=[looked], fact_names=["it was looked at"])


class Brief(OpenWebRLConfig):
    """The harness of OpenWebRL with a word of its own."""

    name: str = "brief"
    word: str = "Be brief."

    def build(self, codec):
        return super().build(codec)


class Loud(HF):
    """The embedded engine, which says that it was opened."""

    name: str = "loud"

    def open(self, model):
        print("loud engine", flush=True)
        return super().open(model)


class FirstOnly(Sampler):
    """Draws the first task alone."""

    name: str = "first_only"

    def key(self, task):
        return task.id

    def weight(self, stratum):
        return float(stratum.tasks[0].id == "train-0")


unclipped = Loss(lambda logprobs, tokens, bounds: -logprobs * tokens.advantages, lambda bounds: "-A_i log π")
centred = Advantage(lambda groups: by_group(groups, lambda R: [r - sum(R) / len(R) for r in R], least=1), "R_i - mean")


def read(path):
    count = 2 if path.startswith("eval") else 5
    return [
        Task(id=f"{path}-{i}", instruction="Read the note", start_url="http://notes.test/", website="notes.test")
        for i in range(count)
    ]
'''

GROUPS = {
    "envs": "notes = extras.plugs:Notes",
    "rewards": "looked = extras.plugs:Looked",
    "harnesses": "brief = extras.plugs:Brief",
    "engines": "loud = extras.plugs:Loud",
    "losses": "unclipped = extras.plugs:unclipped",
    "advantages": "centred = extras.plugs:centred",
    "tasks": "reads = extras.plugs:read",
    "samplers": "first_only = extras.plugs:FirstOnly",
    "sites": "seeds = extras.seeds:Seeds",
}

RECIPE = """
name: extras
model: {{path: {model}, threads: 1, freeze_vision: true}}
env: {{name: notes}}
reward: {{name: looked}}
harness: {{name: brief, tool_schemas: signature, max_format_errors: 1}}
engine: {{name: loud}}
tasks: {{path: train, eval_path: eval, source: reads, sampler: first_only}}
browser: {{viewport_px: [320, 320]}}
rollout: {{group_size: 3, concurrency: 6, max_steps: 2, max_context_tokens: 8192, sampling: {{max_tokens: 100}}}}
sft: {{demos: 0}}
train:
  {{iterations: 1, groups_per_iteration: 1, max_groups_per_iteration: 30, policy_loss: unclipped, advantage: centred,
  lr: 1.0e-6, threads: 1}}
evaluate: {{tasks: 2, max_steps: 1, sampling: {{max_tokens: 4}}}}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the import path that holds a package with one plug of each kind."""
    folder = tmp_path_factory.mktemp("site-packages")
    (folder / "extras").mkdir()
    (folder / "extras" / "__init__.py").touch()
    (folder / "extras" / "plugs.py").write_text(PLUGS)
    (folder / "extras" / "seeds.py").write_text(re.findall(r"```python\n(.*?)```", NEW_KIND, re.DOTALL)[0])
    info = folder / "extras-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extras\nVersion: 1.0\n")
    groups = [f"[webdojo.{group}]\n{entry}\n" for group, entry in GROUPS.items()]
    (info / "entry_points.txt").write_text("\n".join(groups))
    return folder


def webdojo(installed: Path, *arguments: str) -> str:
    """What the command prints; fails with it where it fails."""
    environment = os.environ | {"PYTHONPATH": f"{installed}:{ROOT / 'src'}", "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "webdojo.cli", *arguments]
    done = subprocess.run(
        command, cwd=installed, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_installed_plugs_are_listed_with_their_package(installed: Path) -> None:
    lines = [line.split() for line in webdojo(installed, "plugins").splitlines()]
    found = {(line[1], line[3]) for line in lines if len(line) == 4 and line[2] == "extras"}
    assert found == {(entry.split(" = ")[0], f"webdojo.{group}") for group, entry in GROUPS.items()}


def test_one_plug_of_each_kind_trains_one_step(installed: Path, model_dir: Path) -> None:
    (installed / "extras.yaml").write_text(RECIPE.format(model=model_dir))
    resolved = webdojo(installed, "train", "extras.yaml", "--dry-run", "--full")
    assert "title: note" in resolved and "word: Be brief." in resolved
    assert "-A_i log π" in webdojo(installed, "explain", "extras.yaml")
    assert "loud engine" in webdojo(installed, "train", "extras.yaml", "--run", "run")
    with RunStore.open(installed / "run", readonly=True) as store:
        (row,) = store.metrics("rl")
        episodes = store.trajectories("rl")
    assert row["grad_norm"] > 0
    assert {episode.task.id for episode in episodes} == {"train-0"}
    assert all(episode.state == {"seed": f"0/{episode.id}"} for episode in episodes)
    rewards = [episode.reward for episode in episodes if episode.reward is not None]
    assert {reward.value for reward in rewards} == {-1, 0}, "the gate is around it"
    assert {tuple(reward.fact_names) for reward in rewards if reward.value == 0} == {("it was looked at",)}


def test_tasks_of_an_installed_kind_of_site_are_drawn_and_measured(installed: Path) -> None:
    options = ["env.kinds=[seeds]", "env.layout=auto", "evaluate.tasks=2", "evaluate.max_steps=1"]
    assert '"n": 2' in webdojo(installed, "eval", "quickstart", "--json", "--model", "tiny", *options)
