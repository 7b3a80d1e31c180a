"""Engine and learner on a GPU, made as a run makes them, against the CPU and against one another."""

from __future__ import annotations

import asyncio
import dataclasses
from contextlib import closing
from pathlib import Path

import pytest
import torch

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat
from tests.trainer.conftest import MakeSamples
from tests.trainer.records import trajectory, turn
from webdojo.loops.models import make_learner, open_engine
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.loading import load_model
from webdojo.recipe import Recipe, load_recipe
from webdojo.trainer.batch import Sample, samples_from_groups
from webdojo.types import Prompt, Response, Sampling

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

TEMPERATURE = 0.8
OPTIONS = {
    "plain": [],
    "recomputed, with moments away": ["train.gradient_checkpointing=true", "train.optimizer_offload=true"],
    "the tower trains": ["model.freeze_vision=false"],
    "adapters": ["model.lora.r=4", "train.kl_coef=0.1"],
    "a reference": ["train.kl_coef=0.1"],
    "compiled": ["train.compile=true"],
}
EXACT = 1e-4
"""Nats by which float32 on a GPU may differ from float32 on a CPU, or in another order."""
NARROW = 0.03
"""Mean nats by which bfloat16 may differ: the test's weights are large, and each layer rounds."""


def recipe_of(model_dir: Path, *options: str) -> Recipe:
    sizes = ["train.batch_size=4", "train.micro_batch_tokens=150", "train.lr=1e-4", "train.warmup_steps=0"]
    whole = ["model.freeze_trainable_layers=0", "train.kl_coef=0"]
    return load_recipe("quickstart", [f"model.path={model_dir}", "model.device=cuda", *sizes, *whole, *options])


def prompts_of(model_dir: Path, images: Images) -> list[Prompt]:
    """Prompts that begin alike, with one screenshot, with two, and with none."""
    _, processor = load_model(model_dir)
    shown = [images.random(seed, 64, 96) for seed in range(3)]
    prompts = [chat(processor, "find the red mug" * (1 + i // 2), shown[i % 3]) for i in range(8)]
    return [*prompts, chat(processor, "compare", *shown[:2]), chat(processor, "no picture at all")]


async def ask(engine: HFEngine, prompts: list[Prompt]) -> list[Response]:
    sampling = Sampling(temperature=TEMPERATURE, max_tokens=12)
    return list(await asyncio.gather(*(engine.generate(prompt, sampling) for prompt in prompts)))


def gaps(model_dir: Path, images: Images, prompts: list[Prompt], responses: list[Response]) -> torch.Tensor:
    """Of every sampled token, the nats between what the engine said and a forward pass in float32 on the CPU."""
    model, processor = load_model(model_dir)
    found = []
    for prompt, response in zip(prompts, responses, strict=True):
        with torch.no_grad():
            batch = collate([(prompt, response.ids)], processor, images)
            found.append((token_logprobs(model, batch, TEMPERATURE).logprobs - torch.tensor(response.logprobs)).abs())
    return torch.cat(found)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
async def test_the_engine_says_what_a_forward_pass_on_the_cpu_says(model_dir: Path, images: Images, dtype: str) -> None:
    prompts = prompts_of(model_dir, images)
    async with open_engine(recipe_of(model_dir, f"model.dtype={dtype}"), images, str(model_dir)) as engine:
        assert isinstance(engine, HFEngine)
        first, again = await ask(engine, prompts), await ask(engine, prompts)
    for responses in (first, again):  # the second time from its caches
        apart = gaps(model_dir, images, prompts, responses)
        if dtype == "float32":
            assert float(apart.max()) < EXACT
        else:
            assert EXACT < float(apart.mean()) < NARROW


@pytest.mark.parametrize("name", OPTIONS)
def test_the_learner_learns_what_it_learns_on_the_cpu(
    model_dir: Path, images: Images, make_samples: MakeSamples, tmp_path: Path, name: str
) -> None:
    on_gpu = recipe_of(model_dir, *OPTIONS[name])
    on_cpu = recipe_of(model_dir, *OPTIONS[name], "model.device=cpu", "train.compile=false")
    samples = make_samples(6, advantages=(1.0, -1.0))
    with closing(make_learner(on_cpu, images, str(model_dir))) as learner:
        expected = learner.logprobs(samples, TEMPERATURE)
        of_cpu = learner.train_policy(on_policy(expected, samples), TEMPERATURE)
    with closing(make_learner(on_gpu, images, str(model_dir))) as learner:
        before = learner.logprobs(samples, TEMPERATURE)
        figures = learner.train_policy(on_policy(before, samples), TEMPERATURE)
        after = learner.logprobs(samples, TEMPERATURE)
        learner.save(tmp_path / "saved")
        learner.train_policy(on_policy(before, samples), TEMPERATURE)
        further = learner.logprobs(samples, TEMPERATURE)
        weights = learner.state_dict()
    assert {value.device.type for value in weights.values()} == {"cpu"}
    apart = torch.cat([(a - b).abs() for a, b in zip(before, expected, strict=True)])
    assert float(apart.mean()) < NARROW
    assert figures["grad_norm"] == pytest.approx(of_cpu["grad_norm"], rel=0.2)
    assert not all(torch.allclose(a, b, atol=1e-3) for a, b in zip(before, after, strict=True)), "it learns nothing"
    with closing(make_learner(on_gpu, images, str(model_dir))) as learner:
        learner.load(tmp_path / "saved")
        restored = learner.logprobs(samples, TEMPERATURE)
        learner.train_policy(on_policy(before, samples), TEMPERATURE)
        resumed = learner.logprobs(samples, TEMPERATURE)
    for one, other in [(restored, after), (resumed, further)]:
        assert float(torch.cat([(a - b).abs() for a, b in zip(one, other, strict=True)]).mean()) < 1e-2
    saved, processor = load_model(tmp_path / "saved")
    for sample, trained in zip(samples, after, strict=True):
        batch = collate([(sample.prompt, sample.response_ids)], processor, images)
        with torch.no_grad():
            apart = (token_logprobs(saved, batch, TEMPERATURE).logprobs - trained).abs()
        assert float(apart.mean()) < NARROW, "the checkpoint holds other weights"


def on_policy(logprobs: list[torch.Tensor], samples: list[Sample]) -> list[Sample]:
    return [dataclasses.replace(s, old_logprobs=lp.tolist()) for s, lp in zip(samples, logprobs, strict=True)]


async def test_new_weights_of_the_learner_reach_the_engine_beside_it(model_dir: Path, images: Images) -> None:
    recipe = recipe_of(model_dir, "train.lr=1e-3")
    prompts = prompts_of(model_dir, images)
    async with open_engine(recipe, images, str(model_dir)) as engine:
        assert isinstance(engine, HFEngine)
        with closing(make_learner(recipe, images, str(model_dir))) as learner:
            found = []
            for version in range(3):
                responses = await ask(engine, prompts)
                assert {v for response in responses for v in response.versions} == {version}
                members = [
                    trajectory([turn(prompt, response)], float(i % 2))
                    for i, (prompt, response) in enumerate(zip(prompts, responses, strict=True))
                ]
                samples = samples_from_groups([members], recipe.train)
                found.append(learner.train_policy(samples, TEMPERATURE, version))
                await engine.update_weights(learner.state_dict(), version + 1)
    assert all(figures["engine_gap_mean"] < NARROW for figures in found), found
    assert all(figures["grad_norm"] > 0 for figures in found)
