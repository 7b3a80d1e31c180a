"""A real HTTP server that speaks the chat protocol, and breaks it as it is told to."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from webdojo.policy.engine import ChatConfig

Answering = Callable[[BaseHTTPRequestHandler], None]
Reply = Callable[[list[dict[str, Any]]], str]
"""What a model says to messages."""


def completion(
    text: str = "fine", prompt_tokens: int = 100, completion_tokens: int = 10, **message: Any
) -> dict[str, Any]:
    return {
        "choices": [{"message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens},
    }


def say(body: Any, status: int = 200, mime: str = "application/json", **headers: str) -> Answering:
    """Answer with JSON, or with a string as it is."""

    def answer(http: BaseHTTPRequestHandler) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        http.send_response(status)
        http.send_header("Content-Type", mime)
        http.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            http.send_header(name.replace("_", "-"), value)
        http.end_headers()
        http.wfile.write(data)

    return answer


def replying(reply: Reply, **usage: int) -> Answering:
    """Answer as a model that reads what it is sent."""
    return lambda http: say(completion(reply(http.body["messages"]), **usage))(http)  # type: ignore[attr-defined]


def refuse(status: int, message: str = "not now", code: str = "", **headers: str) -> Answering:
    return say({"error": {"message": message, "code": code}}, status, **headers)


def drop(http: BaseHTTPRequestHandler) -> None:
    """Hang up without a word."""
    http.close_connection = True


def truncate(http: BaseHTTPRequestHandler) -> None:
    """Promise more bytes than come."""
    data = json.dumps(completion()).encode()
    http.send_response(200)
    http.send_header("Content-Type", "application/json")
    http.send_header("Content-Length", str(len(data)))
    http.end_headers()
    http.wfile.write(data[: len(data) // 2])
    http.close_connection = True


class Endpoint:
    """A context manager; answers with `script` in order, then with `default`, and lists `models`."""

    def __init__(self, *script: Answering, default: Answering | None = None, models: Sequence[str] = ()) -> None:
        self.script = deque(script)
        self.default = default or say(completion())
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                with contextlib.suppress(ConnectionError):  # a client that hangs up or is killed
                    super().handle()

            def do_POST(self) -> None:
                endpoint._serve(self)

            def do_GET(self) -> None:
                say({"data": [{"id": name} for name in models]}, 200 if models else 404)(self)

            def log_message(self, format: str, *values: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def config(self, **options: Any) -> ChatConfig:
        return ChatConfig(**{"base_url": self.url, "model": "m"} | options)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self, http: BaseHTTPRequestHandler) -> None:
        body = json.loads(http.rfile.read(int(http.headers["Content-Length"])))
        with self._lock:
            self.bodies.append(body)
            self.headers.append({"path": http.path, **{name.lower(): value for name, value in http.headers.items()}})
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            http.body = body  # type: ignore[attr-defined]
            answer = self.script.popleft() if self.script else self.default
        try:
            answer(http)
        finally:
            with self._lock:
                self.at_once -= 1
