"""Python on a page that shows one thing, executed as it stands there, with what it names around it."""

from __future__ import annotations

import re
import subprocess
import sys
from os import environ
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import CONFIG, site
from tests.browser_service.served import Served
from tests.policy.chat.endpoint import Endpoint, completion, say
from tests.reward.judges.episodes import IMAGES, episode
from tests.tasks.embeddings.test_endpoint import Server, server
from webdojo.loops.filtering.pipeline import read_pipeline
from webdojo.policy.engines import Chat
from webdojo.reward.gate import Scorer
from webdojo.reward.registry import REWARDS
from webdojo.store.run import RunStore

__all__ = ["server", "site"]

DOCS = Path(__file__).parent.parent / "docs"


def blocks(page: str, language: str = "python") -> list[str]:
    text = (DOCS / page).read_text()
    return re.findall(rf'^```{language}(?: title="[^"]+")?\n(.*?)^```', text, re.MULTILINE | re.DOTALL)


def printed(folder: Path, code: str, **environment: str) -> str:
    """What a program prints in `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_session_on_a_browser_server(tmp_path: Path, site: str) -> None:
    (code,) = blocks("browser-service.md")
    with Served(CONFIG, "a-secret") as one, Served(CONFIG, "a-secret") as other:
        for written, there in (
            ("http://10.0.0.7:8400", one.url),
            ("http://10.0.0.8:8400", other.url),
            ("https://example.org/", f"{site}/"),
        ):
            assert written in code
            code = code.replace(written, there)
        size, feedback = printed(tmp_path, code, WEBDOJO_BROWSER_TOKEN="a-secret").split(" ", 1)
    assert int(size) > 100
    assert "click" in feedback.lower()


def test_curve_and_episodes_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with RunStore.create(tmp_path / "runs" / "mine", "", {}) as store:
        store.add_trajectory(episode(answer="ok"), "rl", 1)
        store.add_metrics("rl", 1, {"reward": 0.25})
    code = next(block for block in blocks("runs.md") if "RunStore" in block)
    said = printed(tmp_path, f"{code}\nprint(curve, [trajectory.answer for trajectory in first])")
    assert said == "[(1, 0.25)] ['ok']\n"


def test_a_question_to_an_endpoint(tmp_path: Path) -> None:
    recipe = blocks("serving.md", "yaml")[0]
    code = next(block for block in blocks("serving.md") if "ChatClient" in block)
    with Endpoint(default=say(completion("A cup."))) as endpoint:
        (tmp_path / "mine.yaml").write_text(recipe.replace("https://api.openai.com/v1", endpoint.config().base_url))
        (tmp_path / "runs").mkdir()
        said = printed(tmp_path, code, OPENAI_API_KEY="sk-something")
    assert said.startswith("('A cup.', ")
    assert endpoint.bodies[0]["messages"][-1]["content"] == "What is a mug?"
    assert (tmp_path / "spending.sqlite").is_file()
    assert (tmp_path / "runs" / "answers.sqlite").is_file()


@pytest.mark.parametrize(("says", "reward"), [("YES", 1), ("NO", 0)])
async def test_a_judge_of_ones_own(tmp_path: Path, says: str, reward: int) -> None:
    (tmp_path / "my_judge.py").write_text(next(b for b in blocks("protocols.md") if "MyJudge" in b))
    with Endpoint(default=say(completion(says))) as endpoint:
        judge: Any = REWARDS.get(f"{tmp_path / 'my_judge.py'}:MyJudge")
        judge = judge(engine=Chat(**endpoint.config().model_dump()))
        async with Scorer(judge, IMAGES, tmp_path) as scorer:
            ended = episode(answer="ok")
            await scorer.score(ended)
    assert ended.reward is not None
    assert ended.reward.value == reward
    assert endpoint.bodies[0]["messages"][0]["content"].startswith("Say whether the task was done")


def test_tasks_of_the_embedded_web(tmp_path: Path) -> None:
    said = printed(tmp_path, next(block for block in blocks("sites.md") if "load_tasks" in block))
    assert re.fullmatch(r"(\d+ \S.*\n){3}", said)


def test_a_pipeline_of_filters_is_read(tmp_path: Path) -> None:
    (text,) = blocks("task-filtering.md", "yaml")
    (tmp_path / "pipeline.yaml").write_text(text)
    steps = [step.name for step in read_pipeline(tmp_path / "pipeline.yaml").steps]
    assert steps == ["lint", "decomposed", "hosts", "benchmark_overlap", "near_duplicates"]


def test_near_duplicates_by_an_endpoints_embeddings(tmp_path: Path, server: Server) -> None:
    (code,) = blocks("task-filtering.md")
    code = code.replace("http://127.0.0.1:8000", f"http://127.0.0.1:{server.server_port}")
    tasks = "from webdojo import Task\ntasks = [Task(id=i, instruction=f'task {n}', start_url='http://a.example/', "
    tasks += "website='a.example') for i, n in (('a', 1), ('b', 50), ('c', 1))]\n"
    assert printed(tmp_path, tasks + code) == "c repeats a (1.000)\n"
