"""Low-rank adapters (LoRA, arXiv:2106.09685): W + (lora_alpha / r) · B A, of which only A and B train.

The model stays what it is, with `peft`'s layers in the place of linear ones, so that all else drives it as before.
Invariants: the weights of the base never change; what leaves the learner, for an engine or as a checkpoint, has the
names of the model without adapters, which are merged into it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import PreTrainedModel

from webdojo.errors import ConfigError, ModelError
from webdojo.policy.config import ModelConfig
from webdojo.policy.model.forward import vision_prefixes
from webdojo.trainer.learner.sharding import part_of

State = Mapping[str, torch.Tensor]

ADAPTER = "adapter"
"""Folder of a checkpoint that holds the adapters in `peft`'s layout."""
WEIGHTS = "adapter_model.safetensors"
PREFIX = "base_model.model."
"""How `peft` begins the names of what it saves."""
NAME = "default"
"""Name of the adapter, and so a part of the names of its weights in memory."""


class Adapters:
    """The adapters of a model, in place once this is made; the model's own float32 weights do not train from now on.

    `base` is the folder or hub id of the model, for those who read the adapters. `seed` decides A and what is dropped;
    B starts at zero, so that the model computes what it did. A ConfigError says that `peft` is not installed, or that
    `lora.target_modules` fits no linear layer, or something else too.
    """

    def __init__(self, model: PreTrainedModel, config: ModelConfig, *, base: str, seed: int) -> None:
        try:
            import peft
            from peft.tuners.lora import LoraLayer
        except ImportError as error:
            raise ConfigError(
                f"model.lora.r is {config.lora.r}, which needs peft: pip install 'webdojo[lora]', or set model.lora.r=0"
            ) from error
        lora = config.lora
        self.scale = lora.lora_alpha / lora.r
        self._model = model
        self._seed = seed
        read = vision_prefixes(model) if config.freeze_vision else ()
        self._config = peft.LoraConfig(
            r=lora.r,
            lora_alpha=lora.lora_alpha,
            lora_dropout=lora.lora_dropout,
            target_modules=lora.target_modules,
            exclude_modules="|".join(rf"{re.escape(prefix)}.*" for prefix in read) or None,
            base_model_name_or_path=base,
        )
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            try:
                peft.inject_adapter_in_model(self._config, model)
            except ValueError as error:
                raise ConfigError(f"model.lora.target_modules = {lora.target_modules!r}: {error}") from error
        layers: dict[str, Any] = {name: each for name, each in model.named_modules() if isinstance(each, LoraLayer)}
        for name, layer in layers.items():
            if not isinstance(base_layer := layer.get_base_layer(), torch.nn.Linear):
                raise ConfigError(
                    f"model.lora.target_modules = {lora.target_modules!r} fits {name!r}, which is a "
                    f"{type(base_layer).__name__}: name linear layers only"
                )
        self._layers = list(layers.values())

    @contextmanager
    def disabled(self) -> Iterator[None]:
        """Within the block the model is its base."""
        # The switch of `peft` would also change what requires gradients, which sharding relies on.
        for layer in self._layers:
            layer.set_scale(NAME, 0.0)
        try:
            yield
        finally:
            for layer in self._layers:
                layer.set_scale(NAME, 1.0)

    def reseed(self, step: int, rank: int) -> None:
        """Make what the adapters drop in a step depend on the seed, the step and the rank alone."""
        if self._config.lora_dropout:
            torch.manual_seed(random.Random(f"{self._seed}/{step}/{rank}").getrandbits(62))

    def own(self, state: State) -> dict[str, torch.Tensor]:
        """The weights of the adapters."""
        return {name: tensor for name, tensor in state.items() if _is_adapters(name)}

    def sources(self, state: State) -> dict[str, tuple[str, ...]]:
        """What each weight of the model without adapters is made of: the name of that of the base, and those of B and A
        where it has adapters."""
        found: dict[str, tuple[str, ...]] = {}
        for name in state:
            if not _is_adapters(name):
                layer, base, end = name.rpartition(".base_layer.")
                adapters = [f"{layer}.lora_{part}.{NAME}.weight" for part in "BA"] if base and end == "weight" else []
                found[f"{layer}.{end}" if base else name] = (name, *adapters)
        return found

    @torch.no_grad()
    def merged(self, state: State) -> dict[str, torch.Tensor]:
        """The weights of a model without adapters that computes the same; what these change is new, and on the CPU
        where it is not sharded."""
        merged: dict[str, torch.Tensor] = {}
        for name, (base, *adapters) in self.sources(state).items():
            merged[name] = state[base]
            if adapters:
                up, down = (state[each].cpu() for each in adapters)
                merged[name] = _plus(state[base], self.scale * (up @ down))
        return merged

    def write(self, folder: Path, state: State) -> None:
        """Write the adapters so that `peft.PeftModel.from_pretrained(base, folder)` reads them."""
        own = {_saved_name(name): tensor.contiguous() for name, tensor in self.own(state).items()}
        folder.mkdir(parents=True, exist_ok=True)
        self._config.save_pretrained(str(folder))
        save_file(own, folder / WEIGHTS, metadata={"format": "pt"})

    def read(self, folder: Path) -> dict[str, torch.Tensor]:
        """What `write` wrote, by the names of the model in memory, on the CPU."""
        try:
            saved = load_file(folder / WEIGHTS)
        except (OSError, SafetensorError) as error:
            raise ModelError(
                f"no adapters can be read in {str(folder)!r}: a run resumes with the model.lora that it began with"
            ) from error
        own = self.own(self._model.state_dict())
        shapes = {_saved_name(name): tensor.shape for name, tensor in own.items()}
        if shapes != {name: tensor.shape for name, tensor in saved.items()}:
            raise ModelError(
                f"the adapters in {str(folder)!r} are of other layers or another rank than those that train now; "
                "resume with the same model.lora as before"
            )
        return {name: saved[_saved_name(name)] for name in own}

    def check_base(self, state: State, merged: State, folder: Path) -> None:
        """Raise a ModelError where the model with these adapters, merged, is not what a checkpoint holds as the model:
        they were trained on another base than this one."""
        different = [
            name
            for name, ours in self.merged(state).items()
            if name not in merged
            or ours.shape != merged[name].shape
            or not torch.allclose(
                part_of(ours, merged[name]).cpu(), part_of(merged[name], merged[name]).cpu(), rtol=1e-5, atol=1e-6
            )
        ]
        if different:
            raise ModelError(
                f"the adapters of checkpoint {str(folder)!r} were trained on another model than the one that learns "
                f"({len(different)} tensors differ, first {min(different)!r}); resume from the model that the run "
                "began with"
            )


def _plus(weight: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    if isinstance(weight, DTensor):
        return weight + distribute_tensor(change, weight.device_mesh, weight.placements, src_data_rank=None)
    return weight.cpu() + change


def _is_adapters(name: str) -> bool:
    return f".lora_A.{NAME}." in name or f".lora_B.{NAME}." in name


def _saved_name(name: str) -> str:
    return PREFIX + name.replace(f".{NAME}.", ".")
