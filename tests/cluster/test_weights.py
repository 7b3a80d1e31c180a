"""Weights on their way to engines: what arrives is what was published."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from webdojo.cluster import weights
from webdojo.cluster.weights import publish
from webdojo.errors import EngineError

pytestmark = pytest.mark.integration


@pytest.fixture
def tensors() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return {"a": torch.randn(300, 70), "b": torch.randn(5), "c": torch.randn(()), "d": torch.randn(64, 64).T}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_they_arrive_as_they_were(
    connection: None, tensors: dict[str, torch.Tensor], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "BUCKET_BYTES", 20_000)
    published = publish(tensors, 3, dtype)
    assert len(published.buckets) > 1
    arrived = published.weights()
    assert list(arrived) == list(tensors)
    for name, value in tensors.items():
        assert torch.equal(arrived[name], value.to(dtype))


def test_damaged_ones_are_refused(connection: None, tensors: dict[str, torch.Tensor]) -> None:
    published, other = publish(tensors, 3, torch.float32), publish({**tensors, "b": torch.zeros(5)}, 3, torch.float32)
    with pytest.raises(EngineError, match="weights of version 3 arrived damaged: b"):
        replace(published, buckets=other.buckets).weights()
