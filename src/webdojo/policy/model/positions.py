"""Three-axis rotary positions (mrope) of a prompt with images.

Text advances all three axes by one a token. An image starts at the next free position; its
tokens share that temporal position and spread their row and column over the other two axes; the
text after it goes on past the larger side of the image. Equal to `get_rope_index` of the models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch


def mrope_positions(runs: Sequence[int | tuple[int, int]]) -> tuple[torch.Tensor, int]:
    """Positions of a sequence described as runs.

    Args:
        runs: an int is that many text tokens; a pair is an image of (token rows, token columns).

    Returns:
        int64 [3, length] (temporal, row, column), and the position of the next text token.
    """
    parts: list[torch.Tensor] = []
    start = 0
    for run in _joined(runs):
        if isinstance(run, int):
            parts.append(torch.arange(start, start + run).expand(3, -1))
            start += run
        else:
            rows, columns = run
            row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
            parts.append(torch.stack([torch.zeros_like(row), row, column]).reshape(3, -1) + start)
            start += max(rows, columns)
    return torch.cat(parts, dim=1) if parts else torch.zeros(3, 0, dtype=torch.long), start


def _joined(runs: Sequence[int | tuple[int, int]]) -> Iterator[int | tuple[int, int]]:
    """The same runs with neighbouring ones of text as one: a prompt has many."""
    text = 0
    for run in runs:
        if isinstance(run, int):
            text += run
            continue
        if text:
            yield text
        yield run
        text = 0
    if text:
        yield text
