"""A small server that speaks what we use of vLLM's API, with vLLM's rules, and answers by counting.

It stands where `vllm.entrypoints.openai.api_server` stands (`vllm_package`), so that processes, pipes,
signals and HTTP are real. It samples the ids 100, 101, … one every 10 ms, and says of all requests but
two that they wait. What it was asked is kept in a file, one JSON line a call, which outlives it.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from safetensors import safe_open
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TICK_S = 0.01
RUNS = 2
PATCH = 32
IMAGE_PAD = "IMAGE_PAD"
PROBE_LOGPROB = "PROBE_LOGPROB"
CALLS = "CALLS"
STOPS = "STOPS"
"""Where it is set, odd seeds stop after the first token."""


def vllm_package(folder: Path) -> None:
    """Write a package `vllm` whose API server is this one."""
    package = folder / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    for part in (package, package.parent, package.parent.parent):
        (part / "__init__.py").touch()
    (package / "api_server.py").write_text("from tests.policy.vllm.server_double import main\nmain()\n")


class Double:
    """The server's state."""

    def __init__(self) -> None:
        self.version = "default"
        self.resumed = asyncio.Event()
        self.resumed.set()
        self.is_updating = False
        self.requests = 0

    def note(self, call: str, **what: Any) -> None:
        with Path(os.environ[CALLS]).open("a") as calls:
            calls.write(json.dumps({"pid": os.getpid(), "call": call, "at": time.time(), **what}) + "\n")

    async def health(self, request: Request) -> Response:
        return Response()

    async def metrics(self, request: Request) -> Response:
        engine = 'engine="0",model_name="model"'
        waiting = max(0.0, self.requests - RUNS)
        return Response(
            "# HELP vllm:num_requests_waiting Number of requests waiting to be processed.\n"
            "# TYPE vllm:num_requests_waiting gauge\n"
            f"vllm:num_requests_waiting{{{engine}}} {waiting}\n"
            f"vllm:kv_cache_usage_perc{{{engine}}} 0.25\n"
        )

    async def control(self, request: Request) -> Response:
        """Every route that changes the server."""
        call = request.url.path.strip("/")
        content = await request.body()
        body = json.loads(content) if content else {}
        self.note(call, query=request.url.query, body=body)
        if call in ("pause", "sleep"):
            self.resumed.clear()
        elif call in ("resume", "wake_up"):
            self.resumed.set()
        elif call == "start_weight_update":
            if self.is_updating:
                return JSONResponse({"error": "already active"}, 500)
            self.is_updating = True
        elif call == "update_weights":
            files = sorted(Path(body["update_info"]["folder"]).glob("*.safetensors"))
            names = [name for file in files for name in safe_open(file, framework="np").keys()]  # noqa: SIM118
            self.note("loaded", names=names, files=len(files))
        elif call == "finish_weight_update":
            self.is_updating, self.version = False, body["weight_version"]
        elif call == "update_weight_version":
            self.version = body["new_version"]
        return JSONResponse({"success": True})

    async def generate(self, request: Request) -> Response:
        self.requests += 1
        try:
            return await self.answer(request)
        finally:
            self.requests -= 1

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        self.note("generate", body=body)
        parts = body.get("content_parts", [])
        ids, sampling = body["token_ids"], body["sampling_params"]
        if ids.count(int(os.environ[IMAGE_PAD])) != len(parts):
            return JSONResponse({"error": {"message": "placeholders and images differ"}}, 400)
        sizes = [Image.open(io.BytesIO(base64.b64decode(p["url"].partition(",")[2]))).size for p in parts]
        expanded = len(ids) - len(parts) + sum((w // PATCH) * (h // PATCH) for w, h in sizes)
        is_check = sampling.get("top_k") == 1  # of log-probabilities, as an engine starts
        sampled: list[int] = []
        spans: list[dict[str, Any]] = []
        stops = STOPS in os.environ and sampling.get("seed", 0) % 2 == 1
        while len(sampled) < sampling["max_tokens"]:
            await asyncio.sleep(TICK_S)
            if await request.is_disconnected():
                self.note("aborted", sampled=len(sampled))
                return Response()
            await self.resumed.wait()
            if not spans or spans[-1]["version"] != self.version:
                spans.append({"version": self.version, "start": len(sampled), "end": len(sampled)})
            stopped = stops and len(sampled) == 1
            sampled.append(sampling["stop_token_ids"][0] if stopped else 100 + len(sampled))
            spans[-1]["end"] += 1
            if len(sampled) == 1 and not is_check:
                self.note("sampled")
            if stopped:
                break
        logprob = float(os.environ.get(PROBE_LOGPROB, "-1")) if is_check else -0.5
        choice = {
            "index": 0,
            "token_ids": sampled,
            "finish_reason": "length" if len(sampled) == sampling["max_tokens"] else "stop",
            "logprobs": {"content": [{"token_id": token, "logprob": logprob} for token in sampled]},
            "weight_versions": spans,
        }
        return JSONResponse({"choices": [choice], "usage": {"prompt_tokens": expanded}})


def app() -> Starlette:
    double = Double()
    calls = [
        *("pause", "resume", "sleep", "wake_up", "reset_prefix_cache", "reset_encoder_cache"),
        *("init_weight_transfer_engine", "start_weight_update", "update_weights", "finish_weight_update"),
        "update_weight_version",
    ]
    return Starlette(
        routes=[
            Route("/health", double.health),
            Route("/metrics", double.metrics),
            Route("/inference/v1/generate", double.generate, methods=["POST"]),
            *(Route(f"/{call}", double.control, methods=["POST"]) for call in calls),
        ]
    )


def main() -> None:
    """Serve on the port that the command line names."""
    if "--fail" in sys.argv:
        print("INFO: starting")
        raise ValueError("there is no GPU")
    port = int(sys.argv[sys.argv.index("--port") + 1])
    uvicorn.run(app, factory=True, host="127.0.0.1", port=port, log_level="warning")
