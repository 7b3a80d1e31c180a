"""Device and precision of engine and learner."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import cast

import pytest
import torch

from tests.loops.conftest import SmallRecipe
from tests.policy.conftest import chat
from webdojo.errors import ConfigError
from webdojo.loops.models import asleep, check_learner, learn, make_learner, open_engine
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.forward import text_layers
from webdojo.policy.model.loading import device_of, engine_dtype
from webdojo.recipe import Recipe
from webdojo.sleep_clock import SleepClock
from webdojo.store.images import MemoryImages
from webdojo.types import Sampling, TrainableEngine


@asynccontextmanager
async def opened(recipe: Recipe) -> AsyncIterator[HFEngine]:
    """The embedded engine of a recipe."""
    async with open_engine(recipe, MemoryImages(), recipe.model.path) as engine:
        assert isinstance(engine, HFEngine)
        yield engine


async def test_a_bfloat16_engine_serves_the_weights_of_a_float32_learner(small_recipe: SmallRecipe) -> None:
    recipe = small_recipe("model.dtype=bfloat16")
    with closing(make_learner(recipe, MemoryImages(), recipe.model.path)) as learner:
        async with opened(recipe) as engine:
            await engine.update_weights(learner.state_dict(), version=1)
            response = await engine.generate(chat(engine.processor, "find the mug"), Sampling(max_tokens=3))
        assert {p.dtype for p in learner.model.parameters()} == {torch.float32}
    assert set(response.versions) == {1}


async def test_an_embedded_engine_on_the_cpu_rests_while_the_learner_steps(small_recipe: SmallRecipe) -> None:
    recipe = small_recipe("model.device=cpu")
    async with opened(recipe) as engine:
        clock = SleepClock()
        async with asleep(engine, clock):
            fell_asleep = clock.now()
            asked = asyncio.create_task(engine.generate(chat(engine.processor, "hello"), Sampling(max_tokens=1)))
            done, _ = await asyncio.wait([asked], timeout=1)
            assert not done
            assert clock.now() == fell_asleep, "the time counts for the episodes that wait"
        await asked


@pytest.mark.parametrize(("has_gpu", "between"), [(True, ["free"]), (False, [])])
async def test_gpu_memory_that_the_learner_no_longer_uses_is_free_before_the_engine_wakes_up(
    monkeypatch: pytest.MonkeyPatch, has_gpu: bool, between: list[str]
) -> None:
    done: list[str] = []

    class Sleeper:
        sleeps_during_update = True

        async def sleep(self) -> None:
            done.append("sleep")

        async def wake_up(self) -> None:
            done.append("wake up")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: done.append("free"))
    async with asleep(cast(TrainableEngine, Sleeper()), SleepClock()):
        done.append("step")
    assert done == ["sleep", "step", *between, "wake up"]


async def test_updates_run_in_one_thread(small_recipe: SmallRecipe) -> None:
    with closing(make_learner(small_recipe(), MemoryImages(), small_recipe().model.path)) as learner:
        threads = {await learn(learner, threading.current_thread) for _ in range(3)}
    (thread,) = threads
    assert thread is not threading.main_thread()


def test_auto_follows_the_machine(small_recipe: SmallRecipe, monkeypatch: pytest.MonkeyPatch) -> None:
    auto = small_recipe().model
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (device_of(auto).type, engine_dtype(auto)) == ("cuda", torch.bfloat16)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert (device_of(auto).type, engine_dtype(auto)) == ("cpu", torch.float32)
    with pytest.raises(ConfigError, match="'cuda'"):
        device_of(small_recipe("model.device=cuda").model)


def test_only_the_last_text_layers_train(small_recipe: SmallRecipe) -> None:
    recipe = small_recipe("model.freeze_trainable_layers=1")
    with closing(make_learner(recipe, MemoryImages(), recipe.model.path)) as learner:
        model = learner.model
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    last = len(text_layers(model)) - 1
    assert trained and all(name.startswith(f"model.language_model.layers.{last}.") for name in trained)
    too_many = small_recipe("model.freeze_trainable_layers=99")
    with pytest.raises(ConfigError, match=rf"is 99, but the text model of .* has {last + 1} layers"):
        make_learner(too_many, MemoryImages(), recipe.model.path)
    with pytest.raises(ConfigError, match=rf"is 99, but the text model of .* has {last + 1} layers"):
        check_learner(too_many)


@pytest.mark.parametrize("kl", [True, False])
def test_a_reference_model_is_loaded_where_there_is_a_kl_term(small_recipe: SmallRecipe, kl: bool) -> None:
    recipe = small_recipe("train.kl_coef=0.1")
    with closing(make_learner(recipe, MemoryImages(), recipe.model.path, kl=kl)) as learner:
        assert (learner._scoring._reference is not None) == kl


def test_what_a_learner_needs_is_told_before_it_is_made(
    small_recipe: SmallRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapters = ["model.lora.r=4", "model.freeze_trainable_layers=0", "train.kl_coef=0"]
    check_learner(small_recipe(*adapters))
    with pytest.raises(ConfigError, match=r"model\.lora\.target_modules"):
        check_learner(small_recipe(*adapters, "model.lora.target_modules=[nothing]"))
    for library, overrides in (("peft", adapters), ("torchao.optim", ["train.optimizer=adamw_8bit"])):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ConfigError, match="pip install"):
            check_learner(small_recipe(*overrides))
