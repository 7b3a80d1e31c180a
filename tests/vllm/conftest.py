"""A real vLLM server on the CPU with the shipped tiny model, shared by all tests here.

`scripts/setup_vllm.sh` makes the environment it runs in; where there is none the tests are skipped.
What they measure goes to `benchmarks/results/vllm.json` when all have measured theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.record import record
from tests.policy.conftest import Images
from webdojo.policy.config import ModelConfig
from webdojo.policy.engine import ServedModel, VLLMConfig
from webdojo.policy.model.folder import model_folder
from webdojo.policy.vllm.engine import VLLMEngine
from webdojo.policy.vllm.server import start_servers

__all__ = ["needs_vllm"]

PYTHON = Path(__file__).parent.parent.parent / ".venv-vllm" / "bin" / "python"
needs_vllm = pytest.mark.skipif(not PYTHON.exists(), reason="no .venv-vllm here: make test-vllm makes it")

ARGS = ["--block-size=32", "--skip-mm-profiling"]  # short blocks, so that short prompts share their beginnings
FIGURES = {
    "max_abs_logprob_diff",
    "mean_abs_logprob_diff",
    "max_abs_logprob_diff_filtered",
    "max_abs_logprob_diff_greedy",
    "max_abs_logprob_diff_after_update",
    "nats_off_without_prefix_reset",
    "nats_off_without_encoder_reset",
    "seconds_start",
    "seconds_update",
    "seconds_crash_to_answer",
    "training_iterations",
    "training_engine_gap_max",
}

MakeEngine = Callable[..., VLLMEngine]


@pytest.fixture(scope="session")
def figures() -> Iterator[dict[str, float]]:
    """What tests measure, by name; kept where it is complete."""
    measured: dict[str, float] = {}
    yield measured
    assert set(measured) <= FIGURES
    if set(measured) == FIGURES:
        record("vllm", measured, [])


def served(images: Images, version: int = 0) -> ServedModel:
    return ServedModel("tiny", ModelConfig(device="cpu", threads=1), images, 4096, version=version)


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory, figures: dict[str, float]) -> Iterator[str]:
    """Address of the shared server."""
    begun = time.perf_counter()
    config, scratch = VLLMConfig(python=str(PYTHON), args=ARGS), tmp_path_factory.mktemp("vllm")
    (server,) = start_servers(model_folder("tiny"), served(Images()), config, scratch)
    figures["seconds_start"] = time.perf_counter() - begun
    yield server.url
    server.stop()


@pytest.fixture
def images() -> Images:
    return Images()


@pytest.fixture
def make_engine(images: Images) -> Iterator[MakeEngine]:
    made: list[VLLMEngine] = []

    def make(version: int = 0, **config: Any) -> VLLMEngine:
        engine = VLLMEngine(served(images, version), VLLMConfig(python=str(PYTHON), **config))
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()
