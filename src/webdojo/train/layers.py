"""How the layers of a model run in an optimizer step: recomputed for the backward pass, or compiled.

Neither changes what is computed, to float tolerance, nor the names of the weights.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from transformers import AttentionInterface, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from webdojo.policy.model.forward import text_layers
from webdojo.policy.model.tree_attention import TREE, tree_attention


def recompute_activations(model: PreTrainedModel) -> None:
    """Keep of each text layer and vision block only its input, and compute the rest again in the backward pass.

    It happens in training mode alone. The model's own switch would also make the embeddings' output require gradients,
    and so keep what frozen layers below the first trained one compute.
    """
    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer):
            layer: Any = module
            layer.gradient_checkpointing = True
            layer._gradient_checkpointing_func = partial(checkpoint, use_reentrant=False)


def compile_layers(model: PreTrainedModel) -> None:
    """Compile the text layers, once for rows of any length; call it when the model is sharded, if it is.

    What gathers and drops weights around a layer stays outside, and so does the attention of rows on the CPU, which
    would be compiled again for every number of pieces.
    """
    AttentionInterface.register(TREE, torch.compiler.disable(tree_attention))
    for layer in text_layers(model):
        layer.forward = torch.compile(layer.forward, dynamic=True)
