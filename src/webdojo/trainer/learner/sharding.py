"""A model whose weights, gradients and optimizer state lie in parts on the ranks that train it (FSDP2).

Weights, gradients after their reduction and moments are float32. A layer's weights are gathered in the precision of the
computation just before it runs, and dropped after. Gradients are summed over ranks, because the loss is a sum, after
every micro-batch, so no rank ever holds them whole. A vision tower that does not train stays whole on every rank.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import PreTrainedModel

from webdojo.errors import ModelError
from webdojo.policy.model.collate import Batch
from webdojo.policy.model.forward import (
    Features,
    TokenScores,
    text_layers,
    token_logprobs,
    vision_prefixes,
    vision_tower,
)


class Scorer(nn.Module):
    """`token_logprobs` as a module, because sharding gathers weights around the calls of modules: around this one's all
    that no inner module gathers (embeddings, head, norm)."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, batch: Batch, temperature: float, features: Features | None = None, *, entropy_grad: bool = False
    ) -> TokenScores:
        scores = token_logprobs(self.model, batch, temperature, features, entropy_grad=entropy_grad)
        return scores._replace(logprobs=scores.logprobs.clone())  # sharding hooks on to what is no view


def shard(scorer: Scorer, mesh: DeviceMesh, compute_dtype: torch.dtype) -> None:
    """Spread the weights of a model over the ranks of a mesh, in place, to compute in `compute_dtype`.

    The model is on the CPU: in parts, as `load_model` with a mesh gives it, or the same whole one on every rank. Its
    parts go to the mesh's device one after the other.
    """
    weights = _take_weights(scorer.model)
    tower = vision_tower(scorer.model)
    modules: list[nn.Module] = list(text_layers(scorer.model))
    whole: set[nn.Parameter] = set()
    if tower is not None and tower_trains(scorer.model):
        blocks = tower.blocks
        assert isinstance(blocks, nn.ModuleList)
        modules += [*blocks, tower]
    elif not tower_trains(scorer.model):
        read = vision_prefixes(scorer.model)
        whole = {parameter for name, parameter in scorer.model.named_parameters() if name.startswith(read)}
    # Inputs keep their precision: what a layer gets comes from gathered weights and has the right one.
    precision = MixedPrecisionPolicy(compute_dtype, reduce_dtype=torch.float32, cast_forward_inputs=False)
    for module in [*modules, scorer]:
        sharded = fully_shard(
            module, mesh=mesh, mp_policy=precision, reshard_after_forward=True, ignored_params=whole or None
        )
        assert isinstance(sharded, FSDPModule)
        sharded.set_gradient_divide_factor(1.0)
        sharded.set_force_sum_reduction_for_comms(True)
    buffers = [
        (module, name, value) for module in scorer.modules() for name, value in module.named_buffers(recurse=False)
    ]
    scorer.to_empty(device=mesh.device_type)
    for module, name, value in buffers:
        setattr(module, name, value.to(mesh.device_type))
    for name, parameter in scorer.model.named_parameters():
        _copy(parameter, weights.pop(name))


def _take_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """The parameters of a model by name, which is left without any, on the meta device."""
    weights = {name: value.detach() for name, value in model.named_parameters()}
    empty: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, own in module.named_parameters(recurse=False):
            if id(own) not in empty:
                shape = torch.empty(own.shape, dtype=own.dtype, device="meta")
                empty[id(own)] = nn.Parameter(shape, requires_grad=own.requires_grad)
            setattr(module, name, empty[id(own)])
    return weights


def tower_trains(model: PreTrainedModel) -> bool:
    read = vision_prefixes(model)
    return any(parameter.requires_grad for name, parameter in model.named_parameters() if name.startswith(read))


def gather_weights(model: PreTrainedModel, keep: bool) -> dict[str, Tensor]:
    """The state dict of a model, sharded or not, with whole tensors on the CPU; every rank calls it, and those that do
    not `keep` gather for the others only."""
    state = model.state_dict(keep_vars=True)
    # Tied weights are one tensor of several names, and stay one.
    found: dict[int, Tensor] = {}
    for value in {id(value): value for value in state.values()}.values():
        whole = whole_tensor(value.detach())
        if keep:
            found[id(value)] = whole.cpu()
    return {name: found[id(value)] for name, value in state.items()} if keep else {}


def whole_tensor(value: Tensor) -> Tensor:
    """A sharded tensor gathered, by a collective; any other as it is."""
    return value.full_tensor() if isinstance(value, DTensor) else value


def part_of(value: Tensor, like: Tensor) -> Tensor:
    """What this rank has of a tensor that is sharded like another: all, where that is whole; every rank calls it."""
    if not isinstance(like, DTensor):
        return whole_tensor(value)
    if not isinstance(value, DTensor):
        value = distribute_tensor(value, like.device_mesh, like.placements, src_data_rank=None)
    return value.to_local()


@torch.no_grad()
def load_weights(model: PreTrainedModel, weights: Mapping[str, Tensor], source: str) -> None:
    """Overwrite the weights with those from `source`, where either may be sharded; a ModelError if they do not fit."""
    state = model.state_dict(keep_vars=True)
    if {name: value.shape for name, value in state.items()} != {name: value.shape for name, value in weights.items()}:
        raise ModelError(f"{source} holds a model of another shape than the one that learns")
    for name, value in state.items():
        _copy(value, weights[name])


@torch.no_grad()
def _copy(own: Tensor, new: Tensor) -> None:
    (own.to_local() if isinstance(own, DTensor) else own).copy_(part_of(new, own))
