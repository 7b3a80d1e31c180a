"""Adapters: what trains, what leaves the learner, and what a resumed run finds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import peft
import pytest
import torch

from benchmarks.padded import collate
from tests.policy.conftest import Images
from tests.trainer.conftest import MakeSamples
from tests.trainer.learner.test_learner import settings, weights_of
from webdojo.errors import ConfigError, ModelError
from webdojo.policy.config import ModelConfig
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.loading import load_model
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.learner.lora import ADAPTER, Adapters


def learner_of(model_dir: Path, images: Images, *, seed: int = 0, lora: object = None, **options: object) -> Learner:
    model, processor = load_model(model_dir)
    config = ModelConfig.model_validate({"lora": {"r": 4, **(lora if isinstance(lora, dict) else {})}})
    adapters = Adapters(model, config, base=str(model_dir), seed=seed)
    return Learner(model, processor, images, settings(lr=3e-3, **options), adapters=adapters, seed=seed)


def test_only_adapters_train_and_engines_get_them_merged(
    model_dir: Path, images: Images, make_samples: MakeSamples, tmp_path: Path
) -> None:
    base, processor = load_model(model_dir)
    samples = make_samples(6, advantages=(1.0, -1.0))
    learner = learner_of(model_dir, images, kl_coef=0.1)
    before = torch.cat(learner.logprobs(samples, 1.0))
    figures = learner.train_policy(samples, 1.0)
    after = torch.cat(learner.logprobs(samples, 1.0))
    assert float((after - before).abs().max()) > 1e-2
    assert figures["reference_kl"] > 0

    plain = Learner(*load_model(model_dir), images, settings())
    torch.testing.assert_close(before, torch.cat(plain.logprobs(samples, 1.0)), rtol=0, atol=1e-5)
    torch.testing.assert_close(torch.cat(learner.logprobs(samples, 1.0, reference=True)), before, rtol=0, atol=1e-5)
    assert all(p.requires_grad == ("lora_" in name) for name, p in learner.model.named_parameters())
    held = learner.model.state_dict()
    for name, weight in weights_of(base).items():
        layer, _, end = name.rpartition(".")
        assert torch.equal(held[name if name in held else f"{layer}.base_layer.{end}"], weight), name

    merged = learner.state_dict()
    assert merged.keys() == base.state_dict().keys()
    plain.model.load_state_dict(merged)
    torch.testing.assert_close(torch.cat(plain.logprobs(samples, 1.0)), after, rtol=0, atol=1e-4)

    learner.save(tmp_path / "c")
    saved, _ = load_model(tmp_path / "c")
    assert all(torch.equal(weight, merged[name]) for name, weight in saved.state_dict().items())
    adapted: Any = peft.PeftModel.from_pretrained(base, str(tmp_path / "c" / ADAPTER)).eval()
    sample = samples[0]
    batch = collate([(sample.prompt, sample.response_ids)], processor, images)
    with torch.no_grad():
        scores = token_logprobs(adapted.base_model.model, batch, 1.0)
    torch.testing.assert_close(scores.logprobs, after[: len(scores.logprobs)], rtol=0, atol=1e-4)


def test_resume_equals_the_uninterrupted_run_bit_for_bit(
    model_dir: Path, images: Images, make_samples: MakeSamples, tmp_path: Path
) -> None:
    samples = make_samples(8, advantages=(1.0, -1.0))
    whole = learner_of(model_dir, images, seed=3)
    whole.train_policy(samples, 1.0)
    whole.save(tmp_path / "half")
    whole.train_policy(samples, 1.0)
    resumed = learner_of(model_dir, images, seed=99)
    resumed.load(tmp_path / "half")
    resumed.train_policy(samples, 1.0)
    expected = whole.model.state_dict()
    assert all(torch.equal(now, expected[name]) for name, now in resumed.model.state_dict().items())


def test_dropout_is_of_steps_only(model_dir: Path, images: Images, make_samples: MakeSamples) -> None:
    samples = make_samples(6, advantages=(1.0, -1.0))
    learner = learner_of(model_dir, images, lora={"lora_dropout": 0.5})
    learner.train_policy(samples, 1.0)
    torch.testing.assert_close(learner.logprobs(samples, 1.0), learner.logprobs(samples, 1.0), rtol=0, atol=0)
    still = learner.train_policy(samples, 1.0)["ratio"]
    assert abs(still - 1) > 1e-4, "nothing was dropped"


def test_layers_get_adapters_by_name(model_dir: Path) -> None:
    def adapted(**config: object) -> set[str]:
        model, _ = load_model(model_dir)
        Adapters(model, ModelConfig.model_validate(config), base="b", seed=0)
        return {name.split(".lora_A")[0] for name, _ in model.named_parameters() if ".lora_A" in name}

    everywhere = adapted(lora={"r": 2})
    assert any(".visual.blocks.0.attn.qkv" in name for name in everywhere)
    assert not any("lm_head" in name for name in everywhere)
    text = adapted(lora={"r": 2}, freeze_vision=True)
    assert text == {name for name in everywhere if not name.startswith("model.visual.")}
    some = adapted(lora={"r": 2, "target_modules": ["q_proj", "v_proj"]})
    assert {name.rpartition(".")[2] for name in some} == {"q_proj", "v_proj"}
    with pytest.raises(ConfigError, match=r"target_modules = \['nothing'\]"):
        adapted(lora={"r": 2, "target_modules": ["nothing"]})
    with pytest.raises(ConfigError, match="which is a Conv3d"):
        adapted(lora={"r": 2, "target_modules": ["proj"]})


def test_a_checkpoint_of_other_adapters_is_refused(model_dir: Path, images: Images, tmp_path: Path) -> None:
    learner_of(model_dir, images).save(tmp_path / "c")
    with pytest.raises(ModelError, match=r"same model\.lora as before"):
        learner_of(model_dir, images, lora={"r": 8}).load(tmp_path / "c")
    with pytest.raises(ModelError, match=r"same model\.freeze_\* and model\.lora"):
        Learner(*load_model(model_dir), images, settings()).load(tmp_path / "c")
    other = learner_of(model_dir, images)
    with torch.no_grad():
        other.model.model.language_model.layers[0].self_attn.q_proj.base_layer.weight.mul_(1.1)
    with pytest.raises(ModelError, match="trained on another model"):
        other.load(tmp_path / "c")


def test_a_missing_library_is_named_with_its_command(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ConfigError, match=r"pip install 'webdojo\[lora\]'"):
        Adapters(load_model(model_dir)[0], ModelConfig.model_validate({"lora": {"r": 4}}), base="b", seed=0)


def test_adapters_and_layers_that_train_exclude_each_other() -> None:
    with pytest.raises(ValueError, match=r"set freeze_trainable_layers: 0"):
        ModelConfig.model_validate({"lora": {"r": 4}, "freeze_trainable_layers": 1})
