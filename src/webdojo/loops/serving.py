"""A model with everything that serving it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformers import AutoConfig

from webdojo.loops.models import make_engine
from webdojo.policy.loading import model_folder
from webdojo.policy.processor import Processor
from webdojo.policy.serve.app import ChatService
from webdojo.policy.serve.pictures import Pictures
from webdojo.recipe import Recipe


@contextmanager
def open_service(recipe: Recipe, model: str, name: str = "") -> Iterator[ChatService]:
    """Load a model and answer chat requests with it; its engine is closed at the end.

    Args:
        recipe: its `model` section says on which device and in which precision.
        model: `tiny`, a folder in Hugging Face layout, or a hub id.
        name: what clients call it; empty: the hub id, or the last part of the folder's name.

    Raises:
        ModelError: the model cannot be loaded.
    """
    folder = model_folder(model)
    pictures = Pictures()
    engine = make_engine(recipe, pictures, model)
    try:
        yield ChatService(
            engine,
            Processor.load(folder),
            pictures,
            name=name or (Path(model).resolve().name if Path(model).is_dir() else model),
            context_tokens=AutoConfig.from_pretrained(str(folder)).get_text_config().max_position_embeddings,
        )
    finally:
        engine.close()
