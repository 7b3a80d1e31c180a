"""Fine-tuning on a data set in place of the oracle's demonstrations (`sft.data`)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from webdojo.errors import ConfigError, StoreError
from webdojo.loops.collection import Format
from webdojo.loops.collection.curate import curate, curation_recipe
from webdojo.loops.collection.dataset import counts, read_manifest, write_manifest
from webdojo.loops.collection.exchange import export_dataset, import_dataset
from webdojo.loops.collection.imitated import check_data, images_of, imitated
from webdojo.loops.start import collect, train
from webdojo.recipe import load_recipe
from webdojo.store.run import RunStore

BRIEF = [
    *("train.iterations=0", "evaluate.tasks=1", "evaluate.max_steps=1", "evaluate.sampling.max_tokens=4"),
    "sft.epochs=1",
]


@pytest.mark.slow
def test_a_warm_start_on_collected_demonstrations_is_the_one_on_its_own(tmp_path: Path) -> None:
    """The same tasks, order, tokens and screens, so the very same weights."""
    collect(load_recipe("quickstart", ["collect.tasks=4"]), tmp_path / "set", resume=False)
    export_dataset(tmp_path / "set", tmp_path / "out", Format.trl)
    import_dataset(tmp_path / "out", tmp_path / "back")
    train(load_recipe("quickstart", [*BRIEF, "sft.demos=4"]), tmp_path / "own", resume=False)
    recipe = load_recipe("quickstart", [*BRIEF, f"sft.data={tmp_path / 'back'}"])
    train(recipe, tmp_path / "collected", resume=False)
    weights = [(tmp_path / run / "checkpoints/sft/model.safetensors").read_bytes() for run in ("own", "collected")]
    assert weights[0] == weights[1]
    with RunStore.open(tmp_path / "collected", readonly=True) as store:
        assert not store.rows("demo"), "the oracle demonstrated all the same"
        assert load_recipe(str(store.path / "recipe.yaml")).sft.data == [str(tmp_path / "back")]


def test_of_a_data_set_that_nobody_has_curated_successes_are_imitated(erring: Path, tmp_path: Path) -> None:
    counts = read_manifest(erring).counts
    assert counts.successes < counts.trajectories, "nothing failed, so this shows nothing"
    raw = load_recipe("quickstart", [f"sft.data={erring}"])
    assert len(imitated(raw)) == counts.successes
    every = ["curate.outcomes=all", "curate.keep=all"]
    curate([erring], curation_recipe([erring], every), tmp_path / "every")
    both = load_recipe("quickstart", [f"sft.data=[{erring}, {tmp_path / 'every'}]"])
    found = imitated(both)
    assert len(found) == counts.successes + counts.trajectories
    last = found[-1].turns[0].observation.screenshot
    assert images_of(both).get(last)[:2] == b"\xff\xd8"


def test_a_data_set_without_anything_to_imitate_is_refused(erring: Path, tmp_path: Path) -> None:
    of_failures = tmp_path / "failures"
    shutil.copytree(erring, of_failures)
    manifest = read_manifest(of_failures)
    with RunStore.open(of_failures, readonly=True) as store:
        failures = [row for row in store.rows() if not row.success]
    failed = manifest.model_copy(update={"trajectories": [row.id for row in failures], "counts": counts(failures)})
    nothing = manifest.model_copy(update={"trajectories": [], "counts": counts([])})
    rules = nothing.model_copy(update={"curation": {"rules": {"per_website": 1}}})
    for told, made in {"nobody has curated it": failed, "holds nothing": nothing, "'per_website': 1": rules}.items():
        write_manifest(of_failures, made)
        with pytest.raises(ConfigError, match=told):
            train(load_recipe("quickstart", [f"sft.data={of_failures}"]), tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        (["harness.screenshots_kept=2"], r"harness\.screenshots_kept 1, and this recipe has 2"),
        (["harness=webgym"], r"harness\.name 'openwebrl', and this recipe has 'webgym'"),
    ],
)
def test_a_data_set_of_another_harness_is_refused(overrides: list[str], problem: str, erring: Path) -> None:
    with pytest.raises(ConfigError, match=problem):
        check_data(load_recipe("quickstart", [f"sft.data={erring}", *overrides]))


def test_a_data_set_of_another_tokenizer_or_none_is_refused(erring: Path, model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"another tokenizer than that of model\.path"):
        check_data(load_recipe("quickstart", [f"sft.data={erring}", f"model.path={model_dir}"]))
    with pytest.raises(StoreError, match="holds no data set"):
        train(load_recipe("quickstart", [f"sft.data={tmp_path}"]), tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()
