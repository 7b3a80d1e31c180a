"""Attention over packed rows: pieces against the dense mask that they stand for."""

from __future__ import annotations

import random

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from webdojo.policy.model.tree_attention import plan, tree_attention


def random_ends(length: int, seed: int, forks: float = 0.15) -> Tensor:
    """Of a random tree in depth-first order, which may be a forest."""
    rng = random.Random(seed)
    ends = torch.full((length,), length)
    path: list[int] = []
    for token in range(length):
        keep = rng.randint(0, len(path)) if rng.random() < forks else len(path)
        ends[path[keep:]] = token
        path = [*path[:keep], token]
    return ends


def dense(ends: Tensor) -> Tensor:
    at = torch.arange(len(ends))
    return (at[None] <= at[:, None]) & (at[:, None] < ends[None])


@pytest.mark.parametrize("seed", range(5))
def test_pieces_are_the_mask(seed: int) -> None:
    ends = random_ends(80, seed)
    seen = torch.zeros(80, 80, dtype=torch.bool)
    for piece in plan(ends):
        for run in piece.above:
            seen[piece.tokens, run] = True
        size = piece.tokens.stop - piece.tokens.start
        seen[piece.tokens, piece.tokens] = torch.ones(size, size, dtype=torch.bool).tril()
    assert torch.equal(seen, dense(ends))


@pytest.mark.parametrize(("length", "heads", "kv_heads"), [(1, 2, 2), (90, 4, 4), (90, 6, 2), (300, 4, 1)])
def test_attention_and_its_gradients_are_those_of_the_dense_mask(length: int, heads: int, kv_heads: int) -> None:
    torch.manual_seed(0)
    ends = random_ends(length, seed=length)
    shapes = [(1, heads, length, 16), (1, kv_heads, length, 16), (1, kv_heads, length, 16)]
    query, key, value = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    wanted = torch.randn(1, length, heads, 16, dtype=torch.float64)
    keys, values = (t.repeat_interleave(heads // kv_heads, dim=1) for t in (key, value))
    expected = F.scaled_dot_product_attention(query, keys, values, attn_mask=dense(ends), scale=0.3).transpose(1, 2)
    grads = torch.autograd.grad(expected, (query, key, value), wanted)
    found, _ = tree_attention(torch.nn.Module(), query, key, value, None, tree=plan(ends), scaling=0.3)
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(torch.autograd.grad(found, (query, key, value), wanted), grads, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_tokens_that_do_not_ask_have_no_answers_and_the_others_their_own() -> None:
    torch.manual_seed(0)
    length, heads, kv_heads = 200, 4, 2
    ends = random_ends(length, seed=7)
    asking = torch.cat([torch.arange(30, 50), torch.randperm(length)[:40]])
    asks = torch.zeros(length, dtype=torch.bool).index_fill(0, asking, True)[:, None, None]
    shapes = [(1, n, length, 16) for n in (heads, kv_heads, kv_heads)]
    query, key, value = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    wanted = torch.randn(1, length, heads, 16, dtype=torch.float64)
    whole, _ = tree_attention(torch.nn.Module(), query, key, value, None, tree=plan(ends))
    grads = torch.autograd.grad(whole, (query, key, value), wanted * asks)
    pieces = plan(ends, asking)
    assert sum(piece.tokens.stop - piece.tokens.start for piece in pieces if piece.asks) == int(asks.sum())
    found, _ = tree_attention(torch.nn.Module(), query, key, value, None, tree=pieces)
    torch.testing.assert_close(found, whole * asks)
    for ours, theirs in zip(torch.autograd.grad(found, (query, key, value), wanted), grads, strict=True):
        torch.testing.assert_close(ours, theirs)
