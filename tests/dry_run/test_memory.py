"""The memory plan beside what torch allocates, and what it says of a model that nobody loads here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel, Qwen3VLForConditionalGeneration

from tests.policy.conftest import Images, tiny_config, tiny_processor
from tests.trainer.conftest import MakeSamples
from tests.trainer.live import LiveBytes
from webdojo.dry_run.memory import GB, Machine, memory_table, plan_memory
from webdojo.errors import ConfigError
from webdojo.loops.models import estimates, make_learner
from webdojo.policy.model.forward import TokenScores
from webdojo.policy.model.loading import save_model, skeleton
from webdojo.recipe import Recipe, load_recipe
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.learner import Means
from webdojo.trainer.objective import flat
from webdojo.types import Prompt, TextSegment

CPU = Machine(cuda=False)
H100 = Machine(cuda=True, memory=80 * GB)


def recipe_of(*overrides: str) -> Recipe:
    plain = ["model.freeze_vision=false", "model.freeze_trainable_layers=0", "train.kl_coef=0"]
    return load_recipe("quickstart", [*plain, *overrides])


def push(members: Sequence[Sample], scores: TokenScores) -> tuple[torch.Tensor, dict[str, float]]:
    weights = flat([s.token_weights for s in members], scores.logprobs.device)
    return -(weights * scores.logprobs).sum(), {}


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["model.freeze_vision=true"],
        ["model.freeze_trainable_layers=1"],
        ["model.lora.r=4"],
        ["model.lora.r=4", "model.freeze_vision=true", "model.lora.target_modules=[q_proj, down_proj]"],
    ],
)
def test_weights_gradients_and_moments_are_exact(
    model_dir: Path, images: Images, make_samples: MakeSamples, options: list[str]
) -> None:
    recipe = recipe_of(f"model.path={model_dir}", *options)
    planned = plan_memory(skeleton(model_dir), recipe, CPU)
    learner = make_learner(recipe, images, str(model_dir))
    seen: list[int] = []
    learner._optimizer.register_step_pre_hook(
        lambda *_: seen.append(sum(p.grad.nbytes for p in learner.model.parameters() if p.grad is not None))
    )
    learner.step(make_samples(2), share=1.0, temperature=1.0, lr=1e-3, loss=push, means=Means())
    parameters = {n: p for n, p in learner.model.named_parameters() if "lora_" not in n}
    assert planned.parameters == sum(p.numel() for p in parameters.values())
    assert planned.lasting["weights"] == sum(p.nbytes for p in parameters.values())
    assert planned.trained == sum(p.numel() for p in learner.model.parameters() if p.requires_grad)
    assert planned.micro_batch["gradients"] == seen[0]
    state = learner._optimizer.state.values()
    assert planned.lasting["optimizer state"] == sum(t.nbytes for moments in state for t in moments.values())


@pytest.fixture(scope="module")
def wide_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wide enough that layers weigh more than all around them."""
    folder = tmp_path_factory.mktemp("wide")
    processor = tiny_processor()
    torch.manual_seed(0)
    save_model(Qwen3VLForConditionalGeneration(tiny_config(processor, hidden=192, layers=6)), processor, folder)
    return folder


@pytest.mark.parametrize("tokens", [300, 900])
@pytest.mark.parametrize("options", [[], ["train.gradient_checkpointing=true"]])
def test_a_step_takes_what_is_planned_or_a_quarter_less(
    wide_model: Path, images: Images, tokens: int, options: list[str]
) -> None:
    overrides = [f"model.path={wide_model}", f"train.micro_batch_tokens={tokens}", "model.freeze_vision=true"]
    recipe = recipe_of(*overrides, *options)
    planned = plan_memory(skeleton(wide_model), recipe, CPU)
    learner = make_learner(recipe, images, str(wide_model))
    samples = []
    for words in ("find the red mug", "add it to the cart"):
        ids = learner.processor.encode(words) * tokens
        prompt = Prompt(segments=(TextSegment(ids=tuple(ids[: tokens // 2])),))
        response = ids[: tokens - len(prompt) + 1]
        zeros = [0.0] * len(response)
        samples.append(Sample(prompt, response, zeros, 1.0, [1e-3] * len(response), [0] * len(response)))
    peaks: list[int] = []
    with LiveBytes(learner.model.state_dict().values()) as live:
        learner._optimizer.register_step_pre_hook(lambda *_: peaks.append(live.peak))
        learner.step(samples, share=1.0, temperature=1.0, lr=1e-3, loss=push, means=Means())
    expected = sum(planned.micro_batch.values())  # from the second micro-batch on, which finds gradients there
    assert 0.75 < peaks[0] / expected < 1.05, f"{peaks[0]=:,} {expected=:,} {planned.micro_batch}"


@pytest.fixture(scope="module")
def qwen() -> PreTrainedModel:
    return skeleton("Qwen/Qwen3-VL-4B-Thinking")


def test_what_qwen3_vl_4b_takes(qwen: PreTrainedModel) -> None:
    options = ["train.micro_batch_tokens=8192", "browser.viewport_px=[1280, 1000]"]
    plain = plan_memory(qwen, recipe_of(*options), H100)
    assert plain.parameters == plain.trained == 4_437_815_808
    assert plain.lasting["weights"] / GB == pytest.approx(16.5, abs=0.1)
    assert plain.lasting["optimizer state"] / GB == pytest.approx(33.1, abs=0.1)
    # 36 layers that keep 178 KB a token.
    assert plain.micro_batch["activations"] / GB == pytest.approx(49, abs=2)
    lean = [*options, "train.gradient_checkpointing=true", "train.optimizer=adamw_8bit", "model.freeze_vision=true"]
    assert 35 < plan_memory(qwen, recipe_of(*lean), H100).peak / GB < 60
    adapters = plan_memory(qwen, recipe_of(*lean, "model.lora.r=16"), H100)
    assert adapters.trained < 0.01 * adapters.parameters
    assert 18 < adapters.peak / GB < 30
    spread = plan_memory(qwen, recipe_of(*options, "train.ranks=8"), H100)
    assert spread.lasting["weights"] == plain.lasting["weights"] // 8
    assert spread.micro_batch["activations"] == plain.micro_batch["activations"]


def test_the_longest_turn_is_told_where_a_micro_batch_is_shorter(qwen: PreTrainedModel) -> None:
    recipe = recipe_of("train.micro_batch_tokens=8192", "rollout.max_context_tokens=32768")
    *_, last = memory_table(qwen, recipe, H100)
    assert last.startswith("a turn of all 32,768 tokens of rollout.max_context_tokens")


def test_the_reference_model_is_on_a_gpu_only_while_it_scores(qwen: PreTrainedModel) -> None:
    recipe, held = recipe_of(), recipe_of("train.kl_coef=0.1")
    without, beside = plan_memory(qwen, recipe, H100), plan_memory(qwen, held, H100)
    (scoring,) = beside.instead.values()
    assert scoring == 2 * beside.parameters + beside.micro_batch["gathered weights"]
    (shared,) = plan_memory(qwen, recipe_of("train.kl_coef=0.1", "train.ranks=8"), H100).instead.values()
    assert shared < 0.4 * scoring
    assert beside.peak == max(without.peak, sum(without.lasting.values()) + scoring)
    assert plan_memory(qwen, held, CPU).peak == plan_memory(qwen, recipe, CPU).peak + 4 * beside.parameters
    assert not plan_memory(qwen, recipe_of("train.kl_coef=0.1", "model.lora.r=8"), H100).instead


def test_moments_that_are_away_count_in_their_own_step_only(qwen: PreTrainedModel) -> None:
    plain = plan_memory(qwen, recipe_of(), H100)
    away = plan_memory(qwen, recipe_of("train.optimizer_offload=true"), H100)
    moments = plain.lasting["optimizer state"]
    assert sum(plain.lasting.values()) - sum(away.lasting.values()) == moments
    assert list(away.instead.values()) == [moments + plain.micro_batch["gradients"]]


def test_a_model_that_cannot_be_had_is_said_to_be_missing(tmp_path: Path) -> None:
    *_, told_so = estimates(recipe_of(f"model.path={tmp_path / 'nowhere'}"))
    assert told_so.startswith("memory is not estimated: model folder")
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    *_, told_so = estimates(recipe_of(f"model.path={tmp_path}"))
    assert "model type 'gpt2'" in told_so


def test_options_that_fit_no_model_are_refused(qwen: PreTrainedModel) -> None:
    with pytest.raises(ConfigError, match="fits no linear layer"):
        plan_memory(qwen, recipe_of("model.lora.r=8", "model.lora.target_modules=[nothing]"), CPU)
    with pytest.raises(ConfigError, match="has 36 layers"):
        plan_memory(qwen, recipe_of("model.freeze_trainable_layers=40"), CPU)
