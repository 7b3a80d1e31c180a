"""The one forward pass that engine and learner share.

Visual features are computed once for each distinct image and scattered to every place that shows
it; hidden states go through the LM head only where they predict a response token. Invariant: a
policy is `softmax(logits / temperature)` over the ids that are not banned, here and in the engine,
so that the same weights give a ratio of 1 between both.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from webdojo.policy.model.collate import Batch
from webdojo.policy.model.fast_layers import is_narrow, narrow
from webdojo.policy.model.layouts import layout_of
from webdojo.policy.model.tree_attention import FLEX, TREE, row_mask


class Features(NamedTuple):
    """What the vision tower makes of images, one row a visual token."""

    embeds: torch.Tensor
    """[visual tokens, hidden]: takes the place of the image tokens' embeddings."""
    deepstack: tuple[torch.Tensor, ...]
    """[visual tokens, hidden] each: added after the first text layers; empty without DeepStack."""

    def rows(self, index: torch.Tensor | slice) -> Features:
        """The features at `index`, in that order."""
        return Features(self.embeds[index], tuple(layer[index] for layer in self.deepstack))


def join_features(parts: Sequence[Features]) -> Features | None:
    """Features of several images one after the other; None where there are none."""
    if not parts:
        return None
    layers = zip(*(part.deepstack for part in parts), strict=True)
    return Features(torch.cat([part.embeds for part in parts]), tuple(torch.cat(layer) for layer in layers))


LogitBias = tuple[tuple[torch.Tensor, torch.Tensor], torch.Tensor]
"""What is added to single logits of rows [N, vocabulary]: (rows, ids) int64 [biases] and values float32 [biases]."""
MAX_LOGITS = 2**26
"""Logits that are in memory at once (256 MB): more response tokens go through the LM head in chunks, whose logits
are made again for the backward pass."""


class TokenScores(NamedTuple):
    """Scores of the T response tokens of a batch."""

    logprobs: torch.Tensor
    """float32 [T]: log pi(token) at the given temperature."""
    entropy: torch.Tensor
    """float32 [T]: entropy in nats of the distribution that each token was drawn from."""


def text_model(model: PreTrainedModel) -> Any:
    """The part of the model that reads embedded tokens."""
    return model.get_decoder()


def vision_prefixes(model: PreTrainedModel) -> tuple[str, ...]:
    """How the names of the weights begin that make features of images; none in a text model."""
    base, text = model.base_model, text_model(model)
    if base is text:
        return ()
    return tuple(f"{model.base_model_prefix}.{name}." for name, part in base.named_children() if part is not text)


def vision_tower(model: PreTrainedModel) -> nn.Module | None:
    """The part of a model with a layout that reads images; None for a text model, and for one without a layout."""
    base: Any = model.base_model
    return base.visual if layout_of(model).images else None


def text_layers(model: PreTrainedModel) -> nn.ModuleList:
    """The text model's layers, first to last."""
    layers: nn.ModuleList = text_model(model).layers
    return layers


def vision_features(model: PreTrainedModel, pixel_values: torch.Tensor, image_grid_thw: torch.Tensor) -> Features:
    """Run the vision tower over images: `pixel_values` [patches, dim], `image_grid_thw` [images, 3]."""
    inner: Any = model.model
    out = inner.get_image_features(pixel_values, image_grid_thw, return_dict=True)
    deepstack = out.deepstack_features if layout_of(model).deepstack else ()
    # A tensor an image, or in older releases of transformers one of all images.
    layers = (layer if isinstance(layer, torch.Tensor) else torch.cat(layer) for layer in deepstack)
    return Features(torch.cat(out.pooler_output), tuple(layers))


def text_hidden(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    position_ids: torch.Tensor,
    image_mask: torch.Tensor,
    features: Features | None,
    cache: Any = None,
    **language_model_inputs: Any,
) -> torch.Tensor:
    """Last hidden states [B, L, hidden] of token rows whose image tokens show `features`.

    `input_ids` are int64 [B, L], padded on the right; `position_ids` int64 [3, B, L], of which a text model reads the
    first axis. `features` have one row for each True of `image_mask` [B, L] in row-major order. `cache` holds keys and
    values of what was read before, as a `transformers.Cache` does.
    """
    embed: Any = model.get_input_embeddings()
    embeds = embed(input_ids)
    if features is not None:
        embeds = embeds.masked_scatter(image_mask[..., None], features.embeds.to(embeds.dtype))
        if features.deepstack:
            deepstack = list(features.deepstack)
            language_model_inputs |= {"visual_pos_masks": image_mask, "deepstack_visual_embeds": deepstack}
    if not layout_of(model).images:
        position_ids = position_ids[0]
    reader = text_model(model)
    if cache is not None:
        renamed = "cache" in signature(reader.forward).parameters  # releases of transformers differ
        language_model_inputs["cache" if renamed else "past_key_values"] = cache
    out = reader(inputs_embeds=embeds, position_ids=position_ids, **language_model_inputs)
    hidden: torch.Tensor = out.last_hidden_state
    return hidden


def policy_logits(
    model: PreTrainedModel,
    hidden: torch.Tensor,
    banned: torch.Tensor,
    temperature: float | torch.Tensor,
    bias: LogitBias | None = None,
) -> torch.Tensor:
    """float32 logits [N, vocabulary] of hidden states [N, hidden]: banned ids at -inf, divided by temperature.

    `banned` is bool [tokenizer size or more]; logits beyond it are banned as well. Temperature 0
    (greedy) scores at temperature 1. A tensor of temperatures is [N, 1] and holds no zero. A bias is
    added before all that, and lifts no ban.
    """
    head: Any = model.get_output_embeddings()
    return policy_of(head(hidden), banned, temperature, bias)


def policy_of(
    logits: torch.Tensor,
    banned: torch.Tensor,
    temperature: float | torch.Tensor,
    bias: LogitBias | None = None,
) -> torch.Tensor:
    """As `policy_logits`, from what the model gives as logits [N, vocabulary]."""
    logits = logits.float()
    if bias is not None:
        places, values = bias
        logits = logits.index_put(places, values, accumulate=True)
    beyond = logits.shape[-1] - len(banned)
    if beyond:
        banned = F.pad(banned, (0, beyond), value=True)
    if isinstance(temperature, torch.Tensor) or temperature not in (0.0, 1.0):
        logits = logits / temperature
    return logits.masked_fill(banned, float("-inf"))


def token_logprobs(
    model: PreTrainedModel,
    batch: Batch,
    temperature: float,
    features: Features | None = None,
    *,
    entropy_grad: bool = False,
) -> TokenScores:
    """Score every response token of a batch, with gradients where the caller enables them.

    The policy scored is that of temperature alone: what was sampled with a `logit_bias` came from another one.
    `features` are those of the batch's distinct images in order of first appearance, where they are at hand; they are
    constants. Otherwise the vision tower makes them from the batch's pixels, with gradients. With `entropy_grad`
    entropies carry gradients, too.
    """
    if batch.model_inputs is not None:
        plain: Any = model(**batch.model_inputs, use_cache=False, logits_to_keep=batch.predictors)
        return score(policy_of(plain.logits[0], batch.banned, temperature), batch.targets, entropy_grad)
    if batch.pixel_values is not None:
        assert batch.image_grid_thw is not None
        features = vision_features(model, batch.pixel_values, batch.image_grid_thw)
    shown = None if features is None else features.rows(batch.feature_rows)
    image_mask = batch.mm_token_type_ids.bool()
    narrowed = is_narrow(text_layers(model)[-1])
    inputs: dict[str, Any] = {"predictors": batch.predictors} if narrowed else {}
    if batch.ends is not None:
        inputs |= row_mask(text_model(model).config._attn_implementation, batch.ends, inputs.get("predictors"))
    hidden = text_hidden(model, batch.input_ids, batch.position_ids, image_mask, shown, use_cache=False, **inputs)
    hidden = hidden[0] if narrowed else hidden.flatten(0, 1)[batch.predictors]

    def scored(hidden: torch.Tensor, targets: torch.Tensor) -> TokenScores:
        return score(policy_logits(model, hidden, batch.banned, temperature), targets, entropy_grad)

    at_once = max(1, MAX_LOGITS // model.get_output_embeddings().weight.shape[0])
    if len(hidden) <= at_once:
        return scored(hidden, batch.targets)
    parts = [
        checkpoint(scored, *part, use_reentrant=False)
        for part in zip(hidden.split(at_once), batch.targets.split(at_once), strict=True)
    ]
    return TokenScores(*(torch.cat(values) for values in zip(*parts, strict=True)))


def attend_in_rows(model: PreTrainedModel) -> None:
    """Let the text model compute packed rows without the pairs of tokens that do not see each other."""
    text_model(model).config._attn_implementation = FLEX if model.device.type == "cuda" else TREE


def narrow_last_layer(model: PreTrainedModel) -> None:
    """Let `token_logprobs` compute the last text layer after its keys and values only where a response token is
    predicted.

    Models whose last layer has other parts, or gets image features added, stay as they are. Call it before the layers
    are sharded or compiled.
    """
    layers = text_layers(model)
    deepstack = model.config.vision_config.deepstack_visual_indexes if layout_of(model).deepstack else ()
    if len(deepstack) < len(layers):
        narrow(layers[-1])


def score(logits: torch.Tensor, targets: torch.Tensor, entropy_grad: bool = False) -> TokenScores:
    """Logprob of each target and entropy of each row, from masked logits [T, vocabulary]."""
    logprobs = torch.log_softmax(logits, dim=-1)
    with torch.set_grad_enabled(entropy_grad and torch.is_grad_enabled()):
        # What is banned has log-probability -inf; 0 in its place keeps gradients finite.
        entropy = -(logprobs.exp() * logprobs.masked_fill(logprobs == float("-inf"), 0.0)).sum(-1)
    return TokenScores(logprobs.gather(-1, targets[:, None]).squeeze(-1), entropy)
