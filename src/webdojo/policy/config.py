"""Options of the model that engine and learner share: the recipe's `model` section."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from webdojo.config import Section

TINY = "tiny"
"""The model of the package that reads shops and wikis on the grid."""
TINY_LAB = "tiny-lab"
"""The one that reads sites of all kinds on the grid."""
SHIPPED = (TINY, TINY_LAB)


class LoRAConfig(Section):
    """peft's own options have peft's names."""

    r: int = Field(default=0, ge=0)
    """Rank of the adapters that train in place of the weights (`webdojo[lora]`); 0 trains the weights themselves."""
    lora_alpha: int = Field(default=32, ge=1)
    """The adapters' products are scaled by `lora_alpha / r`."""
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    """The dropout rate of the adapters' inputs, in optimizer steps only."""
    target_modules: Literal["all-linear"] | list[str] = "all-linear"
    """Ends of the names of linear layers that get adapters, such as `[q_proj, v_proj]`; `all-linear` is all but the LM
    head. With `freeze_vision` none in the vision tower."""

    @field_validator("target_modules", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        if isinstance(given, str) and given != "all-linear":
            raise ValueError("must be all-linear, or a list of names such as [q_proj, v_proj]")
        return given


class ModelConfig(Section):
    path: str = TINY
    """`tiny` or `tiny-lab` (shipped with the package), a folder in Hugging Face layout, or a hub id."""
    threads: int = Field(default=0, ge=0)
    """torch threads of the engine; 0 leaves torch's own choice."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where engine and learner run; `auto` takes a CUDA GPU where torch sees one."""
    gpu_memory_gb: float = Field(default=0, ge=0)
    """Memory of the GPU that a recipe is made for: what a dry run plans with where there is none; 0 names none."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Precision of the engine; `auto` is bfloat16 on a GPU, else float32. The learner keeps float32 weights."""
    freeze_vision: bool = False
    """Train the text model only; the vision tower then costs no backward pass."""
    freeze_trainable_layers: int = Field(default=0, ge=0)
    """Train only so many layers, the last of the text model; the others keep what they can. 0 trains all."""
    lora: LoRAConfig = LoRAConfig()
    """Adapters; engines get them merged, and a checkpoint holds the merged model and the adapters beside it."""

    @model_validator(mode="after")
    def _fits_together(self) -> ModelConfig:
        if self.lora.r and self.freeze_trainable_layers:
            raise ValueError(
                "lora.r trains adapters in place of weights: set freeze_trainable_layers: 0, and name the layers that "
                "get adapters in lora.target_modules"
            )
        return self


def screenshot_tokens(viewport_px: tuple[int, int], token_px: int) -> int:
    """Visual tokens of one screenshot of that size, where each stands for a square of `token_px`."""
    width, height = viewport_px
    return math.ceil(width / token_px) * math.ceil(height / token_px)
