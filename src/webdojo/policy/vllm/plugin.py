"""What vLLM lacks to serve a learner's policy; loaded by vLLM through the entry point `vllm.general_plugins`.

`FolderTransfer` is a weight transfer that reads safetensors files from a folder, so that it works on
any device and between any two environments. A server that uses it also reports log-probabilities at
the sampling temperature before top-k and top-p, where vLLM's `processed_logprobs` are those of what
top-k and top-p leave. Servers without it are as vLLM made them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from vllm.config import VllmConfig
from vllm.config.weight_transfer import WeightTransferConfig
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload

BACKEND = "webdojo"


def register() -> None:
    """Make the transfer known; vLLM may call this several times in a process."""
    if BACKEND not in WeightTransferEngineFactory._registry:
        WeightTransferEngineFactory.register_engine(BACKEND, FolderTransfer)


@dataclass
class FolderInit(WeightTransferInitInfo):
    """Nothing is agreed beforehand."""


@dataclass
class FolderUpdate(WeightTransferUpdateInfo):
    """Where the new weights are."""

    folder: str
    """Holds `*.safetensors` in the names of the Hugging Face model; every worker sees it."""


class FolderTransfer(WeightTransferEngine[FolderInit, FolderUpdate]):
    """Loads the weights of a folder into the running model."""

    init_info_cls = FolderInit
    update_info_cls = FolderUpdate

    def __init__(
        self, config: WeightTransferConfig, vllm_config: VllmConfig, device: torch.device, model: torch.nn.Module
    ) -> None:
        super().__init__(config, vllm_config, device, model)
        if vllm_config.use_v2_model_runner:
            _score_before_filters_v2()
        else:
            _score_before_filters_v1()

    def init_transfer_engine(self, init_info: FolderInit) -> None:
        pass

    def start_weight_update(self) -> None:
        initialize_layerwise_reload(self.model)

    def update_weights(self, update_info: dict[str, Any]) -> None:
        self.receive_weights(self.parse_update_info(update_info))
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()

    def receive_weights(self, update_info: FolderUpdate) -> None:
        self.model.load_weights(_tensors(Path(update_info.folder)))

    def finish_weight_update(self) -> None:
        finalize_layerwise_reload(self.model, self.model_config)
        # A head that shares the embedding's weights is not in the files; on a CPU it keeps a packed copy of them.
        for module in self.model.modules():
            if isinstance(module, ParallelLMHead):
                module.quant_method.process_weights_after_loading(module)

    def shutdown(self) -> None:
        pass


def _tensors(folder: Path) -> Iterator[tuple[str, torch.Tensor]]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ValueError(f"{str(folder)!r} holds no .safetensors file; every worker must see the folder")
    for path in files:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 (it is no mapping)
                yield name, file.get_tensor(name)


def _score_before_filters_v1() -> None:
    """Let the first model runner's sampler score tokens before it filters them."""
    from vllm.v1.sample.ops.topk_topp_sampler import TopKTopPSampler

    def sample(
        sampler: TopKTopPSampler,
        logits: torch.Tensor,
        generators: dict[int, torch.Generator],
        k: torch.Tensor | None,
        p: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        if k is None and p is None:
            return sampler.forward(logits, generators, k, p)
        logprobs = logits.log_softmax(dim=-1, dtype=torch.float32)
        sampled, _ = sampler.forward(logits, generators, k, p)
        return sampled, logprobs

    TopKTopPSampler.__call__ = sample


def _score_before_filters_v2() -> None:
    """Let the second model runner's sampler score tokens before it filters them."""
    from vllm.v1.worker.gpu.sample.sampler import Sampler

    draw = Sampler._sample_random

    def sample(sampler: Sampler, logits: torch.Tensor, *args: Any) -> tuple[torch.Tensor, torch.Tensor]:
        before = logits.clone()
        sampled, _ = draw(sampler, logits, *args)
        return sampled, before

    Sampler._sample_random = sample
