"""Which weights of a model train."""

from __future__ import annotations

from transformers import PreTrainedModel

from webdojo.config import ModelConfig
from webdojo.errors import ConfigError
from webdojo.policy.model.forward import VISION, text_layers


def trained_names(model: PreTrainedModel, config: ModelConfig) -> set[str]:
    """Names of the parameters that train where there are no adapters.

    Raises:
        ConfigError: `freeze_trainable_layers` is more than the model has.
    """
    wanted, layers = config.freeze_trainable_layers, text_layers(model)
    if wanted > len(layers):
        raise ConfigError(
            f"model.freeze_trainable_layers is {wanted}, but the text model of {config.path!r} has {len(layers)} "
            "layers: take at most so many, or 0 to train all"
        )
    if wanted:
        last = {id(parameter) for layer in layers[-wanted:] for parameter in layer.parameters()}
        return {name for name, parameter in model.named_parameters() if id(parameter) in last}
    return {name for name, _ in model.named_parameters() if not (config.freeze_vision and name.startswith(VISION))}
