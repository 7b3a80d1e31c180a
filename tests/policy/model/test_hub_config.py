"""The configs of models of the hub, without a network."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from huggingface_hub import constants

from webdojo.errors import ModelError
from webdojo.policy.model.folder import is_hub_id
from webdojo.policy.model.hub_config import SHAPES, hub_config
from webdojo.policy.model.loading import skeleton
from webdojo.recipe import load_recipe, recipe_names

PUBLISHED = {
    "Qwen/Qwen3-VL-2B-Thinking": 2_127_532_032,
    "Qwen/Qwen3-VL-4B-Thinking": 4_437_815_808,
    "Qwen/Qwen3-VL-8B-Instruct": 8_767_123_696,
    "Qwen/Qwen2.5-VL-3B-Instruct": 3_754_622_976,
    "Qwen/Qwen2.5-VL-7B-Instruct": 8_292_166_656,
}
"""The sizes that the hub shows of their weights."""


class Hub(BaseHTTPRequestHandler):
    """A hub with one model, and under each name of Qwen another, which answers all else with 404 and counts what it is
    asked."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        qwen = self.path.startswith("/Qwen/")
        here = qwen or self.path == "/someone/model/resolve/main/config.json"
        body = json.dumps({"model_type": "qwen3_vl" if qwen else "qwen3"}).encode()
        self.send_response(200 if here else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a local hub, in place of the public one, was asked for."""
    with HTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setattr(
            constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            f"http://127.0.0.1:{server.server_port}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
        )
        Hub.asked.clear()
        yield Hub.asked
        server.shutdown()


@pytest.mark.parametrize("model_id", PUBLISHED)
def test_a_shipped_shape_has_the_size_of_the_model(model_id: str, hub: list[str]) -> None:
    assert (sum(p.numel() for p in skeleton(model_id).parameters()), hub) == (PUBLISHED[model_id], [])


def test_every_model_that_a_recipe_names_has_its_shape_here() -> None:
    named = {load_recipe(name).model.path for name in recipe_names()}
    assert {path for path in named if is_hub_id(path)} <= SHAPES.keys()


def test_another_model_is_asked_for_once(hub: list[str]) -> None:
    assert hub_config("someone/model") == {"model_type": "qwen3"}
    with pytest.raises(ModelError, match=r"'someone/else' cannot be had from the hub: .*404"):
        hub_config("someone/else")
    assert len(hub) == 2


def test_a_config_in_the_cache_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: list[str]) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--someone--model"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("abc")
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "snapshots" / "abc" / "config.json").write_text('{"model_type": "qwen2_5_vl"}')
    assert hub_config("someone/model") == {"model_type": "qwen2_5_vl"}
    assert hub == []
