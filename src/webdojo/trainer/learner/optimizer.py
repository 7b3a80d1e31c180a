"""Which weights train, the optimizer over them, its learning rates, and what its state weighs.

Invariant: learning rates are functions of the optimizer step, counted from 0, so a resumed run needs only its step
count; warm-up is linear, and its first step is already above 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import torch
from torch import nn
from torch.optim import Optimizer
from transformers import PreTrainedModel

from webdojo.errors import ConfigError
from webdojo.policy.config import ModelConfig
from webdojo.policy.model.forward import text_layers, vision_prefixes
from webdojo.trainer.config import TrainConfig

QUANTISED_FROM = 4096
"""torchao keeps the moments of smaller tensors, and of those that blocks do not divide, in float32."""
QUANTISED_BLOCK = 256
"""Values that share a scale in 8-bit moments."""


def trained_names(model: PreTrainedModel, config: ModelConfig) -> set[str]:
    """Names of the parameters that train where there are no adapters; a ConfigError where layers are too few."""
    wanted, layers = config.freeze_trainable_layers, text_layers(model)
    if wanted > len(layers):
        raise ConfigError(
            f"model.freeze_trainable_layers is {wanted}, but the text model of {config.path!r} has {len(layers)} "
            "layers: take at most so many, or 0 to train all"
        )
    if wanted:
        last = {id(parameter) for layer in layers[-wanted:] for parameter in layer.parameters()}
        return {name for name, parameter in model.named_parameters() if id(parameter) in last}
    frozen = vision_prefixes(model) if config.freeze_vision else ()
    return {name for name, _ in model.named_parameters() if not name.startswith(frozen)}


def make_optimizer(trained: Sequence[tuple[str, nn.Parameter]], config: TrainConfig) -> Optimizer:
    """An AdamW over named parameters, of the kind `config.optimizer`; a ConfigError where that is not installed."""
    groups = [
        {"params": [(name, p) for name, p in trained if p.ndim >= 2], "weight_decay": config.weight_decay},
        # Decay pulls norms and biases away from their neutral values and regularises nothing.
        {"params": [(name, p) for name, p in trained if p.ndim < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if config.optimizer == "adamw_8bit":
        try:
            from torchao.optim import AdamW8bit
        except ImportError as error:
            raise ConfigError(
                "train.optimizer is 'adamw_8bit', which needs torchao: pip install 'webdojo[torchao]', or take 'adamw'"
            ) from error
        low_bit: Optimizer = AdamW8bit(groups, lr=config.lr, betas=config.adam_betas, block_size=QUANTISED_BLOCK)
        return low_bit
    return torch.optim.AdamW(groups, lr=config.lr, betas=config.adam_betas, fused=True)


def step_optimizer(optimizer: Optimizer, lr: float, config: TrainConfig) -> None:
    """One step on the gradients at hand; with `config.optimizer_offload` the moments are on the device only in it."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], torch.Tensor):  # an input of the compiled step of 8-bit moments
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr
    if config.optimizer_offload:
        _move_moments(optimizer, None)
    optimizer.step()
    if config.optimizer_offload:
        _move_moments(optimizer, torch.device("cpu"))


def parameters_of(optimizer: Optimizer) -> dict[str, torch.Tensor]:
    groups = optimizer.param_groups
    return {n: p for group in groups for n, p in zip(group["param_names"], group["params"], strict=True)}


def moments_of(optimizer: Optimizer) -> dict[str, torch.Tensor]:
    return {  # what it keeps for its parameters, by `NAME/kind`
        f"{name}/{kind}": value
        for name, parameter in parameters_of(optimizer).items()
        for kind, value in optimizer.state.get(parameter, {}).items()
    }


def fresh_moments(optimizer: Optimizer, names: Collection[str], config: TrainConfig) -> dict[str, torch.Tensor]:
    """Give an optimizer moments of these parameters alone, for a checkpoint to be read into; as `moments_of`.

    Moments of 8 bits are made by a step only: read otherwise, they would not come out as they were.
    """
    optimizer.state.clear()
    for name, parameter in parameters_of(optimizer).items():
        parameter.grad = torch.zeros_like(parameter) if name in names else None
    step_optimizer(optimizer, 0.0, config)  # on gradients of zero at a rate of zero it changes no weight
    optimizer.zero_grad(set_to_none=True)
    return moments_of(optimizer)


def _move_moments(optimizer: Optimizer, device: torch.device | None) -> None:
    """Move moments to a device, by default that of their parameters; step counts stay."""
    for parameter, state in optimizer.state.items():
        for name, value in state.items():
            if value.ndim:
                state[name] = value.to(device or parameter.device)


def state_bytes(kind: str, values: int) -> int:
    """Bytes that an optimizer keeps for one float32 tensor of so many values: two moments and a step count."""
    if kind == "adamw_8bit" and values >= QUANTISED_FROM and values % QUANTISED_BLOCK == 0:
        moment = values + 4 * values // QUANTISED_BLOCK + 4 * 256  # codes, scales, and the table that codes index
    else:
        moment = 4 * values
    return 2 * moment + 4


def constant(step: int, *, peak: float, warmup_steps: int) -> float:
    """Linear warm-up over `warmup_steps`, then `peak` for ever (OpenWebRL Table 7)."""
    return peak * min(1.0, (step + 1) / max(warmup_steps, 1))


def cosine(step: int, *, peak: float, warmup_steps: int, total_steps: int) -> float:
    """Linear warm-up, then a half cosine that ends just above 0 at the last step (OpenWebRL A.5)."""
    progress = max(step - warmup_steps, 0) / max(total_steps - warmup_steps, 1)
    return constant(step, peak=peak, warmup_steps=warmup_steps) * half_cosine(progress)


def half_cosine(progress: float) -> float:
    """From 1 at a progress of 0 down to 0 at 1."""
    return 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))
