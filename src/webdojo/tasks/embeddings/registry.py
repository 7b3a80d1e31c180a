"""The embeddings by name."""

from __future__ import annotations

from webdojo.plugins import Registry, derived_from
from webdojo.tasks.embeddings.embedding import Embedding
from webdojo.tasks.embeddings.endpoint import EndpointEmbedding
from webdojo.tasks.embeddings.ngrams import Ngrams
from webdojo.tasks.embeddings.sentence_transformer import SentenceTransformerEmbedding

EMBEDDINGS: Registry[type[Embedding]] = Registry(
    "webdojo.embeddings",
    "embedding",
    *derived_from(Embedding),
    {"ngrams": Ngrams, "sentence_transformers": SentenceTransformerEmbedding, "endpoint": EndpointEmbedding},
)
"""All embeddings by name; a section takes one by `plug_field(EMBEDDINGS, "ngrams")`."""
