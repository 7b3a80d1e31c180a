"""Weights of which each rank of a mesh reads only its part from the files, so that no rank ever holds a whole model.

A class of `transformers` loads what the parameters of its empty model ask for: where they are DTensors, the slices of
this rank. It makes them so in `maybe_distribute_model`, which is taken over here because its own way there brings
another sharding along than the learner's. Written for transformers 5.20 to 5.24; `tests/policy/model/test_parts.py`
fails where that stops working.
"""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from transformers import PreTrainedModel
from transformers.distributed.configuration_utils import DistributedConfig

READS_PARTS = hasattr(PreTrainedModel, "_mesh_manager")
"""Whether the installed transformers can: those before 5.20 cannot, and each rank reads the whole model."""


def load_parts(model_class: Any, folder: str, mesh: DeviceMesh, **options: Any) -> tuple[PreTrainedModel, Any]:
    """`model_class.from_pretrained(folder, output_loading_info=True, **options)` with DTensors on the CPU in place of
    weights, cut along their first dimension; every rank calls it."""
    on_cpu = init_device_mesh("cpu", (mesh.size(),))

    def cut(cls: Any, model: PreTrainedModel, config: Any, manager: Any) -> PreTrainedModel:
        cut_parameters(model, on_cpu)
        return model

    body = {"maybe_distribute_model": classmethod(cut), "__module__": model_class.__module__}
    in_parts: Any = type(model_class.__name__, (model_class,), body)
    loaded, info = in_parts.from_pretrained(
        folder, output_loading_info=True, distributed_config=DistributedConfig(), **options
    )
    loaded.__class__ = model_class
    del loaded.config.distributed_config  # which would be saved, and is none that others could use
    return loaded, info


def cut_parameters(model: nn.Module, mesh: DeviceMesh) -> None:
    """Make the parameters of a model on the meta device DTensors; tied ones stay one."""
    found: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, own in module.named_parameters(recurse=False):
            if id(own) not in found:
                part = distribute_tensor(own.detach(), mesh, [Shard(0)], src_data_rank=None)
                found[id(own)] = nn.Parameter(part, requires_grad=own.requires_grad)
            setattr(module, name, found[id(own)])
