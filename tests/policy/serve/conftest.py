"""The tiny model, loaded once, behind a server."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator

import pytest
import torch
from PIL import Image

from tests.policy.serve.served import Served
from tests.store.fabricate import observation, page_image
from webdojo.agent.harnesses import make_harness
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.loops.models import make_engine
from webdojo.policy.chat.messages import Message, messages_of
from webdojo.policy.hf import HFEngine
from webdojo.policy.serve.app import ChatService
from webdojo.policy.serve.pictures import Pictures
from webdojo.recipe import load_recipe
from webdojo.store.images import MemoryImages
from webdojo.types import Task


@pytest.fixture(scope="package")
def pictures() -> Pictures:
    return Pictures()


@pytest.fixture(scope="package")
def engine(pictures: Pictures) -> Iterator[HFEngine]:
    torch.set_num_threads(1)
    engine = make_engine(load_recipe("quickstart"), pictures, "tiny")
    assert isinstance(engine, HFEngine)
    yield engine
    engine.close()


@pytest.fixture(scope="package")
def service(engine: HFEngine, pictures: Pictures) -> ChatService:
    return ChatService(engine, engine.processor, pictures, name="tiny", context_tokens=2048)


@pytest.fixture(scope="package")
def server(service: ChatService) -> Iterator[Served]:
    with Served(service) as server:
        yield server


@pytest.fixture(scope="package")
def episode(engine: HFEngine) -> list[Message]:
    """What an agent asks first: the tiny model thinks and calls a tool."""
    images = MemoryImages()
    harness = make_harness(OpenWebRLConfig(tool_schemas="signature"), engine.processor)
    task = Task(id="t", instruction="Buy the red mug", start_url="http://shop-3.localhost/", website="shop-3.localhost")
    conversation = harness.start(task, observation(page_image(images, 1, (320, 320))))
    return messages_of(conversation.prompt(2000), engine.processor, images)


def picture(shade: int, size: tuple[int, int] = (320, 320), kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    image = Image.new("RGB", size, (shade, 255 - shade, 90))
    image.paste((250, 250, 250), (size[0] // 4, size[1] // 4, size[0] // 2, size[1] // 2))
    image.save(out, kind)
    return out.getvalue()


def data_url(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"
