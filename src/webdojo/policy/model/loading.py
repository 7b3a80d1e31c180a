"""Models from folders (the tiny model of the package, a Hugging Face folder, or a hub id), whether weights fit, and
on which device and in which precision models run.

Every failure is one `ModelError` line. Invariant: what comes back has all its weights from the
file; a checkpoint that lacks some is an error, never a model with random parts.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch.distributed.device_mesh import DeviceMesh
from transformers import CONFIG_MAPPING, AutoConfig, PreTrainedModel
from transformers.utils import logging as transformers_logging

from webdojo.errors import ConfigError, ModelError, one_line
from webdojo.policy.config import ModelConfig
from webdojo.policy.model.auto_processor import AutoModelProcessor, load_processor
from webdojo.policy.model.fast_layers import multiply_patches
from webdojo.policy.model.folder import is_hub_id, model_folder
from webdojo.policy.model.hub_config import hub_config
from webdojo.policy.model.layouts import class_of, folder_layout
from webdojo.policy.model.parts import READS_PARTS, load_parts
from webdojo.policy.model.processor import Processor

logger = logging.getLogger("webdojo")


def load_model(
    path: str | Path, dtype: torch.dtype = torch.float32, mesh: DeviceMesh | None = None
) -> tuple[PreTrainedModel, Processor]:
    """The model in eval mode on the CPU with SDPA attention, and its `Processor`.

    `path` is `tiny`, a folder in Hugging Face layout, or a hub id (`Qwen/Qwen3-VL-8B-Instruct`). The weights get
    `dtype`, whatever the file holds. With a `mesh` they are DTensors, of which each rank reads its part, where the
    installed transformers can (`parts.READS_PARTS`); every rank calls it.
    """
    folder = model_folder(path)
    layout = folder_layout(folder)
    processor = load_processor(folder)
    transformers_logging.disable_progress_bar()
    try:
        loaded: PreTrainedModel
        options = {"dtype": dtype, "attn_implementation": "sdpa", "local_files_only": True}
        model_class = class_of(AutoConfig.from_pretrained(str(folder), local_files_only=True))
        if mesh is None or not READS_PARTS:
            loaded, info = model_class.from_pretrained(str(folder), output_loading_info=True, **options)
        else:
            loaded, info = load_parts(model_class, str(folder), mesh, **options)
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"weights in {str(folder)!r} cannot be read, so the files are corrupt or cut short; copy or save them "
            f"again: {one_line(error)}"
        ) from error
    missing = sorted({*info["missing_keys"], *(str(key) for key in info["mismatched_keys"])})
    if missing:
        raise ModelError(
            f"weights in {str(folder)!r} lack {len(missing)} tensors that config.json asks for, first {missing[0]!r}"
        )
    if not layout.shares:
        logger.warning("%s", plain_warning(loaded, processor))
    elif "sliding_attention" in loaded.config.get_text_config().to_dict().get("layer_types", ()):
        raise ModelError(
            f"the model in {str(folder)!r} attends through a sliding window (use_sliding_window in its config.json), "
            "which no engine here serves; take a model without"
        )
    if layout.images:
        multiply_patches(loaded)
    return loaded.eval(), processor


def skeleton(path: str | Path) -> PreTrainedModel:
    """A model's shapes without its weights, on the meta device; of a hub id only its config is read."""
    try:
        found = hub_config(str(path)) if is_hub_id(path) else AutoConfig.from_pretrained(str(model_folder(path)))
        config = CONFIG_MAPPING[found["model_type"]].from_dict(found) if isinstance(found, dict) else found
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"the config of model {str(path)!r} cannot be read: {one_line(error)}") from error
    with torch.device("meta"):
        model: PreTrainedModel = class_of(config)(config)
    return model


def plain_warning(model: PreTrainedModel, processor: Processor) -> str:
    """What the plain path means for a model."""
    warning = (
        f"model type {model.config.model_type!r} takes the plain path: one request and one sample at a time, and "
        "nothing that prompts have in common is kept (docs/models.md)"
    )
    if isinstance(processor, AutoModelProcessor) and processor.forgeable:
        warning += f"; text of a page can forge the markers {', '.join(processor.forgeable)} of its chat template"
    return warning


def save_model(model: PreTrainedModel, processor: Processor, path: str | Path) -> None:
    """Write weights (safetensors), config and processor so that `load_model`, transformers and vLLM read them."""
    model.save_pretrained(str(path))
    processor.save(path)


def save_settings(model: PreTrainedModel, processor: Processor, path: str | Path) -> None:
    """All that `save_model` writes but the weights."""
    model.save_pretrained(str(path), state_dict={})
    processor.save(path)


def misfit(own: Mapping[str, torch.Tensor], new: Mapping[str, torch.Tensor]) -> str:
    """The first difference of two state dicts in names or shapes; empty where there is none.

    It is looked for before weights are loaded, because loading copies what fits before it raises.
    """
    for name in sorted(own.keys() | new.keys()):
        if name not in new:
            return f"{name!r} is missing"
        if name not in own:
            return f"{name!r} is not in the model"
        if own[name].shape != new[name].shape:
            return f"{name!r} has shape {tuple(new[name].shape)}, the model has {tuple(own[name].shape)}"
    return ""


def device_of(config: ModelConfig) -> torch.device:
    """Where models live: `model.device`, with `auto` resolved; raises ConfigError for `cuda` where torch sees none."""
    has_gpu = torch.cuda.is_available()
    if config.device == "cuda" and not has_gpu:
        raise ConfigError("model.device is 'cuda', but torch sees no CUDA GPU here: take 'auto' or 'cpu'")
    return torch.device(("cuda" if has_gpu else "cpu") if config.device == "auto" else config.device)


def engine_dtype(config: ModelConfig) -> torch.dtype:
    """Precision of the engine's weights: `model.dtype`, with `auto` resolved."""
    narrow = config.dtype == "bfloat16" or (config.dtype == "auto" and device_of(config).type == "cuda")
    return torch.bfloat16 if narrow else torch.float32
