"""The tiny model is built from nothing, and the one that ships can read and point."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from webdojo.policy.loading import load_model, model_folder
from webdojo.policy.tiny.gaze import Gaze
from webdojo.policy.tiny.heads import Heads, answering_loss, word_token_ids
from webdojo.policy.tiny.pages import Screens, render_screens
from webdojo.policy.tiny.teacher import Teacher
from webdojo.policy.tiny.train import Course, _measure, main


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screens")
    render_screens(folder, ["shop", "wiki"], list(range(240, 260)), 60, 0, lambda: None)
    return folder


def test_screens_are_labelled_where_the_ink_is(screens: Path) -> None:
    loaded = Screens(screens)
    assert len(loaded) == 60
    inked = total = 0
    for image, screen in zip(loaded.images, loaded.screens, strict=True):
        for word in (w for w in screen.words if 0 <= w.row < 10):
            box = image[word.row * 32 : word.row * 32 + 32, int(word.left) : int(word.right)]
            total += 1
            inked += int(box.std() > 12)
    assert total > 500
    assert inked > 0.98 * total


def test_a_short_course_leaves_a_model_that_loads(tmp_path: Path) -> None:
    course = Course(screens=24, see_samples=64, answer_samples=64, batch_size=4, check_every=100)
    main(tmp_path, course)
    model, processor = load_model(tmp_path / "model")
    history = json.loads((tmp_path / "model" / "figures.json").read_text())["history"]
    assert [entry["phase"] for entry in history] == ["see", "answer"]
    assert sum(p.numel() for p in model.parameters()) > 1_500_000
    assert processor.image_tokens(320, 320) == 100
    assert (tmp_path / "model" / "model.safetensors").stat().st_size < 12e6


def test_the_shipped_model_reads_points_and_answers_on_sites_it_never_saw(screens: Path) -> None:
    model, processor = load_model("tiny")
    assert (model_folder("tiny") / "model.safetensors").stat().st_size < 12e6
    check = Teacher(Screens(screens), processor, 8)
    heads = Heads(model.config.text_config.hidden_size, word_token_ids(processor.encode))
    with torch.no_grad():
        loss_of = partial(answering_loss, model, heads, Gaze(model), image_token_id=processor.image_token_id)
        figures = _measure(loss_of, check, ask=True)
    assert figures["find"] > 0.9
    assert figures["name"] > 0.9
    assert figures["kind"] > 0.9
    assert figures["read"] > 0.7
    assert figures["value"] > 0.6
