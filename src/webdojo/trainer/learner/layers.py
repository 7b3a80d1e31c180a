"""How the layers of a model run in an optimizer step: recomputed for the backward pass, or compiled.

Neither changes what is computed, to float tolerance, nor the names of the weights. Recomputing uses the public switches
of transformers alone. Compiling binds `forward` of each text layer anew, and this is the only place in `train` that
does so; it was tested with torch 2.13 and transformers 5.23, and `tests/trainer/learner/test_layers.py` fails where it
stops working. Without `train.compile`, which is the default, layers run as they are.
"""

from __future__ import annotations

import warnings

import torch
from transformers import AttentionInterface, PreTrainedModel

from webdojo.policy.model.forward import text_layers
from webdojo.policy.model.tree_attention import TREE, tree_attention


def recompute_activations(model: PreTrainedModel) -> None:
    """Keep of each text layer and vision block only its input, and compute the rest again in the backward pass.

    It happens in training mode alone.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # transformers 6 will have it by another name only
        model.gradient_checkpointing_enable({"use_reentrant": False})
    # The switch makes the embeddings' output require gradients, and so keeps what frozen layers below the first trained
    # one compute.
    model.disable_input_require_grads()


def compile_layers(model: PreTrainedModel) -> None:
    """Compile the text layers, once for micro-batches of any length; call it when the model is sharded, if it is.

    What gathers and drops weights around a layer stays outside, and so does the attention of micro-batches on the CPU,
    which would be compiled again for every number of pieces.
    """
    AttentionInterface.register(TREE, torch.compiler.disable(tree_attention))
    for layer in text_layers(model):
        layer.forward = torch.compile(layer.forward, dynamic=True)
