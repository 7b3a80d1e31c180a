"""Secrets of a real run: nothing that it writes has them, but for its own database."""

from __future__ import annotations

import base64
import html
import json
import logging
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, quote, quote_plus, urlsplit

import pytest

from tests.browser.conftest import served
from tests.policy.chat.endpoint import Endpoint, completion, say
from tests.rollout.stage import Actor, Line
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.web import Web
from webdojo.errors import BrowserError, Failure
from webdojo.loops.act import act
from webdojo.loops.episodes import EpisodeRunner
from webdojo.loops.export import export
from webdojo.loops.log import RunLog
from webdojo.loops.request import task_at
from webdojo.loops.rollouts import LocalRollouts
from webdojo.loops.runs import describe
from webdojo.policy.config import TINY
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.store.info import run_info
from webdojo.store.run import RunStore
from webdojo.types import FinishReason, ImageSource, Reward, Sampling, Task, Termination, Trajectory, Turn
from webdojo.view.film import write_trajectory
from webdojo.view.report import write_report
from webdojo.view.tables import turn_text
from webdojo.view.trace import write_trace

PASSWORD = 'zebra+crossing/42 "fox"'
COOKIE = "cookie-of-8f3a/77c1+ab"
TOKEN = "token.of.5b9c==/e2"

FORM = """<!doctype html><title>Log in</title><body style="margin:0">
<form action="/in"><input type=password name=p aria-label=Password style="width:320px;height:100px"></form>"""
INSIDE = """<!doctype html><title>in</title><a href="/">out</a><script>
  const typed = {typed};
  console.error('bad token ' + localStorage.getItem('session'));
  document.title = document.cookie + ' ' + btoa(typed) + ' ' + JSON.parse(localStorage.getItem('session')).token;
</script>"""


class LogIn(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        typed = parse_qs(urlsplit(self.path).query).get("p", [""])[0]
        body = FORM if self.path == "/" else INSIDE.replace("{typed}", json.dumps(typed))
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Passes(RewardFunction):
    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return Reward(value=1, success=True)


def says(name: str, **arguments: object) -> str:
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<think>I call {name}</think><tool_call>{call}</tool_call><|im_end|>"


async def lost(session: BrowserSession) -> str:
    raise BrowserError(f"browser lost at {session.page.url}", Failure.BROWSER_DIED, session.diagnostics())


def forms(secret: str) -> dict[str, bytes]:
    """How a secret may be written."""
    data = secret.encode()
    encoded = [secret, html.escape(secret), json.dumps(secret)[1:-1], quote(secret, safe=""), quote_plus(secret)]
    encoded += [str(html.escape(json.dumps(secret)[1:-1])), base64.b64encode(data).decode().rstrip("=")]
    return {form: form.encode() for form in encoded}


async def play(run: Path, redacts: bool) -> tuple[list[Trajectory], list[str]]:
    """Episodes that log in, one of which loses its browser; returns them, and the lines that `webdojo act` prints."""
    state = run.with_name("state.json")
    turns: list[str] = []
    with served(LogIn) as site:
        local = {"name": "session", "value": json.dumps({"token": TOKEN})}
        cookie = {"name": "id", "value": COOKIE, "domain": "127.0.0.1", "path": "/", "expires": -1}
        cookie |= {"httpOnly": False, "secure": False, "sameSite": "Lax"}
        state.write_text(json.dumps({"cookies": [cookie], "origins": [{"origin": site, "localStorage": [local]}]}))
        options = [f"browser.storage_state={state}", "browser.guard.private_hosts=[127.0.0.1]", "browser.browsers=1"]
        options += ["browser.viewport_px=[320,320]", f"browser.redact={str(redacts).lower()}"]
        recipe = load_recipe("quickstart", options)
        recipe = recipe.model_copy(update={"env": Web()})
        processor = Processor.load(model_folder(TINY))
        info = run_info(0) | {"model": TINY}
        with RunStore.create(run, dump_recipe(recipe), info) as store, RunLog(store) as log:
            async with BrowserPool(recipe.browser, store.images) as pool:
                harness = recipe.harness.build(processor)
                reward = Passes()
                rollouts = LocalRollouts(recipe, pool, harness, reward)
                runner = EpisodeRunner(recipe, store, rollouts, harness, Scorer(reward, store.images))
                start: list[Line] = [
                    says("click", x=500, y=100),
                    says("write", text=PASSWORD),
                    says("press_keys", keys=["Enter"]),
                ]
                end: list[Line] = [
                    says("goto_url", url=f"{site}/again?p={quote(PASSWORD)}"),
                    says("done", answer=PASSWORD),
                ]
                for number, lines in enumerate([[*start, *end], 3 * [*start, lost]]):
                    task = Task(id=f"t{number}", instruction="Log in", start_url=f"{site}/", website="127.0.0.1")
                    trajectory = await runner.rollout(
                        *(task, f"g-{number}", f"g-{number}-0"),
                        actor=cast(Any, Actor(harness.codec, list(lines), FinishReason.STOP)),
                        sampling=Sampling(max_tokens=256),
                        max_steps=9,
                    )
                    logging.getLogger("webdojo").info("%s %s", trajectory.error, trajectory.diagnostics)
                    await runner.finish(trajectory, "eval_rl", 1)
                    turns += [feedback.text for turn in trajectory.turns for feedback in turn.feedback]
            log.write("rl", 1, {"success": 0.5})
            store.write_result({})
    with RunStore.open(run, readonly=True) as store:
        found = store.trajectories()
        write_report(store, run / "report.html")
        write_trajectory(found[0], store.images, run / "trajectory.html")
        write_trajectory(found[1], store.images, run / "lost.html")
        export(store, run / "trajectories.jsonl", [], lambda: None)
        write_trace(store, run / "trace.json")
        (run / "described.json").write_text(json.dumps(describe(run)))
    return found, turns


def leaks(run: Path, said: str) -> dict[str, list[str]]:
    """Which secrets are in which files of a run, or in what it said."""
    texts = {path.name: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    texts = {name: data for name, data in texts.items() if not name.startswith("run.sqlite")} | {"log": said.encode()}
    assert {"report.html", "trajectories.jsonl", "trajectory.html", "trace.json", "recipe.yaml"} <= texts.keys()
    secrets = {form: data for secret in (PASSWORD, COOKIE, TOKEN) for form, data in forms(secret).items()}
    found = {name: [form for form, data in secrets.items() if data in text] for name, text in texts.items()}
    return {name: each for name, each in found.items() if each}


async def test_a_run_writes_secrets_into_its_database_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        (done, lost), feedback = await play(tmp_path / "run", redacts=True)
    assert done.answer == PASSWORD and lost.failure == Failure.BROWSER_DIED
    assert leaks(tmp_path / "run", "\n".join([caplog.text, *feedback])) == {}
    assert 'write "***********************" into <input> "Password"' in feedback[1]
    assert feedback[2].endswith("/in?p=***")
    assert PASSWORD in done.turns[1].parsed.calls[0].arguments["text"], "training needs what was sampled"


async def test_without_redaction_they_are_shown(tmp_path: Path) -> None:
    _, feedback = await play(tmp_path / "run", redacts=False)
    found = leaks(tmp_path / "run", "\n".join(feedback))
    films = {"report.html", "trajectory.html", "lost.html"}
    assert found.keys() == {*films, "trajectories.jsonl", "trace.json", "log"}


async def test_what_act_prints_has_no_secrets(tmp_path: Path) -> None:
    typing: list[tuple[str, dict[str, Any]]] = [
        ("click", {"x": 500, "y": 100}),
        ("write", {"text": PASSWORD}),
        ("press_keys", {"keys": ["Enter"]}),
    ]
    said = [completion(says(name, **arguments).removesuffix("<|im_end|>")) for name, arguments in typing]
    cut = completion(f"<think>The password was {PASSWORD}, and now")
    cut["choices"][0]["finish_reason"] = "length"
    turns: list[Turn] = []
    with served(LogIn) as site, Endpoint(*map(say, [*said, cut])) as endpoint:
        chat = ["engine.name=chat", f"engine.base_url={endpoint.url}", "engine.model=m", "env={name: web}"]
        screen = ["browser.guard.private_hosts=[127.0.0.1]", "browser.viewport_px=[320,320]"]
        recipe = load_recipe("quickstart", [*chat, *screen])
        task = task_at(recipe.env, "Log in", f"{site}/")
        done, _ = await act(task, recipe, TINY, tmp_path / "run", turns.append)
    assert done is not None and done.termination is Termination.GENERATION_LENGTH, done
    printed = [turn_text(step, turn) for step, turn in enumerate(turns, 1)]
    assert [form for form, data in forms(PASSWORD).items() for text in printed if data in text.encode()] == []
    assert len(printed) == 4 and "The password was ***, and now" in printed[3]
    assert PASSWORD in done.turns[3].text, "the run's own database keeps what was sampled"
