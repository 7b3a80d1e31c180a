"""The recipes of benchmarks have the values of their protocols, say what is missing, and read the files."""

from __future__ import annotations

import re
import shlex
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from webdojo.envs.registry import TasksConfig
from webdojo.envs.task_sets import tasks_of
from webdojo.envs.web import Web
from webdojo.errors import ConfigError, Missing
from webdojo.recipe import Recipe, dump_recipe, load_recipe, recipe_names

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
PAGE = (ROOT / "docs" / "benchmarks.md").read_text()

OFFICIAL = {  # OpenWebRL A.6, Tables 7 and 8
    "browser.viewport_px": [1280, 1000],
    "harness.screenshots_kept": 1,
    "rollout.concurrency": 16,
    "rollout.max_context_tokens": 32768,
    "rollout.task_timeout_s": 600,
    "evaluate.max_steps": 30,
    "evaluate.max_steps_by_difficulty": {},
    "evaluate.sampling.temperature": 0.6,
    "evaluate.sampling.top_p": 0.95,
    "evaluate.sampling.top_k": 20,
    "evaluate.sampling.max_tokens": 4096,
    "evaluate.sampling.timeout_s": 120,
    "env.name": "web",
}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "webvoyager": OFFICIAL
    | {
        "tasks.source": "webvoyager",
        "evaluate.tasks": 643,
        "reward.name": "webvoyager",
        "reward.engine.model": "gpt-4o",
        "reward.max_images": 30,
        "reward.sampling.temperature": 0,
        "reward.timeout_s": 120,
    },
    "online_mind2web": OFFICIAL  # OpenWebRL B
    | {
        "tasks.source": "online_mind2web",
        "evaluate.tasks": 300,
        "reward.name": "agenttrek",
        "reward.engine.model": "o4-mini",
        "reward.max_images": 1,
        "reward.timeout_s": 120,
    },
    "online_mind2web-webjudge": OFFICIAL
    | {
        "tasks.source": "online_mind2web",
        "evaluate.tasks": 300,
        "reward.name": "webjudge",
        "reward.engine.model": "o4-mini",
        "reward.max_images": 50,
        "reward.score_threshold": 3,
    },
    "deepshop": OFFICIAL  # OpenWebRL B
    | {
        "tasks.source": "deepshop",
        "evaluate.tasks": 150,
        "reward.name": "deepshop",
        "reward.variant": "molmoweb",
        "reward.engine.model": "gpt-4o",
        "reward.max_images": 0,
        "reward.timeout_s": 120,
    },
    "webarena_lite": {  # WebAgent-R1 §3.1 and A
        "env.name": "webarena",
        "evaluate.tasks": 165,
        "reward.name": "webarena",
        "reward.dialect": "webarena_lite",
        "reward.strict_compat": True,
        "harness.name": "webagent_r1",
        "evaluate.max_steps": 15,
    },
    "webgym_ood": {  # WebGym §3.3 and §3.5
        "env.name": "web",
        "tasks.source": "webgym",
        "evaluate.tasks": 1167,
        "evaluate.max_steps": 70,
        "evaluate.max_steps_by_difficulty": {"3": 30, "6": 50},
        "evaluate.sampling.temperature": 1.0,
        "evaluate.sampling.top_p": 0.99,
        "evaluate.sampling.top_k": 2,
        "reward.name": "webgym",
        "reward.engine.model": "gpt-4o",
        "browser.viewport_px": [1000, 1000],
        "harness.name": "webgym",
        "harness.memory": True,
    },
    "miniwob": {"env.name": "miniwob", "reward.name": "env", "evaluate.tasks": 625, "evaluate.max_steps": 10},
    "dojo": {"env.name": "dojo", "env.eval_split": "test", "reward.name": "rules", "evaluate.max_steps": 30},
    "apps": {"env.name": "apps", "reward.name": "env", "evaluate.tasks": 200, "evaluate.max_steps": 30},
}
FILES = {
    "webvoyager": "webvoyager/WebVoyager_data.jsonl",
    "online_mind2web": "online-mind2web/online_mind2web.json",
    "online_mind2web-webjudge": "online-mind2web/online_mind2web.json",
    "deepshop": "deepshop/deepshop.jsonl",
}


def value(recipe: Recipe, key: str) -> Any:
    node: Any = recipe.model_dump(mode="json")
    for part in key.split("."):
        node = node[part]
    return {str(name): part for name, part in node.items()} if isinstance(node, dict) else node


def test_these_are_all_recipes_that_train_nothing() -> None:
    recipes = {name: load_recipe(name) for name in recipe_names()}
    idle = {name for name, each in recipes.items() if not (each.train.iterations or each.cycles.rounds)}
    assert idle == PROTOCOLS.keys()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_benchmarks_recipe_has_the_values_of_its_protocol(name: str) -> None:
    recipe = load_recipe(name)
    assert {key: value(recipe, key) for key in PROTOCOLS[name]} == PROTOCOLS[name]
    assert (recipe.tasks.path, recipe.train.stages) == ("", [])
    assert not recipe.reward.format_reward, "a benchmark counts successes alone"


def test_a_judge_that_reasons_is_not_sent_what_it_refuses() -> None:
    for name in ("online_mind2web", "online_mind2web-webjudge"):
        sent = value(load_recipe(name), "reward.engine.extra_body")
        assert sent["temperature"] is None and sent["max_tokens"] is None and sent["max_completion_tokens"] > 1000


@pytest.mark.parametrize(
    ("name", "things"),
    [
        *((name, ["OPENAI_API_KEY", "tasks.eval_path"]) for name in [*FILES, "webgym_ood"]),
        ("webarena_lite", ["env.eval_path"]),
    ],
)
def test_what_is_missing_is_said_in_one_line(name: str, things: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Missing) as caught:
        load_recipe(name).check(trains=False, demonstrates=False)
    assert "\n" not in str(caught.value)
    assert len(caught.value.things) == len(things)
    for thing, said in zip(things, caught.value.things, strict=True):
        assert thing in said


def test_without_its_sites_webarena_says_so() -> None:
    with pytest.raises(Missing, match=r"no site of WebArena is named: host them, .*env\.sites="):
        load_recipe("webarena_lite", ["env.eval_path=rows.json"]).check(trains=False, demonstrates=False)


@pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside this checkout")
@pytest.mark.parametrize("name", FILES)
def test_with_its_file_and_a_key_nothing_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key-of-anybody")
    recipe = load_recipe(name, [f"tasks.eval_path={DATA / FILES[name]}"])
    recipe.check(trains=False, demonstrates=False)
    assert len(recipe.draw("eval", recipe.evaluate.tasks)) == recipe.evaluate.tasks


@pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside this checkout")
def test_the_rows_of_webarena_run_by_the_evaluators_of_webarena_lite() -> None:
    given = [
        f"env.eval_path={DATA / 'webarena' / 'test.raw.json'}",
        "env.sites={__SHOPPING__: 'http://localhost:7770', __REDDIT__: 'http://localhost:9999'}",
        *("env.graded=false", "evaluate.tasks=812", "browser.guard.private_hosts=[localhost]"),
    ]
    recipe = load_recipe("webarena_lite", given)
    recipe.check(trains=False, demonstrates=False)
    assert {task.website for task in recipe.draw("eval", 812)} == {"localhost"}
    assert len(recipe.draw("eval", 812)) > 165


# --- dates ------------------------------------------------------------------------------------

ROW = '{"web_name": "Booking", "id": "B--%d", "ques": "%s", "web": "https://b.example/"}\n'


def test_dates_move_only_on_request_and_the_recipe_keeps_the_day(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(ROW % (0, "A hotel for May 2, 2024") + ROW % (1, "Scores of May 2, 2024"))
    base = ["env=web", "reward=rules", "tasks.source=webvoyager", f"tasks.eval_path={file}"]
    as_they_are = load_recipe("webvoyager", base).draw("eval", 10)
    assert [task.id for task in as_they_are] == ["webvoyager:B--0", "webvoyager:B--1"]
    assert [task.metadata["plans_ahead"] for task in as_they_are] == [True, False]
    recipe = load_recipe("webvoyager", [*base, "tasks.shift_dates=2027-01-01"])
    moved, same = recipe.draw("eval", 10)
    assert (moved.id, moved.instruction) == ("webvoyager:B--0+3y", "A hotel for May 2, 2027")
    assert moved.metadata["past_dated"] == ["2024-05-02"], "it still says what it was"
    assert same == as_they_are[1]
    (tmp_path / "again.yaml").write_text(dump_recipe(recipe))
    assert load_recipe(str(tmp_path / "again.yaml")).tasks.shift_dates == date(2027, 1, 1)


@pytest.mark.parametrize("day", ["soon", "2100-01-01"])
def test_a_day_that_is_none_is_refused(day: str) -> None:
    with pytest.raises(ConfigError, match=r"tasks\.shift_dates = .*: input should be"):
        load_recipe("webvoyager", [f"tasks.shift_dates={day}"])


def test_tasks_of_any_source_move(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{"id": "a", "instruction": "A flight on 2024-05-02", "start_url": "http://a/", "website": "a"}\n')
    config = TasksConfig(eval_path=str(file), shift_dates=date(2026, 6, 1))
    assert [task.instruction for task in tasks_of(Web(), config, "eval", 5, 0)] == ["A flight on 2027-05-02"]


# --- the embedded web -------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["valid", "test", "test_phrasings", "test_kinds"])
def test_a_split_of_the_embedded_web(split: str) -> None:
    recipe = load_recipe("dojo", [f"env.eval_split={split}"])
    tasks = recipe.draw("eval", 12)
    assert tasks == recipe.draw("eval", 12)
    assert len({task.id for task in tasks}) == 12
    assert (
        {task.kind for task in tasks} <= {"admin", "places"}
        if split == "test_kinds"
        else {"admin"}.isdisjoint({task.kind for task in tasks})
    )
    assert {task.website for task in tasks}.isdisjoint({task.website for task in recipe.draw("train", 30)})


# --- the documentation ------------------------------------------------------------------------


def test_the_page_has_every_benchmark_with_its_number_of_tasks_and_steps() -> None:
    for name in PROTOCOLS:
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
        recipe = load_recipe(name)
        assert row.split("|")[-2].split(",")[-1].split()[0] == str(recipe.evaluate.max_steps)
        assert f"webdojo eval {name} --model" in PAGE
        head = (ROOT / "src/webdojo/recipes" / f"{name}.yaml").read_text().partition("\nbase:")[0]
        for part in ("Reproduces:", "You bring", "Compare with", f"`webdojo eval {name} --model …`"):
            assert part in head, f"{name}.yaml does not say: {part}"


def test_the_commands_of_the_page_are_right() -> None:
    blocks = "\n".join(re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", " ")
    commands = [line for line in blocks.splitlines() if line.startswith("webdojo eval")]
    assert len(commands) == 10
    for command in commands:
        _, _, name, *rest = shlex.split(command)
        load_recipe(name, [word for word in rest if "=" in word and not word.startswith("--")])
