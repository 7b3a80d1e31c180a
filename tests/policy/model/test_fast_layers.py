"""The last layer at predictors only, against the whole of it, in every model family."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.padded import collate
from tests.policy.conftest import Images, family_dirs, make_prompt
from webdojo.policy.model.fast_layers import is_narrow, multiply_patches, narrow
from webdojo.policy.model.forward import narrow_last_layer, text_layers, token_logprobs
from webdojo.policy.model.layouts import LAYOUTS
from webdojo.policy.model.loading import load_model

__all__ = ["family_dirs"]
SHARED = [family for family, layout in LAYOUTS.items() if layout.shares]


@pytest.mark.parametrize("family", SHARED)
def test_scores_and_gradients_of_padded_samples_are_those_of_the_whole_layer(
    family: str, family_dirs: dict[str, Path], images: Images
) -> None:
    model, processor = load_model(family_dirs[family])
    parts = ["look", images.random(1)] if LAYOUTS[family].images else ["look"]
    long, short = make_prompt(processor, *parts, " at the door"), make_prompt(processor, "go")
    batch = collate([(long, processor.encode("abc")), (short, processor.encode("d"))], processor, images)
    assert len(batch.targets) == 4
    weights = torch.tensor([1.0, -2.0, 0.5, 3.0])

    def learn() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        model.zero_grad(set_to_none=True)
        scores = token_logprobs(model, batch, 0.8)
        (weights * scores.logprobs).sum().backward()
        return scores.logprobs.detach(), {n: p.grad for n, p in model.named_parameters() if p.grad is not None}

    expected, plain = learn()
    seen: list[torch.Size] = []
    mlp = text_layers(model)[-1].get_submodule("mlp")
    mlp.register_forward_hook(lambda _, args, out: seen.append(out.shape))
    names = set(model.state_dict())
    narrow_last_layer(model)
    assert set(model.state_dict()) == names
    found, gradients = learn()
    assert seen == [torch.Size([1, 4, model.config.get_text_config().hidden_size])]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert gradients.keys() == plain.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-4, atol=1e-5 * float(gradient.norm() + 1))


def test_a_layer_that_gets_image_features_or_has_other_parts_stays_whole(family_dirs: dict[str, Path]) -> None:
    model, _ = load_model(family_dirs["qwen3_vl"])
    layers = text_layers(model)
    model.config.vision_config.deepstack_visual_indexes = list(range(len(layers)))
    narrow_last_layer(model)
    assert not is_narrow(layers[-1])
    layers[0].add_module("pre_feedforward_layernorm", nn.Identity())
    narrow(layers[0])
    assert not is_narrow(layers[0])
    narrow(layers[1])
    kind = type(layers[1])
    narrow(layers[1])
    assert is_narrow(layers[1]) and type(layers[1]) is kind


@pytest.mark.parametrize("family", SHARED)
def test_every_family_has_the_layers_that_are_made_fast(family: str, family_dirs: dict[str, Path]) -> None:
    """Fails when `transformers` changes them: models still work then, but slower."""
    model, _ = load_model(family_dirs[family])
    narrow_last_layer(model)
    assert is_narrow(text_layers(model)[-1])
    assert not LAYOUTS[family].images or "forward" in vars(model.model.visual.patch_embed)


def test_a_patch_embedding_of_another_make_stays(family_dirs: dict[str, Path]) -> None:
    model, _ = load_model(family_dirs["qwen3_vl"])
    embedding = model.model.visual.patch_embed
    del embedding.forward
    embedding.proj = nn.Conv3d(3, 8, kernel_size=(2, 16, 16), stride=(2, 8, 8))
    multiply_patches(model)
    assert "forward" not in vars(embedding)
