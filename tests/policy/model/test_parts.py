"""Models that are loaded in parts: the same weights, of which each rank reads its own only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import torch
import torch.distributed as dist
from torch.distributed import FileStore, HashStore  # type: ignore[attr-defined]
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor
from transformers import Qwen3ForCausalLM

from tests.policy.conftest import qwen3_config, tiny_processor
from webdojo.policy.model.loading import load_model, save_model
from webdojo.policy.model.parts import READS_PARTS
from webdojo.policy.model.processor import Processor

pytestmark = pytest.mark.skipif(not READS_PARTS, reason="needs transformers 5.20: before, each rank reads all")


@pytest.fixture(scope="module")
def mesh() -> Iterator[DeviceMesh]:
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


@pytest.mark.parametrize("family", ["qwen3_vl", "qwen3_vl_moe", "qwen2_5_vl", "qwen3"])
def test_parts_are_those_of_the_whole(family_dirs: dict[str, Path], mesh: DeviceMesh, family: str) -> None:
    whole, _ = load_model(family_dirs[family])
    parts, _ = load_model(family_dirs[family], mesh=mesh)
    assert type(parts) is type(whole)
    assert parts.config.to_dict() == whole.config.to_dict()
    assert not parts.training
    expected = whole.state_dict()
    assert parts.state_dict().keys() == expected.keys()
    for name, part in parts.named_parameters():
        assert isinstance(part, DTensor)
        assert torch.equal(part.to_local(), expected[name]), name
    for (name, buffer), other in zip(parts.named_buffers(), whole.buffers(), strict=True):
        assert torch.equal(buffer, other), name
    tied = whole.get_output_embeddings().weight is whole.get_input_embeddings().weight
    assert (parts.get_output_embeddings().weight is parts.get_input_embeddings().weight) == tied


ROOT = Path(__file__).parents[3]
LAYERS, WIDTH = 6, 512


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """96 MB of weights in float32, most of them in layers."""
    folder = tmp_path_factory.mktemp("large")
    processor = Processor(tiny_processor().tokenizer, None)
    config = qwen3_config(processor)
    config.hidden_size, config.intermediate_size, config.num_hidden_layers = WIDTH, 2560, LAYERS
    config.layer_types = ["full_attention"] * LAYERS
    save_model(Qwen3ForCausalLM(config), processor, folder)
    return folder


def test_no_rank_ever_holds_a_whole_model(large: Path, tmp_path: Path) -> None:
    store, command = tmp_path / "store", [sys.executable, "-m", "tests.policy.model.test_parts"]
    ranks = [
        subprocess.Popen([*command, str(large), str(store), str(rank)], stdout=subprocess.PIPE, cwd=ROOT)
        for rank in range(2)
    ]
    found = [json.loads(rank.communicate()[0]) for rank in ranks]
    weights = (large / "model.safetensors").stat().st_size
    for figures in found:
        assert figures["parts"] < 0.51 * weights
        assert figures["peak"] < 0.7 * weights


def load_as_one_of_two(folder: str, store: str, rank: int) -> None:
    """Print what one of two ranks holds of a model, and by how much its own memory was larger at most."""
    dist.init_process_group("gloo", store=FileStore(store, 2), rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    own = psutil.Process(os.getpid())

    def private() -> int:
        memory = own.memory_info()
        return int(memory.rss - memory.shared)  # pages of files, which the kernel may drop, do not count

    before, peak, done = private(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.is_set():
            peak = max(peak, private() - before)
            time.sleep(0.001)

    watching = threading.Thread(target=watch)
    watching.start()
    model, _ = load_model(folder, mesh=mesh)
    done.set()
    watching.join()
    local = [p.to_local() for p in model.parameters() if isinstance(p, DTensor)]
    print(json.dumps({"peak": peak, "parts": sum(part.numel() * part.element_size() for part in local)}))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    load_as_one_of_two(sys.argv[1], sys.argv[2], int(sys.argv[3]))
