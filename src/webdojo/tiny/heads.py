"""The losses and accuracies of the tiny model's training: dense heads first, then answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from webdojo.policy.model.forward import text_hidden, vision_features
from webdojo.sites.content.words import compact_vocabulary
from webdojo.tiny.attention_loss import ANSWER_LAYER, QUESTION_LAYER, AttentionLoss
from webdojo.tiny.batches import Batch
from webdojo.tiny.labels import ROWS, TOKENS
from webdojo.tiny.questions import CHARACTERS, NO_WORD, WORDS

Metrics = dict[str, list[float]]
SHARPNESS = 20.0
"""The scale of the cosines between visual tokens and word embeddings."""


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

        Args:
            tokens: [N, width], the outputs of the vision tower.
            embeddings: [vocabulary, width], the text model's own.
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


def word_token_ids(encode: Callable[[str], list[int]]) -> list[int]:
    """The token of each word of `WORDS` as it stands inside a sentence: capitalised, after a space."""
    written = {word.lower(): word for word in compact_vocabulary()}
    return [encode(" " + written[word])[0] for word in WORDS]


def seeing_loss(model: Any, heads: Heads, batch: Batch) -> tuple[torch.Tensor, Metrics]:
    """The loss of the dense heads alone."""
    device = model.device
    features = vision_features(model, batch.pixels.to(device), batch.grid.to(device))
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
            miss = attention.loss(layer, attended.to(device))
            total = total + miss
            metrics[name] = [float(miss.detach())]
    right, owners = (logits.argmax(-1) == targets).cpu(), answer[:, 1:][chosen].cpu() - 1
    wrong = ~right & batch.graded[:, 1:][chosen.cpu()]
    for index, question in enumerate(batch.asked):
        metrics.setdefault(question.skill.value, []).append(float(not wrong[owners == index].any()))
    return total, metrics
