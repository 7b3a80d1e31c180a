"""Model folders, good and bad."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat
from webdojo.errors import ModelError
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.loading import load_model, save_model


@pytest.fixture
def folder(model_dir: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(model_dir, tmp_path / "model"))


def one_line(error: pytest.ExceptionInfo[ModelError]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


def test_weights_come_back_as_they_were_saved(model_dir: Path, tmp_path: Path, images: Images) -> None:
    model, processor = load_model(model_dir)
    assert not model.training
    assert model.dtype == torch.float32
    save_model(model, processor, tmp_path / "again")
    again, processor_again = load_model(tmp_path / "again")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    sample = (chat(processor, "hello", images.random(1)), processor.encode("cart<|im_end|>"))
    first = token_logprobs(model, collate([sample], processor, images), 1.0)
    second = token_logprobs(again, collate([sample], processor_again, images), 1.0)
    assert torch.equal(first.logprobs, second.logprobs)


def test_dtype_is_the_callers(model_dir: Path) -> None:
    assert load_model(model_dir, torch.bfloat16)[0].dtype == torch.bfloat16


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as error:
        load_model(tmp_path / "nowhere")
    assert "nowhere" in one_line(error)
    assert "does not exist" in one_line(error)
    with pytest.raises(ModelError, match=r"has no config\.json"):
        load_model(tmp_path)


def test_unregistered_model_type(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "llava"}))
    with pytest.raises(ModelError) as error:
        load_model(folder)
    assert "'llava'" in one_line(error)
    assert "it has no chat template" in one_line(error)


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.9])
def test_truncated_weights(folder: Path, keep: float) -> None:
    weights = folder / "model.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(ModelError) as error:
        load_model(folder)
    assert "corrupt or cut short" in one_line(error)


def test_no_weights_file(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        load_model(folder)


def test_weights_that_lack_a_tensor_are_refused(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    name = next(n for n in tensors if n.endswith("layers.1.mlp.up_proj.weight"))
    del tensors[name]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lack 1 tensors that config\.json asks for, first .*layers\.1\.mlp\.up_proj"):
        load_model(folder)


def test_weights_of_another_shape_are_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["intermediate_size"] += 8
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="weights in"):
        load_model(folder)


def test_config_that_is_not_json(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelError, match="is not a JSON object"):
        load_model(folder)
