"""The tiny model is built from nothing, and the one that ships can read and point."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from webdojo.errors import ModelError
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.loading import load_model
from webdojo.sites import COMPACT_KINDS
from webdojo.tiny import train
from webdojo.tiny.batches import BatchSource
from webdojo.tiny.losses import AttentionLoss, Heads, answering_loss, word_token_ids
from webdojo.tiny.screens import Screens, render_screens
from webdojo.tiny.train import TinyConfig, _measure, main
from webdojo.tiny.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screens")
    render_screens(folder, COMPACT_KINDS, list(range(240, 260)), 60, 0, lambda: None)
    return folder


@pytest.fixture
def few_check_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "CHECK_SCREENS", 8)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Sums of several threads may differ in the last bit."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_screens_are_labelled_where_the_ink_is(screens: Path) -> None:
    loaded = Screens(screens)
    assert len(loaded.screens) == 60
    inked = total = 0
    for image, screen in zip(loaded.images, loaded.screens, strict=True):
        for word in (w for w in screen.words if 0 <= w.row < 10):
            box = image[word.row * 32 : word.row * 32 + 32, int(word.left) : int(word.right)]
            total += 1
            inked += int(box.std() > 12)
    assert total > 500
    assert inked > 0.98 * total


@pytest.mark.usefixtures("few_check_screens")
def test_a_short_course_leaves_a_model_that_loads(tmp_path: Path) -> None:
    config = TinyConfig(
        kinds=COMPACT_KINDS, screens=24, see_samples=64, answer_samples=64, batch_size=4, check_every=100
    )
    main(tmp_path, config)
    model, processor = load_model(tmp_path / "model")
    history = json.loads((tmp_path / "model" / "figures.json").read_text())["history"]
    assert [entry["phase"] for entry in history] == ["see", "answer"]
    assert sum(p.numel() for p in model.parameters()) > 1_500_000
    assert processor.image_tokens(320, 320) == 100
    assert (tmp_path / "model" / "model.safetensors").stat().st_size < 12e6


@pytest.mark.usefixtures("few_check_screens", "one_thread")
@pytest.mark.parametrize("stopped_after", [1, 3])
def test_a_course_that_was_stopped_goes_on_and_ends_as_if_it_had_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_after: int
) -> None:
    config = TinyConfig(
        kinds=COMPACT_KINDS, screens=12, see_samples=8, answer_samples=8, batch_size=4, check_every=1, workers=1
    )
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    main(whole, config)
    for part in ("train", "check"):
        shutil.copytree(whole / part, parts / part)
    measured = []

    def stop(*arguments: Any) -> dict[str, float]:
        measured.append(arguments)
        if len(measured) > stopped_after:
            raise KeyboardInterrupt
        return {}

    with monkeypatch.context() as patch:
        patch.setattr(train, "_measure", stop)
        with pytest.raises(KeyboardInterrupt):
            main(parts, config)
    main(parts, config)
    expected, found = (load_file(folder / "model" / "model.safetensors") for folder in (whole, parts))
    assert all(torch.equal(expected[name], found[name]) for name in expected)


@pytest.mark.usefixtures("few_check_screens")
def test_a_folder_of_another_course_is_refused(tmp_path: Path) -> None:
    config = TinyConfig(kinds=COMPACT_KINDS, screens=12, see_samples=4, answer_samples=4, batch_size=4, workers=1)
    main(tmp_path, config)
    with pytest.raises(ModelError, match="with other options"):
        main(tmp_path, replace(config, lr=1e-3))


def test_the_shipped_model_reads_points_and_answers_on_sites_it_never_saw(screens: Path) -> None:
    model, processor = load_model("tiny")
    assert (model_folder("tiny") / "model.safetensors").stat().st_size < 12e6
    known = Vocabulary(COMPACT_KINDS)
    check = BatchSource(Screens(screens), processor, 8, known)
    heads = Heads(model.config.text_config.hidden_size, word_token_ids(processor.encode, known))
    with torch.no_grad():
        loss_of = partial(answering_loss, model, heads, AttentionLoss(model), image_token_id=processor.image_token_id)
        metrics = _measure(loss_of, check, ask=True)
    for skill in ("find", "see", "say", "name", "kind"):
        assert metrics[skill] > 0.9, skill
    for skill in ("read", "value", "goal", "here"):
        assert metrics[skill] > 0.8, skill
