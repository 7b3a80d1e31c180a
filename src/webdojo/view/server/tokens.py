"""Tokens and prompts of a turn as text, for people."""

from __future__ import annotations

import math
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from tokenizers import Tokenizer

from webdojo.policy.model.folder import is_hub_id, model_folder
from webdojo.store.learner_logprobs import read_learner_logprobs
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


def token_list(run: Path, id: str, number: int, turn: Turn, tokenizer: Tokenizer | None) -> list[dict[str, Any]]:
    """The tokens of a response as JSON objects, with what is stored about each, in the record of trajectory `id` and
    in what the learner left in the folder of the run. `gap` is the learner's log-probability less the engine's."""
    response = turn.response
    trained_in = max(response.versions, default=0) + 1
    learner = read_learner_logprobs(run, trained_in, id, number)
    if learner is None or len(learner) != len(response.logprobs):  # the latter where the episode was run anew since
        gaps = []
    else:
        gaps = (learner - np.array(response.logprobs, dtype=np.float32)).tolist()
    return [
        {
            "text": visible(tokenizer.decode([id], skip_special_tokens=False)) if tokenizer is not None else f"{id} ",
            "id": id,
            "logprob": response.logprobs[k] if k < len(response.logprobs) else None,
            "version": response.versions[k] if k < len(response.versions) else None,
            "gap": gaps[k] if k < len(gaps) and math.isfinite(gaps[k]) else None,
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
