"""The losses and accuracies of the tiny model's training: dense heads first, then answers and attention.

To point at a name, a token of the question must find the same word on the screen, and the answer must attend to it too;
to recall what the task names, the answer must attend to the task. From answers alone a small model learns this only
after very many samples, because nothing rewards half of it. So one group of heads in one layer is trained to attend
from a question's tokens to the tokens of what it names, and one in the next layer from the answer's tokens to those
that it is read from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb

from webdojo.policy.model.forward import text_hidden, vision_features
from webdojo.tiny.batches import AttentionTargets, Batch
from webdojo.tiny.questions import CHARACTERS, NO_WORD
from webdojo.tiny.screens import ROWS, TOKENS
from webdojo.tiny.vocabulary import Vocabulary

Metrics = dict[str, list[float]]
SHARPNESS = 20.0
"""The scale of the cosines between visual tokens and word embeddings."""
QUESTION_LAYER, ANSWER_LAYER = 1, 2
GROUP = 0
"""The key head whose query heads are trained."""


class Heads(nn.Module):
    """Dense predictions from visual tokens [N, width]: two characters, the word, row and column.

    Characters and places have classifiers that are thrown away afterwards. Words are classified by
    cosine with the text model's own embeddings, so that a word on the screen and the same word in a
    question get similar vectors, and attention can find one by the other.
    """

    def __init__(self, width: int, word_ids: list[int]) -> None:
        super().__init__()
        self.characters = nn.Linear(width, 2 * (len(CHARACTERS) + 1))
        self.place = nn.Linear(width, 2 * ROWS)
        self.register_buffer("word_ids", torch.tensor(word_ids))

    def losses(self, tokens: torch.Tensor, embeddings: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, Metrics]:
        """The sum of the cross-entropies, and accuracies over cells that are not blank.

        `tokens` [N, width] are the outputs of the vision tower, `embeddings` [vocabulary, width] the text model's own.
        """
        n = len(tokens)
        characters, words = batch.characters.to(tokens.device).view(-1), batch.words.to(tokens.device)
        character_logits = self.characters(tokens).view(2 * n, -1)
        known = embeddings[self.get_buffer("word_ids")]
        word_logits = SHARPNESS * F.normalize(tokens, dim=-1) @ F.normalize(known, dim=-1).T
        index = torch.arange(n, device=tokens.device) % TOKENS
        place = torch.stack([index // ROWS, index % ROWS], dim=1).view(-1)
        parts = {
            "characters": F.cross_entropy(character_logits, characters),
            "words": F.cross_entropy(word_logits, words, ignore_index=NO_WORD),
            "place": F.cross_entropy(self.place(tokens).view(2 * n, ROWS), place),
        }
        right = {
            "character_accuracy": (character_logits.argmax(-1) == characters)[characters > 0],
            "word_accuracy": (word_logits.argmax(-1) == words)[words != NO_WORD],
        }
        metrics = {name: [float(loss.detach())] for name, loss in parts.items()}
        metrics |= {name: [float(hits.float().mean())] for name, hits in right.items()}
        return parts["characters"] + parts["words"] + parts["place"], metrics


def word_token_ids(encode: Callable[[str], list[int]], known: Vocabulary) -> list[int]:
    """The token of each class of words as it stands inside a sentence: capitalised, after a space."""
    written = {word.lower(): word for word in known.words}
    return [encode(" " + written[word])[0] for word in known.classes]


class AttentionLoss:
    """Records the inputs of the trained layers' attention during a forward pass, and computes the loss on them."""

    def __init__(self, model: Any) -> None:
        self._layers = model.model.language_model.layers
        self._seen: dict[nn.Module, dict[str, Any]] = {}
        for index in (QUESTION_LAYER, ANSWER_LAYER):
            self._layers[index].self_attn.register_forward_pre_hook(self._record, with_kwargs=True)

    def _record(self, attention: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        self._seen[attention] = kwargs

    def loss(self, index: int, attended: AttentionTargets) -> torch.Tensor:
        """The mean of -log of the attention mass on the targets, over positions and trained heads."""
        attention = self._layers[index].self_attn
        hidden, (cos, sin) = (self._seen[attention][name] for name in ("hidden_states", "position_embeddings"))
        row, position, targets = (part.to(hidden.device) for part in attended)
        batch, length, _ = hidden.shape
        size = attention.head_dim
        queries = attention.q_norm(attention.q_proj(hidden).view(batch, length, -1, size)).transpose(1, 2)
        keys = attention.k_norm(attention.k_proj(hidden).view(batch, length, -1, size)).transpose(1, 2)
        queries, keys = apply_rotary_pos_emb(queries, keys, cos, sin)
        taught = queries.shape[1] // keys.shape[1]
        chosen = queries[:, GROUP * taught : (GROUP + 1) * taught].transpose(1, 2)[row, position]
        scores = torch.einsum("phd,pld->phl", chosen, keys[:, GROUP][row]) * attention.scaling
        later = torch.arange(length, device=hidden.device) > position[:, None]
        logprobs = scores.masked_fill(later[:, None], float("-inf")).log_softmax(-1)
        arrived = logprobs.masked_fill(~targets[:, None], float("-inf")).logsumexp(-1)
        return -arrived.mean()


def seeing_loss(model: Any, heads: Heads, batch: Batch) -> tuple[torch.Tensor, Metrics]:
    """The loss of the dense heads alone."""
    features = vision_features(model, batch.pixels.to(model.device), batch.grid.to(model.device))
    return heads.losses(features.embeds, model.get_input_embeddings().weight, batch)


def answering_loss(
    model: Any, heads: Heads, attention: AttentionLoss, batch: Batch, image_token_id: int
) -> tuple[torch.Tensor, Metrics]:
    """The loss of dense heads, answers and attention; the metrics also say by skill which answers were right."""
    device = model.device
    features = vision_features(model, batch.pixels.to(device), batch.grid.to(device))
    total, metrics = heads.losses(features.embeds, model.get_input_embeddings().weight, batch)
    ids, answer = batch.ids.to(device), batch.answer.to(device)
    hidden = text_hidden(model, ids, batch.positions.to(device), ids == image_token_id, features, use_cache=False)
    chosen = answer[:, 1:] > 0
    logits, targets = model.get_output_embeddings()(hidden[:, :-1][chosen]).float(), ids[:, 1:][chosen]
    loss = F.cross_entropy(logits, targets)
    metrics["answer"] = [float(loss.detach())]
    total = total + 2 * loss
    for name, layer, attended in (
        ("question_gaze", QUESTION_LAYER, batch.question_attention),
        ("answer_gaze", ANSWER_LAYER, batch.answer_attention),
    ):
        if attended is not None:
            miss = attention.loss(layer, attended)
            total = total + miss
            metrics[name] = [float(miss.detach())]
    right, owners = (logits.argmax(-1) == targets).cpu(), answer[:, 1:][chosen].cpu() - 1
    wrong = ~right & batch.graded[:, 1:][chosen.cpu()]
    for index, question in enumerate(batch.asked):
        metrics.setdefault(question.skill, []).append(float(not wrong[owners == index].any()))
    return total, metrics
