"""What judging costs and whether the judge answers, as a dry run tells it."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from tests.policy.chat.endpoint import Endpoint
from webdojo.cli import app
from webdojo.dry_run.judging import answer_lines, judging, judging_lines
from webdojo.recipe import load_recipe
from webdojo.reward.function import Asked

FEW = [
    *("sft.demos=0", "train.iterations=2", "train.groups_per_iteration=3", "rollout.group_size=4"),
    *("rollout.max_steps=6", "rollout.sampling.max_tokens=100", "evaluate.tasks=5", "evaluate.max_steps=1"),
]


def judge(url: str, name: str = "openwebrl", **options: object) -> str:
    more = "".join(f", {key}: {value}" for key, value in options.items())
    return f"reward={{name: {name}, engine: {{name: chat, model: m, base_url: '{url}'{more}}}}}"


def test_it_is_counted_by_episodes_and_their_horizons() -> None:
    prices: dict[str, Any] = {"price_input": 2, "price_output": 8, "image_tokens": 1000}
    asked = judging(load_recipe("quickstart", [*FEW, judge("http://127.0.0.1:9/v1", **prices)]))
    rollouts, measured = 24, 10  # before and after: without a warm start there are two models
    images = rollouts * 3 + measured * 2  # an episode of one turn has two screenshots
    text = rollouts * (2000 + 6 * 300) + measured * (2000 + 300)
    answers = 34 * 2048
    usd = ((text + 1000 * images) * 2 + answers * 8) / 1e6
    assert asked._replace(usd=0) == Asked(34, images, text, 1000 * images, answers, 0)
    assert asked.usd == pytest.approx(usd)


def test_dynamic_sampling_may_ask_more_for_the_groups_that_train_alone() -> None:
    more = [*FEW, judge("http://127.0.0.1:9/v1"), "train.max_groups_per_iteration=6"]
    asked, dropping = judging_lines(load_recipe("quickstart", more))
    assert asked.startswith("judging these episodes, at most: 34 requests ")
    assert "up to 2 times the groups that train (train.max_groups_per_iteration): 58 requests, " in dropping
    assert len(judging_lines(load_recipe("quickstart", [*more, "train.dynamic_sampling=false"]))) == 1


@pytest.mark.parametrize(
    ("name", "rollout", "measured"),
    [("webgym", 6 + 2 + 4, 1 + 2 + 4), ("webjudge", 1 + 7 + 1, 1 + 2 + 1), ("process_outcome", 1 + 2 + 2, 1 + 1 + 2)],
)
def test_a_judge_that_asks_several_questions_is_counted_with_all_of_them(
    name: str, rollout: int, measured: int
) -> None:
    """Episodes of six turns and of one, on tasks of four facts at most."""
    asked = judging(load_recipe("quickstart", [*FEW, "env.difficulties=[1, 4]", judge("http://127.0.0.1:9/v1", name)]))
    assert asked.requests == 24 * rollout + 10 * measured


def test_where_nobody_has_brought_tasks_their_rubrics_have_ten_facts() -> None:
    horizons = [f"{section}.max_steps_by_difficulty={{}}" for section in ("rollout", "evaluate")]
    recipe = load_recipe("webgym", [*FEW, *horizons, "evaluate.every=0", "train.stages=[]"])
    assert judging(recipe).requests == 24 * (6 + 2 + 10) + 10 * (1 + 2 + 10)


def test_a_checkpoint_costs_no_money_and_counts_images_by_their_size() -> None:
    recipe = load_recipe("quickstart", [*FEW, "reward={name: openwebrl, engine: hf}"])
    asked = judging(recipe)
    assert (asked.usd, asked.image_tokens) == (None, asked.images * 12 * 12)
    assert judging_lines(recipe)[0].endswith(" out: no price is set")
    assert answer_lines(recipe) == []


def test_rules_ask_nobody() -> None:
    recipe = load_recipe("quickstart")
    assert (judging(recipe), judging_lines(recipe), answer_lines(recipe)) == (Asked(), [], [])


def test_a_dry_run_says_what_is_missing_and_plans_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = CliRunner().invoke(app, ["train", "openwebrl", "--dry-run", "model.path=tiny"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].startswith(
        "# missing: the judge 'openwebrl' (section reward): reward.engine.api_key_env names OPENAI_API_KEY"
    )
    assert "tasks.path=my-tasks.jsonl" in lines[1]
    assert lines[2] == "# or take the embedded web, which needs none of this: webdojo train openwebrl-dojo"
    (at,) = [number for number, line in enumerate(lines) if line.startswith("# judging ")]
    assert lines[at].startswith("# judging these episodes, at most: 34,200 requests with 102,600 images, ")
    assert lines[at].endswith(" USD")
    assert lines[at + 1].startswith("#   dynamic sampling rolls out more, up to 8 times the groups that train")
    assert lines[at + 1].endswith("; reward.engine.budget_usd is the bound of what is paid")
    assert any(line.startswith("# learner and engine together") for line in lines)


def test_a_dry_run_says_whether_the_judge_answers() -> None:
    with Endpoint() as endpoint:
        there = load_recipe("quickstart", [judge(endpoint.url)])
        assert answer_lines(there) == [f"judge: {endpoint.url} answers"]
    (line,) = answer_lines(there)
    assert line.startswith(f"judge: {endpoint.url} does not answer: ")
    done = CliRunner().invoke(app, ["train", "quickstart", "--dry-run", judge(endpoint.url)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"# {line}\n#\n# phase")
