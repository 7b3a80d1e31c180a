from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel

from tests.policy.conftest import Images
from tests.trainer.conftest import MakeSamples
from webdojo.errors import ModelError, TrainError
from webdojo.policy.model.forward import TokenScores
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import Sample
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner import checkpoint
from webdojo.trainer.learner.learner import Learner, Means
from webdojo.trainer.objective import flat
from webdojo.types import ImageRef

Loaded = tuple[PreTrainedModel, Processor]


def settings(**changes: object) -> TrainConfig:
    base = {"lr": 1e-3, "batch_size": 4, "ppo_epochs": 2, "weight_decay": 0.01, "old_logprobs": "learner"}
    return TrainConfig.model_validate(base | changes)


def weights_of(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def gradients(learner: Learner, samples: list[Sample]) -> dict[str, torch.Tensor]:
    """Accumulated by `step` before the optimizer runs, taken by a loss of Σ w · -A · logπ."""
    seen: dict[str, torch.Tensor] = {}

    def loss(members: Sequence[Sample], scores: TokenScores) -> tuple[torch.Tensor, dict[str, float]]:
        pushes = [[w * s.advantage for w in s.token_weights] for s in members]
        return -(flat(pushes, scores.logprobs.device) * scores.logprobs).sum(), {}

    def keep(*_: object) -> None:
        seen.update({n: p.grad.clone() for n, p in learner.model.named_parameters() if p.grad is not None})

    handle = learner._optimizer.register_step_pre_hook(keep)
    learner.step(samples, share=1.0, temperature=1.0, lr=0.0, loss=loss, means=Means())
    handle.remove()
    return seen


def test_gradient_of_many_rows_equals_that_of_one(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    samples = make_samples(6, advantages=(1.0, -0.5))
    by_budget = [
        gradients(Learner(*loaded, images, settings(micro_batch_tokens=budget, grad_clip=1e9)), samples)
        for budget in (1, 100, 100_000)
    ]
    scale = max(float(g.abs().max()) for g in by_budget[-1].values())
    assert scale > 1e-4
    for cut in by_budget[:-1]:
        assert cut.keys() == by_budget[-1].keys()
        for name, gradient in cut.items():
            torch.testing.assert_close(gradient, by_budget[-1][name], rtol=1e-3, atol=1e-5 * scale)


def test_logprobs_keep_the_order_of_the_samples(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    samples = make_samples(5)
    learner = Learner(*loaded, images, settings(micro_batch_tokens=100))
    together = learner.logprobs(samples, 0.8)
    for sample, logprobs in zip(samples, together, strict=True):
        assert logprobs.shape == (len(sample.response_ids),)
        torch.testing.assert_close(logprobs, learner.logprobs([sample], 0.8)[0], rtol=1e-4, atol=1e-4)


def test_an_update_raises_good_responses_and_lowers_bad_ones(
    loaded: Loaded, images: Images, make_samples: MakeSamples
) -> None:
    samples = make_samples(8, advantages=(1.0, -1.0))
    learner = Learner(*loaded, images, settings(lr=3e-4, batch_size=8, ppo_epochs=4))
    before = [float(lp.sum()) for lp in learner.logprobs(samples, 1.0)]
    metrics = learner.train_policy(samples, 1.0)
    after = [float(lp.sum()) for lp in learner.logprobs(samples, 1.0)]
    good = [b - a for a, b, s in zip(before, after, samples, strict=True) if s.advantage > 0]
    bad = [b - a for a, b, s in zip(before, after, samples, strict=True) if s.advantage < 0]
    assert min(good) > 0 > max(bad), f"{good=} {bad=}"
    assert metrics["optimizer_steps"] == 4
    assert metrics["tokens"] == sum(len(s.response_ids) for s in samples)
    assert metrics["grad_norm"] > 0
    assert metrics["approx_kl"] > 0
    assert metrics["entropy"] > 0
    assert metrics["packing"] > 1


def test_lr_zero_leaves_the_ratio_at_one(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    config = settings(ppo_epochs=2).model_copy(update={"lr": 0.0})
    metrics = Learner(*loaded, images, config).train_policy(make_samples(6), 0.8)
    assert metrics["ratio"] == pytest.approx(1.0, abs=1e-4)
    assert metrics["approx_kl"] == pytest.approx(0.0, abs=1e-6)
    assert metrics["clip_fraction"] == 0.0


def test_the_first_step_follows_the_engines_logprobs_and_reports_the_gap(
    loaded: Loaded, images: Images, make_samples: MakeSamples
) -> None:
    learner = Learner(*loaded, images, settings(ppo_epochs=1, batch_size=8, old_logprobs="engine"))
    samples = make_samples(6)
    current = learner.logprobs(samples, 1.0)
    shifted = [
        dataclasses.replace(s, old_logprobs=(lp - 0.1).tolist(), turn=k)
        for k, (s, lp) in enumerate(zip(samples, current, strict=True))
    ]
    told: dict[int, list[float]] = {}

    def note(scored: Sequence[Sample], logprobs: Sequence[torch.Tensor]) -> None:
        told.update({sample.turn: lp.tolist() for sample, lp in zip(scored, logprobs, strict=True)})

    metrics = learner.train_policy(shifted, 1.0, on_scored=note)
    assert told == {k: pytest.approx(lp.tolist(), abs=1e-4) for k, lp in enumerate(current)}
    assert metrics["ratio"] == pytest.approx(2.718281828**0.1, rel=1e-3)
    assert metrics["engine_gap_mean"] == pytest.approx(0.1, rel=1e-2)
    assert metrics["engine_gap_max"] == pytest.approx(0.1, rel=1e-2)


def test_the_gap_leaves_stale_samples_out(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    fresh, stale = make_samples(2)
    stale = dataclasses.replace(stale, versions=[3] * len(stale.versions), old_logprobs=[-9.0] * len(stale.versions))
    learner = Learner(*loaded, images, settings(old_logprobs="engine"))
    exact = learner.logprobs([fresh], 1.0)[0].tolist()
    fresh = dataclasses.replace(fresh, versions=[4] * len(fresh.versions), old_logprobs=exact)
    assert learner.train_policy([fresh, stale], 1.0)["engine_gap_max"] < 1e-4


def test_an_unmeasured_gap_is_absent_rather_than_zero(
    loaded: Loaded, images: Images, make_samples: MakeSamples
) -> None:
    fresh, stale = make_samples(2)
    fresh = dataclasses.replace(fresh, versions=[1] * len(fresh.versions))
    config = settings(old_logprobs="engine", batch_size=1, ppo_epochs=1)
    measured = {
        "engine_gap_max" in Learner(*loaded, images, config, seed=seed).train_policy([fresh, stale], 1.0)
        for seed in range(6)
    }
    assert measured == {True, False}, "some orders begin with the stale sample and cannot measure the gap"


def test_frozen_parameters_stay(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    model, processor = loaded
    model.model.visual.requires_grad_(False)
    before = weights_of(model)
    Learner(model, processor, images, settings()).train_policy(make_samples(4), 1.0)
    moved = {name for name, now in weights_of(model).items() if not torch.equal(now, before[name])}
    assert moved
    assert not any(".visual." in name for name in moved)


def test_a_frozen_tower_sees_each_screenshot_once_and_learns_the_same(
    model_dir: Path,
    images: Images,
    make_samples: MakeSamples,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = make_samples(6, advantages=(1.0, -1.0))
    reads: list[str] = []
    get = images.get

    def counted(image: ImageRef) -> bytes:
        reads.append(image.sha)
        return get(image)

    monkeypatch.setattr(images, "get", counted)
    logprobs = []
    for frozen in (True, False):
        model, processor = load_model(model_dir)
        model.model.visual.requires_grad_(not frozen)
        learner = Learner(model, processor, images, settings(micro_batch_tokens=100))
        logprobs.append(torch.cat(learner.logprobs(samples, 0.8)))
        if frozen:
            learner.train_policy(samples, 0.8)
            assert sorted(reads) == sorted({image.sha for s in samples for image in s.prompt.images})
            learner.save(tmp_path / "frozen")
            learner.load(tmp_path / "frozen")
            reads.clear()
            learner.logprobs(samples, 0.8)
            assert len(reads) == 3, "other weights may have come with the checkpoint"
    torch.testing.assert_close(logprobs[0], logprobs[1], atol=1e-5, rtol=0)


def test_an_infinite_loss_raises_and_changes_nothing(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    model, processor = loaded
    samples = make_samples(4)
    samples[2] = dataclasses.replace(samples[2], advantage=float("nan"))
    before = weights_of(model)
    with pytest.raises(TrainError, match="optimizer step 0: loss nan"):
        Learner(model, processor, images, settings()).train_policy(samples, 1.0)
    assert all(torch.equal(now, before[name]) for name, now in weights_of(model).items())


def test_an_update_without_samples_takes_no_step(loaded: Loaded, images: Images) -> None:
    metrics = Learner(*loaded, images, settings()).train_policy([], 1.0)
    assert metrics.pop("seconds") >= 0
    assert metrics == {"samples": 0, "tokens": 0, "optimizer_steps": 0}


def test_a_cosine_rate_falls_over_the_iterations(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    learner = Learner(*loaded, images, settings(schedule="cosine", iterations=4, lr=1e-3))
    rates = [learner.train_policy(make_samples(2), 1.0, version)["lr"] for version in range(4)]
    assert rates == pytest.approx([1e-3 * (1 + math.cos(math.pi * step / 4)) / 2 for step in range(4)])


def test_resume_equals_the_uninterrupted_run_bit_for_bit(
    model_dir: Path, images: Images, make_samples: MakeSamples, tmp_path: Path
) -> None:
    samples = make_samples(10, advantages=(1.0, -1.0))
    config = settings(warmup_steps=5)
    whole = Learner(*load_model(model_dir), images, config, seed=3)
    whole.train_policy(samples, 1.0)
    whole.save(tmp_path / "half")
    whole.train_policy(samples, 1.0)

    resumed = Learner(*load_model(model_dir), images, config, seed=99)
    resumed.load(tmp_path / "half")
    assert resumed.steps == 6
    resumed.train_policy(samples, 1.0)

    expected = weights_of(whole.model)
    assert all(torch.equal(now, expected[name]) for name, now in weights_of(resumed.model).items())


def test_weights_that_are_large_lie_in_several_files(
    model_dir: Path, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "FILE_BYTES", "400KB")
    learner = Learner(*load_model(model_dir), images, settings())
    learner.save(tmp_path)
    files = list(tmp_path.glob("*.safetensors"))
    assert len(files) > 2
    assert max(file.stat().st_size for file in files) < 420_000
    saved, _ = load_model(tmp_path)
    expected = weights_of(learner.model)
    assert all(torch.equal(now, expected[name]) for name, now in weights_of(saved).items())
    checkpoint.check_checkpoint(tmp_path)


@pytest.mark.parametrize("frozen_before", [True, False])
def test_a_checkpoint_of_other_trained_parameters_is_refused(
    model_dir: Path, images: Images, make_samples: MakeSamples, tmp_path: Path, frozen_before: bool
) -> None:
    before, now = load_model(model_dir), load_model(model_dir)
    for (model, _), frozen in ((before, frozen_before), (now, not frozen_before)):
        model.model.visual.requires_grad_(not frozen)
    learner = Learner(*before, images, settings())
    learner.train_policy(make_samples(4), 1.0)
    learner.save(tmp_path / "c")
    other = Learner(*now, images, settings())
    weights = weights_of(other.model)
    with pytest.raises(ModelError, match=r"first difference 'model\.visual\..*resume with the same model\.freeze_\*"):
        other.load(tmp_path / "c")
    assert all(torch.equal(value, weights[name]) for name, value in weights_of(other.model).items())


@pytest.mark.parametrize(
    "name", ["model.safetensors", "trainer.pt", "optimizer/__0_0.distcp", "tokenizer.json", "manifest.json"]
)
def test_a_corrupt_checkpoint_is_named(
    loaded: Loaded, images: Images, make_samples: MakeSamples, tmp_path: Path, name: str
) -> None:
    learner = Learner(*loaded, images, settings())
    learner.train_policy(make_samples(1), 1.0)
    learner.save(tmp_path / "c")
    path = tmp_path / "c" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x80
    path.write_bytes(bytes(data))
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        learner.load(tmp_path / "c")
    path.unlink()
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        learner.load(tmp_path / "c")


def test_a_checkpoint_of_another_shape_is_refused(loaded: Loaded, images: Images, tmp_path: Path) -> None:
    model, processor = loaded
    Learner(model, processor, images, settings()).save(tmp_path / "c")
    config = model.config
    config.text_config.intermediate_size += 8
    other = Learner(type(model)(config), processor, images, settings())
    with pytest.raises(ModelError, match="another shape"):
        other.load(tmp_path / "c")


@pytest.mark.parametrize(
    "options",
    [
        {"policy_loss": "gspo"},
        {"policy_loss": "decoupled"},
        {"policy_loss": "decoupled", "old_logprobs": "loglinear", "dual_clip": 3.0},
        {"policy_loss": "cispo", "correction": "tis"},
        {"policy_loss": "bc", "entropy_coef": 0.01},
        {"kl_coef": 0.1},
    ],
)
def test_every_objective_takes_steps(
    model_dir: Path, images: Images, make_samples: MakeSamples, options: dict[str, object]
) -> None:
    model, processor = load_model(model_dir)
    reference = load_model(model_dir)[0] if "kl_coef" in options else None
    learner = Learner(model, processor, images, settings(**options), reference=reference)
    metrics = learner.train_policy(make_samples(6, advantages=(1.0, -1.0)), 0.8)
    assert metrics["grad_norm"] > 0
    if "kl_coef" in options:
        assert metrics["reference_kl"] > 0
        assert reference is not None
        assert next(reference.parameters()).grad is None


def test_a_heavy_kl_term_holds_the_policy_back(model_dir: Path, images: Images, make_samples: MakeSamples) -> None:
    moved = []
    for kl_coef in (0.0, 50.0):
        model, processor = load_model(model_dir)
        learner = Learner(
            model,
            processor,
            images,
            settings(kl_coef=kl_coef, ppo_epochs=6, lr=3e-4),
            reference=load_model(model_dir)[0],
        )
        samples = make_samples(6, advantages=(1.0, -1.0))
        before = torch.cat(learner.logprobs(samples, 1.0))
        learner.train_policy(samples, 1.0)
        moved.append(float((torch.cat(learner.logprobs(samples, 1.0)) - before).abs().mean()))
    assert moved[1] < 0.7 * moved[0]


def test_an_entropy_bonus_raises_the_entropy(model_dir: Path, images: Images, make_samples: MakeSamples) -> None:
    entropies = []
    for coef in (0.0, 1.0):
        learner = Learner(*load_model(model_dir), images, settings(entropy_coef=coef, ppo_epochs=4, lr=3e-4))
        samples = make_samples(6, advantages=(0.0,))
        learner.train_policy(samples, 1.0)
        entropies.append(learner.train_policy(samples, 1.0)["entropy"])
    assert entropies[1] > entropies[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correction": "tis", "old_logprobs": "engine"}, "set old_logprobs: learner"),
        ({"policy_loss": "decoupled", "old_logprobs": "engine"}, "set old_logprobs: learner"),
        ({"policy_loss": "decoupled", "correction": "tis"}, "leave correction at none"),
        ({"correction": "tis", "old_logprobs": "loglinear"}, "set old_logprobs: learner"),
        ({"old_logprobs": "loglinear"}, "is for policy_loss 'decoupled', not 'clip'"),
        ({"policy_loss": "bc", "dual_clip": 3.0}, "'bc' has no dual clip"),
        ({"dual_clip": 0.5}, "take one above 1"),
        ({"groups_per_iteration": 4, "max_groups_per_iteration": 3}, "no update could begin"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings(**options)


@pytest.mark.parametrize("kl_coef", [0.0, 0.1])
def test_a_learner_that_was_stopped_scores_no_further_row(
    model_dir: Path, images: Images, make_samples: MakeSamples, kl_coef: float
) -> None:
    model, processor = load_model(model_dir)
    options = {"kl_coef": kl_coef, "old_logprobs": "engine" if kl_coef else "learner"}
    learner = Learner(model, processor, images, settings(**options), reference=load_model(model_dir)[0])
    learner.stop.set()
    with pytest.raises(TrainError, match=r"was stopped; the weights are as before it"):
        learner.train_policy(make_samples(2, advantages=(1.0, -1.0)), 0.8)
    assert learner.steps == 0
