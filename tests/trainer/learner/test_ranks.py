"""Two ranks against one, on the CPU: the same learning, and clear ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.tensor import DTensor

from tests.policy.conftest import Images, chat, model_dir
from webdojo.errors import ConfigError, TrainError
from webdojo.loops.models import check_ranks, make_learner
from webdojo.policy.config import ModelConfig
from webdojo.policy.model.forward import TokenScores, text_layers
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe
from webdojo.store.images import ImageStore
from webdojo.trainer.batch import Sample
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.learner import Learner, Means
from webdojo.trainer.packing import MicroBatch, rounds
from webdojo.types import ImageRef

__all__ = ["model_dir"]


class StoredImages(Images):
    """Where every rank finds them."""

    def __init__(self, folder: Path) -> None:
        self.store = ImageStore(folder)

    def put(self, data: bytes, width: int, height: int, mime: str = "image/png") -> ImageRef:
        return self.store.put(data, width, height, mime)


def recipe_of(model: Path, ranks: int, **train: object) -> Recipe:
    base = {"lr": 1e-3, "batch_size": 4, "ppo_epochs": 1, "micro_batch_tokens": 1, "kl_coef": 0.1}
    config = TrainConfig.model_validate(base | {"threads": ranks, "ranks": ranks} | train)
    return Recipe(name="ranks", model=ModelConfig(path=str(model), device="cpu"), train=config)


def sample(processor: Processor, text: str, *shown: ImageRef, advantage: float = 1.0, unit: int = 0) -> Sample:
    ids = [*processor.encode(f"click {text}"), processor.stop_id]
    return Sample(
        prompt=chat(processor, text, *shown),
        response_ids=ids,
        old_logprobs=[-3.0] * len(ids),
        advantage=advantage,
        token_weights=[1 / (3 * len(ids))] * len(ids),
        versions=[0] * len(ids),
        unit=unit,
    )


def three_samples(processor: Processor, images: StoredImages) -> list[Sample]:
    """The first one shows images, and is the longest."""
    return [
        sample(processor, "find the red mug", images.random(1), images.random(2)),
        sample(processor, "open the cart", advantage=-1.0, unit=1),
        sample(processor, "find the lamp", advantage=-0.5, unit=2),
    ]


def die_on_rank_1(members: Sequence[Sample], scores: TokenScores) -> tuple[Tensor, dict[str, float]]:
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return scores.logprobs.sum(), {}


def weights_of(learner: Learner) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in learner.state_dict().items()}


def held_share(learner: Learner) -> float:
    """Of the weights of the reference model's layers, those that this rank holds."""
    reference = learner._scoring._reference
    assert reference is not None
    layers = [*text_layers(reference.model).parameters()]
    held = sum(p.to_local().numel() if isinstance(p, DTensor) else p.numel() for p in layers)
    return held / sum(p.numel() for p in layers)


@dataclass
class Story:
    """What two ranks did."""

    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    logprobs: dict[str, list[Tensor]] = field(default_factory=dict)
    weights: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    errors: dict[str, TrainError] = field(default_factory=dict)
    children: int = -1
    reference: float = 1.0
    """The share of the reference model that the driver holds."""


Batches = dict[str, list[Sample]]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> StoredImages:
    return StoredImages(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def batches(model_dir: Path, images: StoredImages) -> Batches:
    """Each sample is a row: the longest one goes to rank 0, the next to rank 1."""
    processor = Processor.load(model_dir)
    return {
        # Rank 0 has a row with images, and then one without; rank 1 one without, and then a filler.
        "images on one rank": three_samples(processor, images),
        "one row": [sample(processor, "where is the search box?", images.random(1))],
        "no images": [sample(processor, text, advantage=a) for text, a in (("a", 1.0), ("b c", -1.0), ("d e f", 0.5))],
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checkpoints")


@pytest.fixture(scope="module")
def story(model_dir: Path, images: StoredImages, batches: Batches, folders: Path) -> Story:
    """Two ranks update on each batch, go on from a checkpoint, lose a rank, start again and go on from there."""
    story, recipe = Story(), recipe_of(model_dir, 2)
    everything = [s for batch in batches.values() for s in batch]
    with closing(make_learner(recipe, images.store, recipe.model.path)) as pair:
        for name, batch in batches.items():
            story.metrics[name] = pair.train_policy(batch, 0.8)
            pair.save(folders / name)
        story.logprobs["last"] = pair.logprobs(everything, 0.8)
        story.weights["last"] = weights_of(pair)
        story.reference = held_share(pair)
        with pytest.raises(TrainError, match="already leads the ranks of a learner"):
            make_learner(recipe, images.store, recipe.model.path)
        pair.train_policy(everything, 0.8)
        story.weights["went on"] = weights_of(pair)
        for name in ("killed", "ended"):
            with pytest.raises(TrainError) as caught:
                pair.step(everything, share=1.0, temperature=1.0, lr=1e-3, loss=die_on_rank_1, means=Means())
            story.errors[name] = caught.value
    with closing(make_learner(recipe, images.store, recipe.model.path)) as pair:
        pair.load(folders / "no images")
        pair.train_policy(everything, 0.8)
        story.weights["resumed"] = weights_of(pair)
        shown = images.random(3)
        lost = sample(pair.processor, "a", shown)
        next(images.store.folder.glob(f"*/{shown.sha}*")).unlink()
        with pytest.raises(TrainError) as caught:
            pair.logprobs([batches["images on one rank"][0], lost], 0.8)
        story.errors["lost image"] = caught.value
    story.children = len(multiprocessing.active_children())
    return story


@pytest.fixture(scope="module")
def alone(model_dir: Path, images: StoredImages, batches: Batches) -> Story:
    """One rank does the same."""
    story, recipe = Story(), recipe_of(model_dir, 1)
    learner = make_learner(recipe, images.store, recipe.model.path)
    for name, batch in batches.items():
        story.metrics[name] = learner.train_policy(batch, 0.8)
        story.weights[name] = weights_of(learner)
    story.logprobs["last"] = learner.logprobs([s for batch in batches.values() for s in batch], 0.8)
    return story


@pytest.mark.parametrize("name", ["images on one rank", "one row", "no images"])
def test_two_ranks_learn_what_one_learns(story: Story, alone: Story, folders: Path, model_dir: Path, name: str) -> None:
    for key, value in alone.metrics[name].items():
        if key != "seconds":
            assert story.metrics[name][key] == pytest.approx(value, rel=1e-3, abs=1e-5), key
    saved, _ = load_model(folders / name)
    start, _ = load_model(model_dir)
    moved = 0.0
    for (key, weight), before in zip(alone.weights[name].items(), start.state_dict().values(), strict=True):
        torch.testing.assert_close(saved.state_dict()[key], weight, rtol=1e-4, atol=2e-5)
        moved = max(moved, float((weight - before).abs().max()))
    assert moved > 5e-4, "otherwise the tolerance would hide the update"


def test_ranks_hold_the_reference_model_in_parts(story: Story, alone: Story) -> None:
    assert story.reference == pytest.approx(0.5, abs=0.05)
    assert alone.metrics["no images"]["reference_kl"] > 1e-5, "otherwise every reference would do"


def test_scores_of_two_ranks_come_in_order(story: Story, alone: Story) -> None:
    for two, one in zip(story.logprobs["last"], alone.logprobs["last"], strict=True):
        torch.testing.assert_close(two, one, rtol=1e-3, atol=1e-3)


def test_weights_are_whole_and_those_that_are_saved(story: Story, folders: Path) -> None:
    saved, _ = load_model(folders / "no images")
    expected = saved.state_dict()
    assert story.weights["last"].keys() == expected.keys()
    assert all(torch.equal(value, expected[name]) for name, value in story.weights["last"].items())


def test_two_ranks_resume_after_a_kill_as_if_nothing_had_been(story: Story) -> None:
    expected = story.weights["went on"]
    assert not torch.equal(expected["lm_head.weight"], story.weights["last"]["lm_head.weight"])
    assert all(torch.equal(value, expected[name]) for name, value in story.weights["resumed"].items())


def test_one_rank_goes_on_from_the_checkpoint_of_two(
    story: Story, folders: Path, model_dir: Path, images: StoredImages, batches: Batches
) -> None:
    recipe = recipe_of(model_dir, 1)
    learner = make_learner(recipe, images.store, recipe.model.path)
    learner.load(folders / "no images")
    assert learner.steps == 3
    learner.train_policy([s for batch in batches.values() for s in batch], 0.8)
    for name, value in weights_of(learner).items():
        torch.testing.assert_close(value, story.weights["went on"][name], rtol=1e-4, atol=5e-5)


def test_a_rank_that_is_killed_ends_the_call_with_its_name(story: Story) -> None:
    assert "rank 1 of the learner's 2 failed: its process was killed by SIGKILL" in str(story.errors["killed"])
    assert "have ended after an earlier error" in str(story.errors["ended"])


def test_an_error_of_another_rank_is_told_in_its_words(story: Story) -> None:
    message = str(story.errors["lost image"])
    assert "rank 1 of the learner's 2 failed: StoreFailure: no screenshot" in message
    assert "\n" not in message
    assert story.children == 0


def test_ranks_end_with_the_driver() -> None:
    script = "import psutil, time; from webdojo.trainer.learner.driver import lead\n"
    script += "if __name__ == '__main__':\n    lead(repr, 2, 'cpu')\n"
    script += "    print(*[c.pid for c in psutil.Process().children()], flush=True)\n    time.sleep(600)"
    driver = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    pids = [int(pid) for pid in driver.stdout.readline().split()]
    assert pids
    driver.kill()
    driver.wait()
    driver.stdout.close()
    deadline = time.monotonic() + 120
    while any(psutil.pid_exists(pid) for pid in pids):
        assert time.monotonic() < deadline, "a rank outlives the process that leads it"
        time.sleep(0.05)


def test_bfloat16_computes_on_float32_weights(
    model_dir: Path,
    images: StoredImages,
    batches: Batches,
    alone: Story,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("webdojo.loops.models.compute_dtype", lambda recipe: torch.bfloat16)  # as on a GPU
    recipe = recipe_of(model_dir, 1)
    with closing(make_learner(recipe, images.store, recipe.model.path)) as learner:
        metrics = learner.train_policy(batches["images on one rank"], 0.8)
        learner.save(tmp_path / "c")
        weights = weights_of(learner)
    one = alone.metrics["images on one rank"]
    assert metrics["grad_norm"] == pytest.approx(one["grad_norm"], rel=0.1)
    assert metrics["engine_gap_mean"] == pytest.approx(one["engine_gap_mean"], rel=0.02)
    assert metrics["engine_gap_mean"] != one["engine_gap_mean"]
    assert {value.dtype for value in weights.values()} == {torch.float32}
    served, _ = load_model(tmp_path / "c")
    assert served.config.dtype == torch.float32
    assert all(torch.equal(value, weights[name]) for name, value in served.state_dict().items())


def test_more_ranks_than_gpus_are_refused(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    recipe = recipe_of(model_dir, 4).model_copy(update={"model": ModelConfig(device="cuda")})
    with pytest.raises(ConfigError, match=r"train\.ranks is 4, but torch sees 2 CUDA GPUs"):
        check_ranks(recipe)


def micro_batches(*tokens: int) -> list[MicroBatch]:
    return [MicroBatch((i,), (0,), n) for i, n in enumerate(tokens)]


@pytest.mark.parametrize(
    ("tokens", "count", "expected"),
    [
        ((), 2, []),
        ((5, 9), 1, [["9"], ["5"]]),
        ((5, 9), 2, [["9", "5"]]),
        ((9, 3, 4), 2, [["9", "4"], ["3", "(3)"]]),
        ((3, 9, 3, 3), 2, [["9", "3"], ["3", "3"]]),
        ((7,), 3, [["7", "(7)", "(7)"]]),
    ],
)
def test_every_rank_has_a_micro_batch_in_every_round(
    tokens: tuple[int, ...], count: int, expected: list[list[str]]
) -> None:
    dealt = rounds(micro_batches(*tokens), count)
    shown = [
        [str(each.tokens) if each.counts else f"({each.tokens})" for each in micro_batches] for micro_batches in dealt
    ]
    assert shown == expected
