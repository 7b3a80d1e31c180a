"""Embeddings by sentence-transformers: a tiny model that the test makes, loaded from its folder."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from webdojo.errors import ConfigError
from webdojo.tasks.embeddings.sentence_transformer import SentenceTransformerEmbedding

needs_library = pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs webdojo[embeddings]")
TEXTS = ["open the red mug", "open the blue mug", "open the red mug", "show the cart"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer that knows seven words, with mean pooling."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "open", "the", "red", "blue", "mug", "show", "cart"]
    tokenizer = Tokenizer(models.WordLevel({word: id for id, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertModel(config).save_pretrained(folder)
    whole = tmp_path_factory.mktemp("model")
    words_of = Transformer(str(folder))
    SentenceTransformer(modules=[words_of, Pooling(16)]).save(str(whole))
    return whole


@needs_library
def test_a_model_of_a_folder_embeds_and_goes_on_where_it_was(model: Path, tmp_path: Path) -> None:
    embedding = SentenceTransformerEmbedding(model=str(model), device="cpu", batch_size=2)
    vectors = embedding.embed(TEXTS, tmp_path / "part.sqlite")
    assert vectors.shape == (4, 16) and np.isfinite(vectors).all()
    assert np.array_equal(vectors[0], vectors[2]) and not np.allclose(vectors[0], vectors[1], atol=1e-4)
    moved = model.rename(model.with_name("moved"))
    assert np.array_equal(embedding.embed(TEXTS, tmp_path / "part.sqlite"), vectors), "it was embedded again"
    moved.rename(model)


@needs_library
def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model '.*nowhere' of the embedding cannot be loaded"):
        SentenceTransformerEmbedding(model=str(tmp_path / "nowhere")).embed(TEXTS)


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'webdojo\[embeddings\]'"):
        SentenceTransformerEmbedding(model="m").embed(TEXTS)
