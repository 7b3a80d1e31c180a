"""The `webdojo` command as a user runs it: another process, its output, its exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from tests.cli.commands import WEBDOJO, console_script, loaded, one_line_error, start, webdojo
from tests.policy.chat.endpoint import Endpoint, completion, say
from webdojo.cli import app
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.sites.kinds import KINDS
from webdojo.store.run import RunStore

COMMANDS = [[], ["train"], ["eval"], ["report"], ["doctor"], ["sites"], ["sites", "serve"], ["tiny", "train"]]
COMMANDS += [
    ["apps"],
    *(["apps", command] for command in ("install", "list", "serve")),
    ["browser"],
    ["browser", "serve"],
    ["act"],
    ["collect"],
    ["record"],
    ["judge"],
    ["judge", "audit"],
    ["judge", "stress"],
]
COMMANDS += [["tasks"], *(["tasks", command] for command in ("make", "show", "stats", "lint", "convert", "split"))]
COMMANDS += [["runs"], *(["runs", command] for command in ("list", "show", "export", "trace", "gc"))]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(command):
    done = CliRunner().invoke(app, [*command, "--help"])
    assert done.exit_code == 0
    assert "Usage: " in done.stdout


def test_the_console_script_has_help():
    done = console_script("--help")
    assert done.returncode == 0
    assert "Usage: " in done.stdout


def test_help_answers_at_once_without_loading_torch():
    script = "import sys, webdojo.cli; print(*{'torch', 'transformers', 'playwright', 'pydantic'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs", "list", "."],
        ["runs", "gc", "--dry-run", "."],
        ["plugins"],
        ["push", "taken", "agent"],
        ["train", "quickstart", "train.lrr=1"],
        ["train", "quickstart", "env.name=doj"],
        ["train", "quickstart", "env.kinds=[shp]"],
        ["train", "quickstart", "model.path=no/such/folder"],
        ["train", "quickstart", "--run", "taken"],
        ["eval", "quickstart", "--model", "no/such/folder"],
        ["eval", "quickstart", "--model", "tiny", "env.kinds=[shp]"],
        ["act", "look", "--url", "example.org"],
        ["act", "look", "--url", "http://shop-0.localhost/", "--model", "no/such/folder"],
        ["act", "look", "--url", "http://shop-0.localhost/", "--headful"],
        ["sites", "serve", "--port", "{taken}"],
        ["browser", "serve", "--port", "{taken}"],
        ["act", "look", "--url", "http://nope-0.localhost/"],
    ],
    ids=" ".join,
)
def test_what_needs_no_torch_loads_none(tmp_path: Path, arguments: list[str]) -> None:
    RunStore.create(tmp_path / "taken", "", {}).close()
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = [argument.format(taken=server.getsockname()[1]) for argument in arguments]
        assert loaded(tmp_path, taken) & {"torch", "transformers"} == set()


def test_an_unknown_key_is_told_without_a_site_or_a_browser(tmp_path: Path) -> None:
    found = loaded(tmp_path, ["train", "quickstart", "train.lrr=1"])
    assert not found & {"playwright", "webdojo.sites.kinds"}


def test_a_set_is_counted_without_the_sites_and_judges_of_other_sets(tmp_path: Path) -> None:
    row = {"id": "a", "instruction": "Find a lamp", "start_url": "http://a.example/", "website": "a.example"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(row))
    found = loaded(tmp_path, ["tasks", "stats", "tasks.jsonl"])
    assert "webdojo.tasks.stats" in found
    assert not found & {"webdojo.sites", "webdojo.envs.env", "webdojo.reward", "webdojo.browser", "httpx", "jinja2"}


def test_dry_run_prints_a_recipe_file_and_its_cost(tmp_path):
    recipe = load_recipe("quickstart", ["train.lr=0.5", "seed=5"])
    done = webdojo("train", "quickstart", "train.lr=0.5", "--dry-run", "seed=5", cwd=tmp_path)
    assert done.returncode == 0
    assert Recipe.model_validate(yaml.safe_load(done.stdout)) == recipe
    assert re.search(r"^# rollouts, at least +\d", done.stdout, re.MULTILINE)
    assert re.search(r"^# expected peak +\d", done.stdout, re.MULTILINE)
    assert done.stdout.startswith("# phase"), "the cost comes first"
    assert "gradient_checkpointing" not in done.stdout, "a key at its default is shown"
    full = webdojo("train", "quickstart", "train.lr=0.5", "--dry-run", "--full", "seed=5", cwd=tmp_path)
    assert yaml.safe_load(full.stdout) == yaml.safe_load(dump_recipe(recipe))
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_for_a_cluster_prints_where_the_parts_go(tmp_path):
    done = webdojo("train", "quickstart", "--dry-run", "cluster.address=auto", cwd=tmp_path)
    assert "\n# placement on the fewest nodes of one size:\n# part            count  CPUs " in done.stdout
    assert Recipe.model_validate(yaml.safe_load(done.stdout)).cluster.address == "auto"
    port = ["env.port=4000", "cluster.rollouts.replicas=2"]
    refused = webdojo("train", "quickstart", "--dry-run", "cluster.address=auto", *port, cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "quikstart"], "did you mean 'quickstart'"),
        (["train", "quickstart", "train.lrr=1"], "unknown key 'train.lrr'"),
        (["train", "quickstart", "train.lr=fast"], "train.lr = 'fast'"),
        (["train", "quickstart", "--resume", "--run", "nowhere"], "nowhere does not exist"),
        (["eval", "quikstart", "--model", "tiny"], "did you mean 'quickstart'"),
        (["eval", "quickstart", "--model", "tiny", "train.lr=1"], "`webdojo eval` does not use train.lr"),
        (["eval", "quickstart", "--model", "m", "--endpoint", "x"], "engine.base_url is 'x'"),
        (["report", "nowhere"], "nowhere does not exist"),
        (["runs", "trace", "nowhere"], "nowhere does not exist"),
        (["act", "look", "--url", "example.org"], "--url is 'example.org'"),
        (["act", "look", "--recipe", "quickstart"], "tasks, and none is 'look': name one, such as"),
        (["act", "look", "--url", "http://nope-0.localhost/"], "'nope-0.localhost' is no embedded site"),
        (["act", "look", "--url", "http://shop-0.localhost/", "--headful"], "there is no display"),
        (["act", "look", "--url", "http://shop-0.localhost/", "--model", "no/such/folder"], "no/such/folder"),
        (["act", "look", "--url", "http://shop-0.localhost/", "--harness", "none"], "unknown harness 'none'"),
        (["act", "look", "--url", "http://shop-0.localhost/", "--endpoint", "x"], "engine.base_url is 'x'"),
        (
            ["train", "quickstart", "engine={name: chat, api_key_env: sk-0123456789}"],
            "must name an environment variable",
        ),
        (["browser", "serve", "--host", "0.0.0.0"], "set WEBDOJO_BROWSER_TOKEN"),
        (["browser", "serve", "--hosts", "shop-0.localhost"], "PATTERN=ADDRESS"),
        (["browser", "serve", "--max-sessions", "0"], "browser.serve.max_sessions"),
        (["browser", "serve", "browser.browsers=1", "browser.sessions_per_browser=2"], "the browsers hold 2"),
        (["browser", "serve", "browser.guard.private_hosts=[10.0.0]"], "private_hosts has '10.0.0'"),
    ],
)
def test_a_user_error_is_one_line_and_exit_code_2(tmp_path, arguments, message):
    assert message in one_line_error(webdojo(*arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_console_script_tells_a_user_error_in_one_line(tmp_path):
    assert "unknown key 'train.lrr'" in one_line_error(
        console_script("train", "quickstart", "train.lrr=1", cwd=tmp_path)
    )


def test_usage_errors_say_how_to_go_on(tmp_path):
    done = webdojo("train", "quickstart", "--auto", "--resume", cwd=tmp_path)
    assert done.returncode == 2
    assert "leave out --run and --resume" in done.stderr


def test_a_run_folder_that_is_taken(tmp_path):
    RunStore.create(tmp_path / "mine", dump_recipe(load_recipe("quickstart")), {}).close()
    message = one_line_error(webdojo("train", "quickstart", "--run", "mine", cwd=tmp_path))
    assert "--resume" in message
    assert "--run" in message


def test_a_run_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    message = one_line_error(webdojo("train", "quickstart", "--run", "file/run", cwd=tmp_path))
    assert "file/run" in message
    assert "--run" in message


def test_auto_goes_on_with_the_recipe_of_the_unfinished_run(tmp_path):
    folder = tmp_path / "runs" / "quickstart"
    RunStore.create(folder, dump_recipe(load_recipe("quickstart", ["seed=42"])), {}).close()
    done = webdojo("train", "quickstart", "--auto", "--dry-run", cwd=tmp_path)
    assert yaml.safe_load(done.stdout)["seed"] == 42
    (folder / "result.json").write_text("{}")
    done = webdojo("train", "quickstart", "--auto", "--dry-run", cwd=tmp_path)
    assert "seed" not in yaml.safe_load(done.stdout)


def test_eval_of_a_model_that_does_not_exist(tmp_path):
    message = one_line_error(webdojo("eval", "quickstart", "--model", "no/such/folder", cwd=tmp_path))
    assert "no/such/folder" in message


@pytest.mark.parametrize(
    ("number", "ctrl_c", "code"),
    [
        (signal.SIGINT, signal.SIG_DFL, 130),
        (signal.SIGTERM, signal.SIG_DFL, 143),
        (signal.SIGTERM, signal.SIG_IGN, 143),  # in the background of a shell's script
    ],
)
def test_interrupted_training_says_how_to_resume(tmp_path, number, ctrl_c, code):
    process = start("train", "quickstart", "--run", "my run", "sft.demos=100000", cwd=tmp_path, ctrl_c=ctrl_c)
    try:
        deadline = time.monotonic() + 300
        while not (tmp_path / "my run" / "run.sqlite").exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == code, errors
    assert "webdojo train quickstart --run 'my run' --resume" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert (tmp_path / "my run" / "run.lock").read_text() == ""


def test_sites_serve_answers_http_and_stops_cleanly(tmp_path):
    with start("sites", "serve", "--port", "0", cwd=tmp_path) as process:
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if "Ctrl-C" in line:
                    break
            links = re.findall(r"http://(\S+?):(\d+)/", "".join(lines))
            assert {host.split("-")[0] for host, _ in links if host != "localhost"} == set(KINDS)
            host, port = links[0]
            page = httpx.get(f"http://127.0.0.1:{port}/", headers={"Host": f"{host}:{port}"}, follow_redirects=True)
            assert page.status_code == 200
            assert "<html" in page.text.lower()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()


def test_an_agent_acts_through_an_endpoint(tmp_path, caplog):
    call = '<think>on</think><tool_call>{"name": "go_back", "arguments": {}}</tool_call>'
    with Endpoint(default=say(completion(call))) as endpoint:
        options = ["--url", "http://shop-0.localhost/", "--endpoint", endpoint.url, "--model", "clicker", "--recipe"]
        done = webdojo("act", "Open the cart", *options, "quickstart", "evaluate.max_steps=2", cwd=tmp_path)
    assert re.search(r"^  1  ", done.stdout, re.MULTILINE), done.stderr
    assert "the agent: clicker, by recipe quickstart" in done.stderr
    assert "endpoint: 2 requests, 200 tokens in, 20 out, 0.0000 USD" in caplog.messages
    film = re.search(r"^film: (\S+)$", done.stdout, re.MULTILINE)
    assert film is not None
    assert "Open the cart" in (tmp_path / film[1]).read_text()
    assert "reward 0: unfinished: max_steps" in done.stdout
    assert done.returncode == 1, "it went back twice, and did not say that the task is done"


def test_a_task_of_the_embedded_web_is_judged_and_an_unreadable_answer_is_shown(tmp_path):
    babble = "I would click on <b>Rings</b>."
    call = '<think>there</think><tool_call>{"name": "click", "arguments": {"x": 175, "y": 350}}</tool_call>'
    over = '<think>so</think><tool_call>{"name": "done", "arguments": {"answer": "done"}}</tool_call>'
    options = ["--url", "http://shop-1000041.localhost/", "--model", "m", "--recipe", "quickstart", "--endpoint"]
    with Endpoint(say(completion(babble)), *(say(completion(text)) for text in (call, over, over))) as endpoint:
        done = webdojo("act", "show me rings", *options, endpoint.url, "--run", "won", cwd=tmp_path)
        lost = webdojo("act", "show me rings", *options, endpoint.url, "--run", "lost", cwd=tmp_path)
    assert f"     response: {babble}" in done.stdout, done.stderr
    assert "every fact holds" in done.stdout
    assert done.returncode == 0
    assert "I would click on &lt;b&gt;Rings&lt;/b&gt;." in (tmp_path / "won" / "trajectory.html").read_text()
    assert "reward 0: not so: The list of Rings is shown at the end" in lost.stdout
    assert lost.returncode == 1


def test_a_task_of_a_recipe_is_done_by_its_id_and_told_with_reward_and_reason(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from webdojo import Reward, RewardFunction\n\nclass Mine(RewardFunction):\n"
        "    async def score(self, trajectory, images):\n"
        "        return Reward(value=0.25, success=False, reason=str(trajectory.task.evaluator['page']))\n"
    )
    there = {"start_url": "http://shop-0.localhost/", "website": "shop-0.localhost"}
    rows = [
        {"id": "rings", "instruction": "Open rings", **there, "evaluator": {"page": "/rings"}},
        {"id": "lamps", "instruction": "Open lamps", **there},
    ]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    over = '<think>so</think><tool_call>{"name": "done", "arguments": {"answer": "done"}}</tool_call>'
    given = ["tasks.path=tasks.jsonl", "reward=./mine.py:Mine", "--recipe", "quickstart", "--model", "m", "--endpoint"]
    with Endpoint(default=say(completion(over))) as endpoint:
        judged, broken = (webdojo("act", name, *given, endpoint.url, cwd=tmp_path) for name in ("rings", "lamps"))
        free = webdojo("act", "Look", "--url", "http://shop-0.localhost/", *given[1:], endpoint.url, cwd=tmp_path)
    assert "the task: Open rings (http://shop-0.localhost/)" in judged.stderr
    assert "completed: done\nreward 0.25: /rings\n" in judged.stdout
    assert judged.returncode == 1
    assert "invalid: reward './mine.py:Mine' failed in score (mine.py, line 5): KeyError: 'page'" in broken.stdout
    assert "in score" in broken.stdout and "the whole traceback is in the film" in broken.stdout
    assert broken.returncode == 2
    assert "not judged: to have a verdict, name a task of a recipe by its id" in free.stdout
    assert free.returncode == 0


def test_a_model_behind_an_endpoint_is_measured(tmp_path):
    answer = '<think>on</think><tool_call>{"name": "done", "arguments": {"answer": "twelve"}}</tool_call>'
    with Endpoint(default=say(completion(answer))) as endpoint:
        options = ["--endpoint", endpoint.url, "--model", "shopper", "evaluate.tasks=2"]
        done = webdojo("eval", "quickstart", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        again = webdojo("eval", "quickstart", *options, "--json", cwd=tmp_path)
    assert [body["model"] for body in endpoint.bodies] == ["shopper"] * 4
    assert re.search(r"^ *Model +0\.0% +0\.0% \.\. 65\.8% +2", done.stdout, re.MULTILINE)
    folders = [tmp_path / "runs" / name for name in ("eval-quickstart", "eval-quickstart-2")]
    assert f"report: {folders[0].relative_to(tmp_path)}/report.html" in done.stdout
    assert json.loads(again.stdout) == json.loads((folders[1] / "result.json").read_text())
    for folder in folders:
        assert (folder / "report.html").is_file()
        with RunStore.open(folder, readonly=True) as store:
            assert [episode.answer for episode in store.trajectories("eval")] == ["twelve"] * 2
    assert json.loads(again.stdout)["model"] == "shopper"
    shown = json.loads(webdojo("runs", "show", str(folders[0]), "--json", cwd=tmp_path).stdout)
    assert shown["model"] == "shopper"
    none = webdojo("runs", "episodes", str(folders[0]), "--iteration", "7", cwd=tmp_path)
    assert none.stdout == f"{folders[0]} has no such episodes\n"
    RunStore.create(tmp_path / "new", "", {}).close()
    assert webdojo("runs", "episodes", "new", cwd=tmp_path).stdout == "no episode of new has ended yet\n"
    listed = json.loads(webdojo("runs", "list", "--json", cwd=tmp_path).stdout)
    assert {(run["state"], run["success"], run["measured"], run["iterations"]) for run in listed} == {
        ("finished", 0.0, True, 0)
    }


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_while_acting_keeps_the_film(tmp_path, number, code):
    asked, release = threading.Event(), threading.Event()

    def hang(http: BaseHTTPRequestHandler) -> None:
        asked.set()
        release.wait(120)

    call = '<think>on</think><tool_call>{"name": "go_back", "arguments": {}}</tool_call>'
    with Endpoint(say(completion(call)), hang) as endpoint:
        options = ["--url", "http://shop-0.localhost/", "--endpoint", endpoint.url, "--model", "m", "--run", "mine"]
        process = start("act", "Open the cart", *options, "browser.viewport_px=[320,320]", cwd=tmp_path)
        try:
            assert asked.wait(120), process.communicate()
            process.send_signal(number)
            said, errors = process.communicate(timeout=120)
        finally:
            process.kill()
            release.set()
    assert process.returncode == code, errors
    assert "go_back()" in said
    assert "film: mine/trajectory.html" in said
    assert "go_back()" in (tmp_path / "mine" / "trajectory.html").read_text()
    assert "Traceback" not in errors


def test_a_port_in_use_is_one_line(tmp_path):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert str(port) in one_line_error(webdojo("sites", "serve", "--port", str(port)))
        assert str(port) in one_line_error(webdojo("browser", "serve", "--port", str(port)))


def test_doctor_tells_its_first_finding_before_it_loads_anything_large() -> None:
    script = "import sys, webdojo.doctor as d; next(d.examine()); print(*{'torch', 'playwright'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "\n"


def test_doctor_names_every_check_and_its_exit_code_tells(tmp_path):
    done = webdojo("doctor", cwd=tmp_path)
    for name in ("python", "torch", "transformers", "chromium", "browser", "sandbox", "shared memory", "disk", "fonts"):
        assert name in done.stdout
    assert done.returncode == int("fail" in done.stdout)


def test_doctor_without_a_chromium_fails_and_says_what_to_do(tmp_path):
    # A PATH without any Chromium, and a Playwright cache that is empty.
    environment = os.environ | {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path), "COLUMNS": "200"}
    done = subprocess.run(
        [*WEBDOJO, "doctor"], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1
    assert re.search(r"chromium .*fail", done.stdout)
    assert "playwright install chromium" in done.stdout
