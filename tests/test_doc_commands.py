"""Every command of the pages that show what can be asked, run: as it stands, as a plan where it would train or measure
for long, or against an endpoint of ours; what needs other machines or their software is run by the test that it names.

README and `docs/commands.md` are in `test_readme.py`, pages that tell how something is done in `test_howtos.py`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.policy.chat.endpoint import Endpoint, completion, say
from tests.tasks.sources.test_open_web import DEEPSHOP, MIND2WEB, WEBGYM, WEBVOYAGER
from tests.test_readme import ENVIRONMENT, ROOT, SHORT, listen, run

PAGES = (
    *("analysis", "apps", "benchmarks", "browser-service", "cluster", "evaluation", "judges", "launch", "live-sites"),
    *("mediawiki", "open-web", "ranks", "runs", "sampling", "security", "serving", "sites", "task-building", "tasks"),
    *("viewer", "vllm"),
)
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
Way: TypeAlias = "Callable[[str, Path], None]"


def blocks(page: str, language: str) -> list[tuple[str, str]]:
    """Title and text of each block of a language."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    return [(title, body) for kind, title, body in BLOCK.findall(text) if kind == language]


def commands() -> list[str]:
    """In the order of the pages, each once."""
    text = "\n".join(body for page in PAGES for _, body in blocks(page, "bash")).replace("\\\n", " ")
    lines = [" ".join(line.split("  #")[0].split()) for line in text.splitlines()]
    return list(dict.fromkeys(line for line in lines if line))


def write_rows(path: Path, *rows: Mapping[str, object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every file and run that the pages name, and an endpoint that agrees with all it is asked."""
    folder = tmp_path_factory.mktemp("pages")
    for name, text in (*blocks("tasks", "json"), *blocks("judges", "json")):
        (folder / name).write_text(text)
    write_rows(folder / "WebVoyager_data.jsonl", WEBVOYAGER | {"web_name": "Allrecipes", "id": "Allrecipes--0"})
    (folder / "online_mind2web.json").write_text(json.dumps([MIND2WEB]))
    write_rows(folder / "deepshop.jsonl", DEEPSHOP)
    write_rows(folder / "test.jsonl", WEBGYM)
    for name in ("test_webarena_lite.raw.json", "train.json", "eval.json"):
        shutil.copyfile(ROOT / "tests" / "data" / "webarena.json", folder / name)
    for name in ("all.jsonl", "train.jsonl", "eval.jsonl"):
        shutil.copyfile(folder / "lamps.jsonl", folder / name)
    (folder / "pipeline.yaml").write_text("path: all.jsonl\nsteps: [lint]\n")
    (folder / "my.yaml").write_text("base: openwebrl-dojo\nname: mine\n")
    run(f"webdojo train quickstart {' '.join(SHORT)}", folder)
    run("webdojo eval quickstart --model tiny evaluate.tasks=2 evaluate.max_steps=3", folder)
    for name in ("a", "b", "ablations", "quickstart-2"):
        (folder / "runs" / name).symlink_to("quickstart")
    model = say(completion("The first fact holds, and so does the last. It was done in order.\n\nSUCCESS"))
    with Endpoint(default=model, models=["shopper"]) as endpoint, pytest.MonkeyPatch.context() as patch:
        judge = next(body for _, body in blocks("protocols", "python") if "MyJudge" in body)
        engine = f"    engine: Chat = Chat(base_url={endpoint.url!r}, model='m')\n"
        (folder / "mine.py").write_text(f"from webdojo.policy.engines import Chat\n{judge}\n{engine}")
        patch.setitem(ENVIRONMENT, "ENDPOINT", endpoint.url)
        patch.setitem(ENVIRONMENT, "OPENAI_API_KEY", "a key")
        yield folder


# --- ways to run one --------------------------------------------------------------------------


def as_it_stands(command: str, folder: Path) -> None:
    run(command, folder)


def as_a_plan(command: str, folder: Path) -> None:
    given = re.sub(r" …$", "", command.replace("--model …", "--model tiny").removesuffix(" --dry-run"))
    given = re.sub(r"^webdojo train my\.yaml --run .* --resume", "webdojo train my.yaml", given)
    given = re.sub(r"^(webdojo train \S+) --run runs/mine --resume", r"\1 sft.demos=0", given)
    assert "\n# the recipe" in run(f"{given} --dry-run", folder)


def asked(command: str, folder: Path) -> None:
    run(f"{command} reward.engine.base_url=$ENDPOINT reward.engine.model=m", folder)


def listens(command: str, folder: Path) -> None:
    listen(command.replace(" --port 8600", ""), folder, "http://")


def acts(command: str, folder: Path) -> None:
    checkpoint = next((folder / "runs" / "quickstart" / "checkpoints").glob("rl-*"))
    given = re.sub(r"runs/quickstart/checkpoints/rl-\d+", str(checkpoint), command)
    run(f"{given} --no-open", folder)


def away_from_a_clone(command: str, folder: Path) -> None:
    run(f"{command} --setup 'pip install webdojo'", folder)


def lints(command: str, folder: Path) -> None:
    """It finds something, which its exit code tells."""
    run(f"{command.replace(' --online', '')} || [ $? = 1 ]", folder)


def short(command: str, folder: Path) -> None:
    run(f"{command} evaluate.tasks=2 evaluate.max_steps=3", folder)


def with_jq(command: str, folder: Path) -> None:
    if shutil.which("jq"):
        run(command, folder)


def by(test: str) -> Way:
    """What needs other machines or their software is run, or rendered and read, by another test."""

    def names_a_test(command: str, folder: Path) -> None:
        assert (ROOT / test).exists()

    return names_a_test


WAYS: dict[str, Way] = {
    r"export OPENAI_API_KEY=…": as_it_stands,
    r"export WEBDOJO_BROWSER_TOKEN=.*": as_it_stands,
    r"webdojo analyze .*": as_it_stands,
    r"webdojo judge .* reward\.engine\.base_url=.*": asked,
    r"webdojo judge (audit|stress|replay|runs|distill|judges)\b.*": as_it_stands,
    r"webdojo apps list": as_it_stands,
    r"webdojo apps (install|serve|export) .*": by("tests/cli/test_apps.py"),
    r"webdojo eval apps --model http.*": by("tests/envs/apps/test_env.py"),
    r"webdojo eval quickstart --model tiny .*": short,
    r"webdojo eval .*": as_a_plan,
    r"webdojo browser serve --host .*": by("tests/browser_service/test_server.py"),
    r"webdojo browser serve": listens,
    r"webdojo train .*": as_a_plan,
    r"webdojo runs export RUN --format online_mind2web .*": by("tests/loops/results/test_online_mind2web.py"),
    r"webdojo runs pull .*": by("tests/loops/test_storage.py"),
    r"webdojo launch skypilot .*": away_from_a_clone,
    r"webdojo launch .*": as_it_stands,
    r"webdojo tasks lint .*": lints,
    r"webdojo tasks (build|propose) .*": by("tests/cli/test_tasks_build.py"),
    r"webdojo tasks .*": as_it_stands,
    r"webdojo act .* (--url https|--recipe webvoyager) ?.*": by("tests/cli/test_cli.py"),
    r"webdojo act .*": acts,
    r"webdojo view( runs.*| --host.*)?": listens,
    r"jq .*": with_jq,
    r"apt-get .*": by("tests/envs/apps/test_php.py"),
    r"(ray start|torchrun|srun|export MASTER_ADDR|python -m webdojo train) ?.*": by("tests/cluster"),
    r"(kubectl|helm|docker) .*": by("tests/test_deploy.py"),
    r"(pip install|python -m venv) .*": by("scripts/setup_vllm.sh"),
    r"(VLLM_SERVER_DEV_MODE=1 )?vllm serve .*|transformers serve .*": by("tests/vllm"),
}
"""The first that fits."""


def way(command: str) -> str | None:
    return next((pattern for pattern in WAYS if re.fullmatch(pattern, command)), None)


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_command(command: str, folder: Path) -> None:
    pattern = way(command)
    assert pattern is not None
    WAYS[pattern](command, folder)


def test_every_command_has_its_way_and_every_way_a_command() -> None:
    found = {command: way(command) for command in commands()}
    assert [command for command, pattern in found.items() if pattern is None] == []
    assert set(found.values()) == set(WAYS)
    for command, pattern in found.items():
        if WAYS[str(pattern)].__name__ == "names_a_test":
            WAYS[str(pattern)](command, ROOT)
