"""Engine and learner must agree on the probability of what was sampled; else the ratio is noise."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.policy.conftest import Images, chat
from tests.trainer.records import trajectory, turn
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.loading import load_model
from webdojo.trainer.batch import samples_from_groups
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.learner import Learner
from webdojo.types import Sampling

TEMPERATURE = 0.8


async def test_with_lr_zero_the_ratio_between_engine_and_learner_is_one(model_dir: Path, images: Images) -> None:
    model, processor = load_model(model_dir)
    shown = [images.random(seed, 64, 96) for seed in range(3)]
    prompts = [chat(processor, "find the red mug" * (i + 1), shown[i % 3]) for i in range(6)]
    prompts.append(chat(processor, "compare", shown[0], shown[1]))
    prompts.append(chat(processor, "no picture at all"))
    engine = HFEngine(model, processor, images, version=7, threads=1)
    try:
        sampling = Sampling(temperature=TEMPERATURE, top_p=0.95, top_k=20, max_tokens=12)
        responses = await asyncio.gather(*(engine.generate(prompt, sampling) for prompt in prompts))
    finally:
        engine.close()
    members = [
        trajectory([turn(prompt, response)], float(i % 2))
        for i, (prompt, response) in enumerate(zip(prompts, responses, strict=True))
    ]
    # Validation forbids a learning rate of 0, which is of use in this test only.
    config = TrainConfig(batch_size=3, ppo_epochs=2, micro_batch_tokens=300).model_copy(update={"lr": 0.0})
    learner = Learner(*load_model(model_dir), images, config)

    metrics = learner.train_policy(samples_from_groups([members], config), TEMPERATURE)

    assert metrics["tokens"] == sum(len(response.ids) for response in responses) >= 20
    assert metrics["ratio"] == pytest.approx(1.0, abs=1e-4)
    assert metrics["approx_kl"] < 1e-6
    assert metrics["clip_fraction"] == 0.0
    assert metrics["engine_gap_max"] < 1e-4
    assert metrics["engine_gap_mean"] < 1e-5

    wrong_temperature = learner.train_policy(samples_from_groups([members], config), 1.0)
    assert wrong_temperature["engine_gap_mean"] > 0.01, "the guard cannot see a mismatch"
