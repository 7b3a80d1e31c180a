"""Tokens and prompts of a turn as text, for people."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from tokenizers import Tokenizer

from webdojo.policy.model.folder import is_hub_id, model_folder
from webdojo.store.run import RunStore
from webdojo.types import ImageSegment, Turn
from webdojo.view.page import visible

FILE = "tokenizer.json"


def tokenizer_of(store: RunStore) -> Tokenizer | None:
    """The tokenizer of the run's model, if it is on this machine; nothing is downloaded."""
    folders = [checkpoint.path for checkpoint in store.checkpoints.all()]
    recipe = yaml.safe_load(store.recipe_yaml) or {}
    path = store.info.get("processor") or store.info.get("model") or recipe.get("model", {}).get("path", "")
    if path and not is_hub_id(path) and (Path(path).is_dir() or "/" not in path):
        folders.append(model_folder(path))
    file = next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)
    return Tokenizer.from_file(str(file)) if file is not None else None


def token_list(turn: Turn, tokenizer: Tokenizer | None) -> list[dict[str, Any]]:
    """The tokens of a response as JSON objects, with what is stored about each."""
    response = turn.response
    return [
        {
            "text": visible(tokenizer.decode([id], skip_special_tokens=False)) if tokenizer is not None else f"{id} ",
            "id": id,
            "logprob": response.logprobs[k] if k < len(response.logprobs) else None,
            "version": response.versions[k] if k < len(response.versions) else None,
        }
        for k, id in enumerate(response.ids)
    ]


def prompt_parts(turn: Turn, tokenizer: Tokenizer | None) -> list[dict[str, Any]]:
    """A prompt as JSON objects in order: the text of tokens in a row, or an image."""
    parts: list[dict[str, Any]] = []
    for is_image, segments in groupby(turn.prompt.segments, lambda segment: isinstance(segment, ImageSegment)):
        if is_image:
            parts += [
                {"image": each.image.model_dump(), "tokens": each.tokens}
                for each in segments
                if isinstance(each, ImageSegment)
            ]
        else:
            ids = [id for each in segments if not isinstance(each, ImageSegment) for id in each.ids]
            text = (
                tokenizer.decode(ids, skip_special_tokens=False) if tokenizer is not None else " ".join(map(str, ids))
            )
            parts.append({"text": visible(text), "tokens": len(ids)})
    return parts
