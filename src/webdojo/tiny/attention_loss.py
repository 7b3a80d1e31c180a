"""An auxiliary loss on the attention of two layers of the text model, used in this training only.

To point at a name, a token of the question must find the same word on the screen, and the answer must
attend to it too; to recall what the task names, the answer must attend to the task. From answers alone a
small model learns this only after very many samples, because nothing rewards half of it. So one group of
heads in one layer is trained to attend from a question's tokens to the tokens of what it names, and one
in the next layer from the answer's tokens to those that it is read from. The loss is -log of the
attention mass on those tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb

QUESTION_LAYER, ANSWER_LAYER = 1, 2
GROUP = 0
"""The key head whose query heads are trained."""


@dataclass
class AttentionTargets:
    """P query positions in a batch, with the tokens that each should attend to."""

    row: torch.Tensor
    """int64 [P]"""
    position: torch.Tensor
    """int64 [P]: index of the token in its row."""
    targets: torch.Tensor
    """bool [P, L]: the tokens of its row that it should attend to; at least one is True."""

    def to(self, device: torch.device) -> AttentionTargets:
        return AttentionTargets(self.row.to(device), self.position.to(device), self.targets.to(device))


class AttentionLoss:
    """Records the inputs of the trained layers' attention during a forward pass, and computes the loss on them."""

    def __init__(self, model: Any) -> None:
        self._seen: dict[int, tuple[Any, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]] = {}
        for index in (QUESTION_LAYER, ANSWER_LAYER):
            attention = model.model.language_model.layers[index].self_attn
            attention.register_forward_pre_hook(self._recorder(index), with_kwargs=True)

    def _recorder(self, index: int) -> Any:
        def record(attention: Any, args: Any, kwargs: dict[str, Any]) -> None:
            self._seen[index] = (attention, kwargs["hidden_states"], kwargs["position_embeddings"])

        return record

    def loss(self, index: int, attended: AttentionTargets) -> torch.Tensor:
        """The mean of -log of the attention mass on the targets, over positions and trained heads."""
        attention, hidden, (cos, sin) = self._seen[index]
        batch, length, _ = hidden.shape
        size = attention.head_dim
        queries = attention.q_norm(attention.q_proj(hidden).view(batch, length, -1, size)).transpose(1, 2)
        keys = attention.k_norm(attention.k_proj(hidden).view(batch, length, -1, size)).transpose(1, 2)
        queries, keys = apply_rotary_pos_emb(queries, keys, cos, sin)
        taught = queries.shape[1] // keys.shape[1]
        chosen = queries[:, GROUP * taught : (GROUP + 1) * taught].transpose(1, 2)[attended.row, attended.position]
        scores = torch.einsum("phd,pld->phl", chosen, keys[:, GROUP][attended.row]) * attention.scaling
        later = torch.arange(length, device=hidden.device) > attended.position[:, None]
        logprobs = scores.masked_fill(later[:, None], float("-inf")).log_softmax(-1)
        arrived = logprobs.masked_fill(~attended.targets[:, None], float("-inf")).logsumexp(-1)
        return -arrived.mean()
