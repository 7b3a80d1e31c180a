"""An OpenAI-compatible endpoint that says what a script says: a policy whose every answer is known."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request

from webdojo.agent.toolcall import render
from webdojo.types import ToolCall


class Script:
    """The turns that are answered, in order; `asked` are the requests that came."""

    def __init__(self, turns: Sequence[Sequence[ToolCall]], native: bool = True) -> None:
        self._turns, self._native = list(turns), native
        self.asked: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The next turn as a chat completion."""
        calls = self._turns[len(self.asked)]
        self.asked.append(body)
        message: dict[str, Any] = {"role": "assistant", "content": "On it."}
        if self._native:
            message["tool_calls"] = [
                {
                    "id": f"call_{len(self.asked)}_{index}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for index, call in enumerate(calls)
            ]
        else:
            message["content"] = render("On it.", calls).removesuffix("<|im_end|>")
        return {
            "id": f"answer-{len(self.asked)}",
            "object": "chat.completion",
            "created": 0,
            "model": "script",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if self._native else "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


@asynccontextmanager
async def answering(script: Script) -> AsyncIterator[str]:
    """Serve the script; yields the base URL of the API."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> dict[str, Any]:
        return script.answer(await request.json())

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        serving = asyncio.create_task(server.serve([listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        server.should_exit = True
        await serving
