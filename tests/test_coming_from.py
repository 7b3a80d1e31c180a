"""`docs/coming-from.md`: the options that it names exist, as far as this environment can tell, and hints know them."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from trl import GRPOConfig, GRPOTrainer

from webdojo.recipe import all_keys
from webdojo.recipe_hints import meant

PAGE = (Path(__file__).parent.parent / "docs" / "coming-from.md").read_text()
ROWS = [
    [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
KEYS = all_keys({"engine": {"name": "vllm"}})
OTHERWISE = {
    *("num_iterations", "max_steps", "batch_size", "train_batch_size", "type", "interval", "n", "max_model_len"),
    *("alpha", "rank", "lora_alpha", "path", "ac", "name", "wandb", "source", "num_infer_gpus", "enable"),
    *("use_kl_loss", "loss_type", "model", "peft_config", "free_cache_engine", "nnodes", "group_size"),
}
"""Names that stand for something else, too, or have no key of ours to themselves."""


def test_every_key_of_ours_is_one():
    assert {key for ours, *_ in ROWS for key in ours} <= set(KEYS)


def test_every_option_of_trl_is_one():
    options = {field.name for field in dataclasses.fields(GRPOConfig)}
    arguments = set(inspect.signature(GRPOTrainer.__init__).parameters)
    assert {name for _, trl, *_ in ROWS for name in trl} <= options | arguments


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][0])
def test_whoever_writes_another_name_is_told_ours(row):
    ours, *theirs = row
    names = {name.rpartition(".")[2] for cell in theirs for name in cell} - OTHERWISE
    assert [name for name in sorted(names) if not set(meant(name, KEYS)) & set(ours)] == []


def test_the_example_says_what_the_page_shows():
    (line,) = re.findall(r"^```bash\nwebdojo (.*)\n```", PAGE, re.MULTILINE)
    command = [sys.executable, "-m", "webdojo.cli", *line.split()]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    (shown,) = re.findall(r"^```text\n(.*)\n```", PAGE, re.MULTILINE)
    assert said.strip() == shown
