"""Embeddings behind an endpoint: a real server that fails, lies and stalls, and a key that stays secret."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from webdojo.errors import ConfigError, EngineError, Missing, TaskError
from webdojo.plugins import plug_field
from webdojo.tasks.embeddings import endpoint
from webdojo.tasks.embeddings.endpoint import EndpointEmbedding
from webdojo.tasks.embeddings.registry import EMBEDDINGS

KEY = "sk-a-key-that-nobody-may-see"
TEXTS = [f"task {number}" for number in range(25)]


class Server(ThreadingHTTPServer):
    """Embeds a text as its number and its length; `faults` are answered first, one a request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults: list[tuple[int, bytes]] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.dims = 2
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append(body)
            self.server.keys.add(self.headers.get("Authorization", ""))
            fault = self.server.faults.pop(0) if self.server.faults else None
        rows = [
            {"index": index, "embedding": [float(text.split()[-1]), 1.0, *[0.0] * (self.server.dims - 2)]}
            for index, text in enumerate(body["input"])
        ]
        status, data = fault or (200, json.dumps({"data": rows[::-1], "usage": {"prompt_tokens": 3}}).encode())
        self.send_response(status if self.path == "/v1/embeddings" else 404)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def embedding(server: Server, monkeypatch: pytest.MonkeyPatch) -> EndpointEmbedding:
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    return EndpointEmbedding(
        base_url=f"http://127.0.0.1:{server.server_port}/v1/", model="m", api_key_env="EMBEDDING_KEY", batch_size=4
    )


def test_vectors_come_in_the_order_of_the_texts_and_each_text_is_asked_once(
    server: Server, embedding: EndpointEmbedding
) -> None:
    vectors = embedding.embed([*TEXTS, "task 3"])
    assert vectors[:, 0].tolist() == [*range(25), 3] and vectors.dtype == np.float32
    assert sorted(text for body in server.asked for text in body["input"]) == sorted(TEXTS)
    assert {len(body["input"]) for body in server.asked} == {4, 1} and server.keys == {f"Bearer {KEY}"}
    assert {body["model"] for body in server.asked} == {"m"} and "dimensions" not in server.asked[0]


def test_faults_that_pass_are_waited_for(server: Server, embedding: EndpointEmbedding) -> None:
    lies = [{"data": []}, {"data": [{"index": 0, "embedding": [1]}] * 4}, {"data": [{"index": 0, "embedding": "x"}]}]
    server.faults = [
        (429, b"slow down"),
        (500, b""),
        (200, b"<html>"),
        *((200, json.dumps(lie).encode()) for lie in lies),
    ]
    assert embedding.embed(TEXTS)[:, 0].tolist() == [*range(25)]
    assert len(server.asked) == 7 + 6


def test_what_was_embedded_is_kept_when_a_later_batch_fails(
    server: Server, embedding: EndpointEmbedding, tmp_path: Path
) -> None:
    one = embedding.model_copy(update={"max_concurrency": 1, "max_retries": 0})
    one.embed(TEXTS[:8], tmp_path / "part.sqlite")
    server.faults = [(200, b"{}")]
    with pytest.raises(
        EngineError, match=r"endpoint http://127.* \(m\) failed 1 times \(max_retries\), last: no embed"
    ):
        one.embed(TEXTS, tmp_path / "part.sqlite")
    server.asked.clear()
    assert one.embed(TEXTS, tmp_path / "part.sqlite")[:, 0].tolist() == [*range(25)]
    assert sorted(text for body in server.asked for text in body["input"]) == sorted(TEXTS[8:])
    server.asked.clear()
    one.model_copy(update={"model": "other"}).embed(TEXTS[:4], tmp_path / "part.sqlite")
    assert len(server.asked) == 1, "vectors of one model were taken for those of another"


def test_a_fault_that_does_not_pass_is_one_line_without_the_key(server: Server, embedding: EndpointEmbedding) -> None:
    server.faults = [(401, f"no such key: {KEY}".encode())] * 50
    with pytest.raises(EngineError, match=r"status 401: no such key: \[key\]") as error:
        embedding.embed(TEXTS)
    assert KEY not in str(error.value) and len(server.asked) <= 8


def test_an_endpoint_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_S", 0.001)
    gone = EndpointEmbedding(base_url="http://127.0.0.1:9/v1", model="m", max_retries=2)
    with pytest.raises(EngineError, match=r"endpoint http://127\.0\.0\.1:9/v1 \(m\) failed 3 times.*ConnectError"):
        gone.embed(["a"])


def test_a_model_whose_vectors_change_their_length_is_refused(
    server: Server, embedding: EndpointEmbedding, tmp_path: Path
) -> None:
    embedding.embed(TEXTS[:2], tmp_path / "part.sqlite")
    server.dims = 3
    with pytest.raises(TaskError, match=r"text 2 has a vector of 3 numbers, and text 0 one of 2.*part\.sqlite"):
        embedding.embed(TEXTS[:4], tmp_path / "part.sqlite")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"base_url": ""}, "base_url of the embedding is ''"),
        ({"base_url": f"http://user:{KEY}@127.0.0.1/v1"}, "give the address of an API alone"),
        ({"model": ""}, "model of the embedding is empty"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_sent(options: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as error:
        EndpointEmbedding.model_validate({"base_url": "http://127.0.0.1:9/v1", "model": "m", **options}).embed(["a"])
    assert KEY not in str(error.value)


def test_a_key_that_is_not_there_is_missing() -> None:
    with pytest.raises(Missing, match="NO_SUCH_KEY, which is not in the environment"):
        EndpointEmbedding(base_url="http://127.0.0.1:9/v1", model="m", api_key_env="NO_SUCH_KEY").embed(["a"])


def test_a_file_of_something_else_keeps_no_vectors(embedding: EndpointEmbedding, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are notes, and no database at all.\n" * 40)
    with pytest.raises(TaskError, match=r"notes\.txt' cannot keep vectors"):
        embedding.embed(TEXTS, tmp_path / "notes.txt")


def test_embeddings_have_names() -> None:
    assert set(EMBEDDINGS) >= {"ngrams", "sentence_transformers", "endpoint"}
    assert EMBEDDINGS.get("endpoint") is EndpointEmbedding
    _, resolve, _ = plug_field(EMBEDDINGS, "ngrams")
    assert resolve.func({"name": "endpoint", "model": "m"}).model == "m"
