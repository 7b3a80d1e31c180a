"""The block mask of packed rows against that of all pairs, and in a model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask
from transformers import PreTrainedModel

from tests.policy.conftest import Images, chat
from tests.policy.model.test_tree_attention import random_ends
from webdojo.policy.model.forward import attend_in_rows, narrow_last_layer, text_model, token_logprobs
from webdojo.policy.model.processor import Processor
from webdojo.policy.model.tree_attention import FLEX, block_mask
from webdojo.trainer.packing import collate_micro_batch, cut

Loaded = tuple[PreTrainedModel, Processor]


@pytest.mark.parametrize(("length", "forks"), [(8, 0.1), (61, 0.0), (64, 0.3), (100, 0.05), (203, 0.02)])
def test_block_mask_is_that_of_all_pairs(length: int, forks: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webdojo.policy.model.tree_attention.BLOCK", 8)
    ends = random_ends(length, seed=length, forks=forks)
    found = block_mask(ends)
    expected = create_block_mask(found.mask_mod, None, None, length, length, device="cpu", BLOCK_SIZE=8)
    assert found.shape == expected.shape
    assert _blocks(found) == _blocks(expected)


def _blocks(mask: BlockMask) -> list[tuple[set[int], set[int]]]:
    """Of each block of queries, which blocks of keys it sees in part and which as a whole."""
    assert mask.full_kv_num_blocks is not None and mask.full_kv_indices is not None
    partial = _chosen(mask.kv_num_blocks, mask.kv_indices)
    return list(zip(partial, _chosen(mask.full_kv_num_blocks, mask.full_kv_indices), strict=True))


def _chosen(counts: Tensor, indices: Tensor) -> list[set[int]]:
    return [set(row[:count].tolist()) for count, row in zip(counts[0, 0].tolist(), indices[0, 0], strict=True)]


def test_a_model_takes_the_block_mask(loaded: Loaded, images: Images, monkeypatch: pytest.MonkeyPatch) -> None:
    model, processor = loaded
    monkeypatch.setattr("webdojo.policy.model.tree_attention.BLOCK", 16)
    sequences = [
        (chat(processor, "find the red mug", images.random(i // 2)), processor.encode(f"click {i}")) for i in range(4)
    ]
    (row,) = cut(sequences, 10_000)
    batch = collate_micro_batch(row, [sequences[i] for i in row.members], processor, images)
    attend_in_rows(model)
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        expected = token_logprobs(model, batch, 0.8).logprobs
        text_model(model).config._attn_implementation = FLEX
        narrow_last_layer(model)
        found = token_logprobs(model, batch, 0.8).logprobs
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
