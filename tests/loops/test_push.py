"""`webdojo push` against a hub that speaks its HTTP API: the real client, and what is in the repository afterwards."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard
from transformers import AutoModelForImageTextToText

from tests.loops.hub import TOKEN, hub
from webdojo.evaluation.metrics import wilson95
from webdojo.loops.push import chosen
from webdojo.policy.model.folder import model_folder
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.trainer.learner.checkpoint import write_manifest
from webdojo.view.card import PAPERS, model_card, papers_of

DOCS = Path(__file__).parents[2] / "docs"


def write_checkpoint(folder: Path) -> None:
    """As the learner does, with the weights of the tiny model."""
    shutil.copytree(model_folder("tiny"), folder, dirs_exist_ok=True)
    (folder / "trainer.pt").write_bytes(b"steps")
    (folder / "optimizer").mkdir()
    (folder / "optimizer" / "moments").write_bytes(b"moments")
    write_manifest(folder)


def measured(successes: int, n: int = 200) -> dict[str, Any]:
    return {"n": n, "rate": successes / n, "ci95": list(wilson95(successes, n))}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of which the second of three iterations was the best."""
    folder = tmp_path_factory.mktemp("push") / "run"
    recipe = load_recipe("quickstart", ["train.iterations=3", "evaluate.every=1", "seed=7"])
    info = {"versions": {"webdojo": "0.1.0"}, "git": "abc"}
    with RunStore.create(folder, dump_recipe(recipe), info) as store:
        store.checkpoints.save("sft", write_checkpoint, {"phase": "sft"})
        for iteration, successes in ((1, 60), (2, 90), (3, 80)):
            meta = {"phase": "rl", "iteration": iteration}
            store.checkpoints.save(f"rl-{iteration:04d}", write_checkpoint, meta)
            found = measured(successes)
            low, high = found["ci95"]
            store.add_metrics(
                "eval_rl", iteration, {"n": 200, "success": found["rate"], "ci95_low": low, "ci95_high": high}
            )
        store.write_result({f"success_{stage}": measured(n) for stage, n in (("base", 2), ("sft", 50), ("rl", 80))})
    return folder


def push(endpoint: str, home: Path, *arguments: str, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    own = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_TOKEN": token, "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-m", "webdojo.cli", "push", *arguments]
    return subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=300, check=False)


def test_a_model_that_was_pushed_can_be_read_and_has_its_card(run: Path, tmp_path: Path) -> None:
    with hub() as there:
        there.repositories["me/agent"] = {
            "model-00001-of-00002.safetensors": b"of an earlier push",
            "notes.md": b"mine",
        }
        done = push(there.url, tmp_path, str(run), "me/agent")
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"rl-0002: {there.url}/me/agent\n"
        files = there.repositories["me/agent"]
    weights = {path.name: path.read_bytes() for path in model_folder("tiny").iterdir()}
    assert {name: files[name] for name in weights} == weights
    assert files.keys() - weights.keys() == {"README.md", "recipe.yaml", "notes.md", ".gitattributes"} & files.keys()
    assert weights["model.safetensors"] in there.large.values(), "the weights did not go through git LFS"
    assert files["recipe.yaml"].decode() == (run / "recipe.yaml").read_text()

    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert AutoModelForImageTextToText.from_pretrained(tmp_path).config.model_type == "qwen3_vl"
    card: Any = ModelCard(files["README.md"].decode())
    assert (card.data.library_name, card.data.pipeline_tag) == ("transformers", "image-text-to-text")
    assert f"arxiv:{PAPERS['openwebrl'][1]}" in card.data.tags
    (result,) = card.data.eval_results
    assert (result.metric_type, result.metric_value) == ("success_rate", 0.45)
    assert result.metric_args["ci95"] == [round(bound, 4) for bound in wilson95(90, 200)]


def test_a_repository_can_be_private(run: Path, tmp_path: Path) -> None:
    with hub() as there:
        done = push(there.url, tmp_path, str(run), "me/hidden", "--private", "--checkpoint", "sft")
        assert done.returncode == 0, done.stderr
        assert there.private == {"me/hidden"}


def test_what_a_hub_does_not_take_is_one_clear_line(run: Path, tmp_path: Path) -> None:
    with hub() as there:
        for arguments, token, says in (
            (["agent"], TOKEN, "error: hub id 'agent' must be owner/name, such as me/my-web-agent"),
            (["me/agent"], "", "error: the hub needs a token that may write: set HF_TOKEN, or call `hf auth login`"),
            (["me/agent"], "hf_other", "error: me/agent was not pushed: .*401"),
            (["me/agent", "--checkpoint", "rl-9"], TOKEN, "error: no checkpoint 'rl-0009' in .*there: sft, rl-0001"),
        ):
            done = push(there.url, tmp_path, str(run), *arguments, token=token)
            assert done.returncode == 2, done.stderr
            assert re.match(says, done.stderr) and done.stderr.count("\n") == 1, done.stderr
        assert there.repositories == {}


def test_a_dry_run_prints_the_card(run: Path, tmp_path: Path) -> None:
    done = push("http://127.0.0.1:9", tmp_path, str(run), "me/agent", "--dry-run", token="")
    assert done.returncode == 0, done.stderr
    for line in (
        "# agent",
        "| before training | 200 | 1.0 % | 0.3 % .. 3.6 % |",
        "| after the warm start | 200 | 25.0 % | 19.5 % .. 31.4 % |",
        "| iteration 2 of online training, **this model** | 200 | 45.0 % | 38.3 % .. 51.9 % |",
        "| iteration 3 of online training | 200 | 40.0 % | 33.5 % .. 46.9 % |",
        "seed: 7",
        "- It was chosen by its success on the tasks that it is reported on, which makes the figure look better.",
    ):
        assert line in done.stdout.splitlines(), done.stdout
    assert (
        "iteration 2 of online training (of 3); of the kept ones the best by success on held-out tasks" in done.stdout
    )
    assert "judged by `rules`" in done.stdout and "Seed 7;" in done.stdout
    assert "ρ" in done.stdout, "the objective is missing"


def test_checkpoints_are_named_as_people_do(run: Path) -> None:
    with RunStore.open(run, readonly=True) as store:
        assert [chosen(store, name).name for name in ("best", "rl-3", "rl-0003", "sft")] == [
            *("rl-0002", "rl-0003", "rl-0003", "sft")
        ]
        card = model_card(store, chosen(store, "rl-3"), "me/agent")
        assert "| iteration 3 of online training, **this model** | 200 | 40.0 % |" in card
        assert "was chosen by its success" not in card


@pytest.mark.parametrize("name", PAPERS)
def test_papers_have_the_title_and_the_number_of_the_paper_index(name: str) -> None:
    title, number = PAPERS[name]
    assert f"{title} (arXiv {number})" in yaml.safe_load((DOCS / "papers" / f"{name}.yaml").read_text())["paper"]


@pytest.mark.parametrize(
    ("recipe", "papers"),
    [
        ("openwebrl", {"openwebrl"}),
        ("webgym", {"webgym"}),
        ("webagent_r1", {"webagent_r1"}),
        ("asyncwebrl", {"asyncwebrl", "webgym"}),
        ("openwebvoyager", {"openwebvoyager"}),
    ],
)
def test_a_recipe_names_the_papers_that_it_follows(recipe: str, papers: set[str]) -> None:
    found: Recipe = load_recipe(recipe)
    assert papers_of(found).keys() >= {recipe}
    assert papers_of(found).keys() == papers
