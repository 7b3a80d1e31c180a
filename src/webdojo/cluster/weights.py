"""Weights on their way from the learner to engines on other machines, through Ray's object store.

A version travels as a few objects, each of many tensors, which every node fetches once however many of its engines
read them. Each carries a checksum of a sample of every tensor: what arrives is what was sent, or it is refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
import torch

from webdojo.errors import EngineError

BUCKET_BYTES = 256 * 2**20
SAMPLE = 1024
"""Values of a tensor that its checksum is over, evenly spaced."""


@dataclass(frozen=True)
class Version:
    """Published weights: `buckets` are references to objects in Ray's store."""

    version: int
    buckets: Sequence[Any]
    checksums: Mapping[str, int]

    def weights(self) -> dict[str, torch.Tensor]:
        """Fetch the tensors; EngineError where one is not what was published."""
        found = {name: _tensor(*each) for bucket in ray.get([*self.buckets]) for name, each in bucket.items()}
        if damaged := [name for name, value in found.items() if checksum(value) != self.checksums.get(name)]:
            raise EngineError(f"weights of version {self.version} arrived damaged: {damaged[0]}")
        return found


def publish(weights: Mapping[str, torch.Tensor], version: int, dtype: torch.dtype) -> Version:
    """Put weights into Ray's store, in the precision that engines sample with."""
    cast = {name: value.detach().to("cpu", dtype).contiguous() for name, value in weights.items()}
    checksums = {name: checksum(value) for name, value in cast.items()}
    return Version(version, [ray.put(bucket) for bucket in _buckets(cast)], checksums)


def checksum(value: torch.Tensor) -> int:
    flat = value.reshape(-1)
    sample = flat[:: max(1, len(flat) // SAMPLE)].contiguous()
    return zlib.crc32(str(tuple(value.shape)).encode() + sample.view(torch.uint8).numpy().tobytes())


Packed = tuple[npt.NDArray[np.uint8], str, tuple[int, ...]]
"""A tensor as Ray passes it on without a copy: its bytes, its type and its shape."""


def _buckets(weights: Mapping[str, torch.Tensor]) -> Iterator[dict[str, Packed]]:
    bucket: dict[str, Packed] = {}
    size = 0
    for name, value in weights.items():
        data = value.reshape(-1).view(torch.uint8).numpy()
        if bucket and size + data.nbytes > BUCKET_BYTES:
            yield bucket
            bucket, size = {}, 0
        bucket[name] = (data, str(value.dtype).removeprefix("torch."), tuple(value.shape))
        size += data.nbytes
    yield bucket


def _tensor(data: npt.NDArray[np.uint8], dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=getattr(torch, dtype)).reshape(shape)
