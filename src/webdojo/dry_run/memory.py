"""The memory that an optimizer step needs, computed from shapes.

Per token of a packed micro-batch, a text layer keeps for its backward pass, with `c` bytes a value (2 in bfloat16, 4 in
float32), hidden size H, Q and K values of all query and of all key heads, and I of the MLP,

    2 (4 + 2c) H            two norms: input in float32, normalised, and their output
    (4 + c) (Q + K)         norms of queries and keys, where the model has them
    c (3 Q + 2 K)           queries, keys and values as they attend; the result, and its copy token by token
    4 c I                   MLP: gate, its activation, the other half, their product; I of all experts of a token

and a vision block per patch `c (11 h + 2 I)`, or `c (11 h + 4 I)` with a gated MLP. With
`train.gradient_checkpointing` every layer keeps its input (`c H`), and one layer at a time all of that. The LM head
has about five float32 copies of the logits of the response tokens that are in it at once (`MAX_LOGITS`), and is
done before the first layer's backward pass.
All numbers are bounds for a full micro-batch in which every token is trained; the input of the vision tower is
bounded by the screenshots that fit into a micro-batch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from webdojo.dry_run.cost import seen_tokens
from webdojo.errors import ConfigError
from webdojo.policy.config import ModelConfig
from webdojo.policy.model.forward import MAX_LOGITS, text_layers, vision_prefixes, vision_tower
from webdojo.policy.model.layouts import layout_of
from webdojo.recipe import Recipe
from webdojo.trainer.learner.optimizer import state_bytes, trained_names
from webdojo.trainer.learner.scoring import FEATURE_CACHE_BYTES

GB = 2**30
CUDA_CONTEXT = GB
"""Approximate GPU memory taken by CUDA itself, its libraries, and what the allocator cannot use."""


@dataclass(frozen=True)
class Machine:
    """The machine that a learner runs on."""

    cuda: bool
    memory: int = 0
    """Bytes of one GPU, or of the machine without one; 0 if it is not known."""
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    """CPU cores; by default those of the machine that plans."""


@dataclass(frozen=True)
class MemoryPlan:
    """The memory of one rank, in bytes."""

    tokens: int
    """Of a micro-batch."""
    parameters: int
    """The number of parameters of the model, without adapters."""
    trained: int
    """The number of parameters that train."""
    lasting: dict[str, int]
    """Bytes that are in use all the time, by name."""
    micro_batch: dict[str, int]
    """Bytes that a micro-batch of a step needs in addition, gradients included."""
    instead: dict[str, int]
    """Bytes that are needed at other times, one item at a time, when there is no micro-batch."""

    @property
    def peak(self) -> int:
        """The most bytes that are expected to be in use at once."""
        return sum(self.lasting.values()) + max(sum(self.micro_batch.values()), *self.instead.values(), 0)


def plan_memory(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> MemoryPlan:
    """Plan the memory of one rank for a model without adapters, of which only the shapes are read."""
    train, layers = recipe.train, text_layers(model)
    value = 2 if machine.cuda else 4  # the bytes of a value in the forward pass
    sharded = train.ranks > 1 or machine.cuda
    total, tower = size(model), size(vision_tower(model))
    names, trained = zip(*_trained(model, recipe.model), strict=True)
    tower_trains = any(name.startswith(vision_prefixes(model)) for name in names)
    outside = total - size(layers) - tower  # embeddings, head, norm
    whole = tower if sharded and not tower_trains else 0
    moments = sum(state_bytes(train.optimizer, -(-count // train.ranks)) for count in trained)
    gradients = 4 * sum(trained) // train.ranks
    reference = value * (tower + (total - tower) // train.ranks) if train.kl_coef and not recipe.model.lora.r else 0
    gathered = value * (outside + 2 * size(layers[0])) if sharded else 0  # the current layer and the next
    away = train.optimizer_offload and machine.cuda
    lasting = {
        "weights": 4 * (whole + (total - whole) // train.ranks),
        "optimizer state": 0 if away else moments,
        "reference model": 0 if machine.cuda else reference,
        "vision features": 0 if tower_trains else _feature_bytes(model, recipe),
        "CUDA": CUDA_CONTEXT if machine.cuda else 0,
    }
    tokens = train.micro_batch_tokens
    depth = recipe.model.freeze_trainable_layers or len(layers)
    layer = tokens * _text_layer_bytes(model, value)
    hidden = tokens * value * model.config.get_text_config().hidden_size
    logits = 20 * min(tokens * model.get_output_embeddings().weight.shape[0], MAX_LOGITS)
    # Gradients of one layer's activations, and of the largest weight before it is accumulated or sharded.
    backward = layer // 2 + (4 + value if sharded else 4) * (outside if sharded else max(trained))
    recomputed = layer if train.gradient_checkpointing else 0
    micro_batch = {
        "gradients": gradients,
        "activations": depth * (hidden if train.gradient_checkpointing else layer),
        # The embedded tokens, their copies with features in place, the last hidden states.
        "embeddings": 6 * hidden,
        "vision tower": _tower_bytes(model, recipe, value) if tower_trains else 0,
        "LM head, or the backward pass of a layer": max(logits, recomputed + backward),
        "gathered weights": gathered,
    }
    instead = {
        "reference model, while it scores": reference + gathered if machine.cuda and reference else 0,
        "gradients and optimizer state, in its step": gradients + moments if away else 0,
    }
    needed = ({name: count for name, count in part.items() if count} for part in (lasting, micro_batch, instead))
    return MemoryPlan(tokens, total, sum(trained), *needed)


def log_line(plan: MemoryPlan) -> str:
    """The plan in a sentence."""
    parts = plan.lasting | plan.micro_batch | plan.instead
    shown = ", ".join(f"{name.replace(',', '')} {count / GB:.2f}" for name, count in parts.items())
    return f"the learner takes at most {plan.peak / GB:.2f} GB with {plan.tokens:,} tokens a micro-batch: {shown}"


def memory_table(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> list[str]:
    """The plan as an aligned table."""
    plan, ranks = plan_memory(model, recipe, machine), recipe.train.ranks
    each = "a GPU" if machine.cuda else "the CPU"
    rows = [
        *plan.lasting.items(),
        *plan.micro_batch.items(),
        *((f"or {name}", count) for name, count in plan.instead.items()),
    ]
    rows.append(("expected peak", plan.peak))
    width = max(len(name) for name, _ in rows)
    lines = [
        f"memory of the learner on {each}{f', of {ranks} ranks each' if ranks > 1 else ''}, in GB: "
        f"{plan.parameters:,} parameters, {plan.trained:,} train, micro-batches of {plan.tokens:,} tokens",
        *(f"{name:<{width}}  {count / GB:8.2f}" for name, count in rows),
    ]
    longest = longest_turn(model, recipe, machine)
    if longest.tokens > plan.tokens:
        lines.append(
            f"a turn of all {longest.tokens:,} tokens of rollout.max_context_tokens, alone in a micro-batch: "
            f"{longest.peak / GB:.2f}"
        )
    return lines


def longest_turn(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> MemoryPlan:
    """The plan of a micro-batch that is as large as the longest turn."""
    most = max(recipe.rollout.max_context_tokens, recipe.train.micro_batch_tokens)
    return plan_memory(model, changed(recipe, "train", micro_batch_tokens=most), machine)


def changed(recipe: Recipe, section: str, **values: object) -> Recipe:
    """The recipe with other values in one section."""
    part = getattr(recipe, section).model_copy(update=values)
    return recipe.model_copy(update={section: part})


def size(module: nn.Module | None) -> int:
    """The number of parameters."""
    return 0 if module is None else sum(p.numel() for p in module.parameters())


def _trained(model: PreTrainedModel, config: ModelConfig) -> Iterator[tuple[str, int]]:
    """The tensors that train: name, or that of the layer that an adapter belongs to, and size in values."""
    if not config.lora.r:
        names = trained_names(model, config)
        yield from ((name, p.numel()) for name, p in model.named_parameters() if name in names)
        return
    adapted = [(n, m) for n, m in model.named_modules() if isinstance(m, nn.Linear) and _adapted(n, m, model, config)]
    if not adapted:
        raise ConfigError(f"model.lora.target_modules = {config.lora.target_modules!r} fits no linear layer")
    yield from ((name, config.lora.r * side) for name, module in adapted for side in module.weight.shape)


def _adapted(name: str, module: nn.Module, model: PreTrainedModel, config: ModelConfig) -> bool:
    if config.freeze_vision and name.startswith(vision_prefixes(model)):
        return False
    targets = config.lora.target_modules
    if targets == "all-linear":
        return module is not model.get_output_embeddings()
    return any(name == target or name.endswith(f".{target}") for target in targets)


def active_size(model: PreTrainedModel) -> int:
    """The number of parameters that compute a token: of experts those that it goes to."""
    experts = sum(p.numel() for name, p in model.named_parameters() if ".mlp.experts." in name)
    if not experts:
        return size(model)
    config = model.config.get_text_config()
    return size(model) - experts * (config.num_experts - config.num_experts_per_tok) // config.num_experts


def _text_layer_bytes(model: PreTrainedModel, value: int) -> int:
    """The bytes that a text layer keeps per token; the formula is at the head of this file."""
    shapes = {name: tuple(p.shape) for name, p in text_layers(model)[-1].named_parameters()}
    queries, hidden = shapes["self_attn.q_proj.weight"]
    keys = shapes["self_attn.k_proj.weight"][0]
    if experts := shapes.get("mlp.experts.gate_up_proj"):
        inner = model.config.get_text_config().num_experts_per_tok * experts[1] // 2
    else:
        inner = shapes["mlp.gate_proj.weight"][0]
    kept = 2 * (4 + 2 * value) * hidden + value * (3 * queries + 2 * keys) + 4 * value * inner
    if "self_attn.q_norm.weight" in shapes:
        kept += (4 + value) * (queries + keys)
    return kept


def _visual_tokens(model: PreTrainedModel, recipe: Recipe) -> int:
    """The most screenshot tokens of a micro-batch."""
    if not recipe.harness.images:
        return 0
    each = seen_tokens(recipe, model)
    return max(1, recipe.train.micro_batch_tokens // each) * each


def _tower_bytes(model: PreTrainedModel, recipe: Recipe, value: int) -> int:
    """The bytes that a vision tower that trains keeps for the screenshots of a micro-batch."""
    tower: Any = vision_tower(model)
    block: nn.Module = tower.blocks[0]
    shapes = {name: tuple(p.shape) for name, p in block.named_parameters()}
    width = shapes["attn.qkv.weight"][1]
    gate = shapes.get("mlp.gate_proj.weight")
    inner = 4 * gate[0] if gate else 2 * shapes["mlp.linear_fc1.weight"][0]
    kept = value * (11 * width + inner)
    patches = _visual_tokens(model, recipe) * tower.spatial_merge_size**2
    blocks = len(tower.blocks)
    return patches * (blocks * value * width + kept if recipe.train.gradient_checkpointing else blocks * kept)


def _feature_bytes(model: PreTrainedModel, recipe: Recipe) -> int:
    """The bytes of a frozen tower's features: the cache, or those of a micro-batch if they are more."""
    if not layout_of(model).images or not recipe.harness.images:
        return 0
    config: Any = model.config
    layers = 1 + (len(config.vision_config.deepstack_visual_indexes) if layout_of(model).deepstack else 0)
    seen = _visual_tokens(model, recipe)
    return max(FEATURE_CACHE_BYTES, 4 * seen * layers * config.get_text_config().hidden_size)
