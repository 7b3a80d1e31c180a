"""The routes: `/v1/models`, `/v1/chat/completions`, `/health`.

Every request ends in an answer or in an error of OpenAI's shape. A client that leaves takes its
requests out of the engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from webdojo.browser_service.access import Access
from webdojo.browser_service.disconnect import ClientGone, while_connected
from webdojo.browser_service.wire import ErrorKind
from webdojo.errors import EngineError, ModelError
from webdojo.policy.processor import Processor
from webdojo.policy.serve.pictures import Pictures
from webdojo.policy.serve.pieces import pieces
from webdojo.policy.serve.prompts import image_urls, prompt_of
from webdojo.policy.serve.transcript import Transcript
from webdojo.policy.serve.wire import ApiError, ChatRequest
from webdojo.types import Engine, Prompt
from webdojo.version import __version__

TOKEN_VARIABLE = "WEBDOJO_SERVE_TOKEN"
"""Where the server reads its token."""


class ChatService:
    """Answers chat requests with one engine.

    Args:
        name: of the model, as clients must call it.
        pictures: the engine's images.
        context_tokens: most tokens of a prompt and its response.
    """

    def __init__(
        self, engine: Engine, processor: Processor, pictures: Pictures, *, name: str, context_tokens: int
    ) -> None:
        self.name = name
        self.created = int(time.time())
        self._engine = engine
        self._processor = processor
        self._pictures = pictures
        self._context_tokens = context_tokens

    async def complete(self, asked: ChatRequest) -> dict[str, Any]:
        """A whole answer."""
        self._check(asked)
        with self._pictures.hold(image_urls(asked.messages)) as images:
            prompt = prompt_of(asked.messages, images, self._processor)
            room = self._room(asked, prompt)
            choices = await _all(*(self._choice(asked, prompt, room, index) for index in range(asked.n)))
        out = [
            {
                "index": index,
                "message": {"role": "assistant", "content": choice.news()},
                "logprobs": {"content": choice.token_news()} if asked.logprobs else None,
                "finish_reason": choice.finish_reason,
            }
            for index, choice in enumerate(choices)
        ]
        usage = _usage(prompt, sum(choice.tokens for choice in choices))
        return self._head("chat.completion") | {"choices": out, "usage": usage}

    async def stream(self, asked: ChatRequest) -> AsyncGenerator[dict[str, Any], None]:
        """The same as chunks."""
        self._check(asked)
        with self._pictures.hold(image_urls(asked.messages)) as images:
            prompt = prompt_of(asked.messages, images, self._processor)
            room = self._room(asked, prompt)
            head = self._head("chat.completion.chunk")
            queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
            transcripts = [Transcript(self._processor, asked.stops) for _ in range(asked.n)]
            work = asyncio.create_task(
                _all(*(self._tell(asked, prompt, room, index, t, queue) for index, t in enumerate(transcripts)))
            )
            work.add_done_callback(lambda done: queue.put_nowait(None))
            try:
                while (choice := await queue.get()) is not None:
                    yield head | {"choices": [choice]}
                await work
            finally:
                work.cancel()
                with contextlib.suppress(asyncio.CancelledError, EngineError):
                    await work
            if asked.stream_options and asked.stream_options.include_usage:
                yield head | {"choices": [], "usage": _usage(prompt, sum(t.tokens for t in transcripts))}

    async def _choice(self, asked: ChatRequest, prompt: Prompt, room: int, index: int) -> Transcript:
        transcript = Transcript(self._processor, asked.stops)
        transcript.add(await self._engine.generate(prompt, asked.sampling(index, room)), last=True)
        return transcript

    async def _tell(
        self,
        asked: ChatRequest,
        prompt: Prompt,
        room: int,
        index: int,
        transcript: Transcript,
        queue: asyncio.Queue[dict[str, Any] | None],
    ) -> None:
        """Put the chunks of one choice into the queue."""
        delta: dict[str, Any] = {"role": "assistant", "content": ""}
        async for piece, last in pieces(self._engine, prompt, asked.sampling(index, room)):
            transcript.add(piece, last)
            delta["content"] = transcript.news()
            logprobs = {"content": transcript.token_news()} if asked.logprobs else None
            queue.put_nowait(
                {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": transcript.finish_reason}
            )
            if transcript.finish_reason is not None:
                return
            delta = {}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": self.name}

    def _check(self, asked: ChatRequest) -> None:
        if asked.model != self.name:
            raise ApiError(404, f"there is no model {asked.model!r} here but {self.name!r}", "model_not_found", "model")
        unknown = [id for id in asked.logit_bias or {} if not 0 <= id < self._processor.vocab_size]
        if unknown:
            most = self._processor.vocab_size - 1
            raise ApiError(400, f"logit_bias has token id {unknown[0]}; ids are 0 to {most}", param="logit_bias")

    def _room(self, asked: ChatRequest, prompt: Prompt) -> int:
        """Tokens that are left for a response."""
        room = self._context_tokens - len(prompt)
        wanted = asked.max_completion_tokens or asked.max_tokens or 1
        if wanted > room:
            raise ApiError(
                400,
                f"the messages take {len(prompt)} tokens and {wanted} are asked for, but this model's context holds "
                f"{self._context_tokens}",
                "context_length_exceeded",
                "messages",
            )
        return room


def create_app(service: ChatService, token: str) -> FastAPI:
    """The app that serves a model.

    Args:
        token: see `browser_service.access.Access`; the key of clients.
    """
    app = FastAPI(title="webdojo serve", version=__version__, redoc_url=None)
    app.add_middleware(Access, token=token, refuse=_refuse, variable=TOKEN_VARIABLE)

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        """The one model that is served."""
        model = {"id": service.name, "object": "model", "created": service.created, "owned_by": "webdojo"}
        return {"object": "list", "data": [model]}

    @app.get("/v1/models/{name:path}")
    async def model(name: str) -> dict[str, Any]:
        """That model, by its name."""
        if name != service.name:
            raise ApiError(404, f"there is no model {name!r} here but {service.name!r}", "model_not_found", "model")
        return {"id": service.name, "object": "model", "created": service.created, "owned_by": "webdojo"}

    @app.post("/v1/chat/completions", response_model=None)
    async def chat_completions(asked: ChatRequest, request: Request) -> Response:
        """The assistant's next message, whole or as server-sent events."""
        if not asked.stream:
            return JSONResponse(await while_connected(request, service.complete(asked)))
        chunks = service.stream(asked)
        first = await while_connected(request, _first(chunks))
        return StreamingResponse(_events(first, chunks), media_type="text/event-stream")

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the server runs; needs no token."""
        return {"status": "ok"}

    _handle_errors(app)
    return app


async def _first(chunks: AsyncGenerator[dict[str, Any], None]) -> dict[str, Any]:
    """The first chunk, before which an error can still have a status of its own."""
    return await anext(chunks)


async def _events(first: dict[str, Any], chunks: AsyncGenerator[dict[str, Any], None]) -> AsyncIterator[str]:
    """Server-sent events; an error in the middle is the last one."""
    async with contextlib.aclosing(chunks):
        yield _event(first)
        try:
            async for chunk in chunks:
                yield _event(chunk)
        except EngineError as error:
            yield _event(ApiError(500, str(error)).body)
            return
        yield "data: [DONE]\n\n"


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


async def _all(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    """The results of all; where one fails, the others are cancelled."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _usage(prompt: Prompt, sampled: int) -> dict[str, int]:
    return {"prompt_tokens": len(prompt), "completion_tokens": sampled, "total_tokens": len(prompt) + sampled}


def _refuse(kind: ErrorKind, message: str, headers: dict[str, str]) -> Response:
    status, code = (401, "invalid_api_key") if kind is ErrorKind.UNAUTHORIZED else (403, str(kind))
    return ApiError(status, message, code).response(headers)


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(ApiError)
    async def api_error(request: Request, error: ApiError) -> Response:
        return error.response()

    @app.exception_handler(ModelError)
    async def model_error(request: Request, error: ModelError) -> Response:
        return ApiError(400, str(error), param="messages").response()

    @app.exception_handler(EngineError)
    async def engine_error(request: Request, error: EngineError) -> Response:
        return ApiError(500, str(error)).response()

    @app.exception_handler(RequestValidationError)
    async def bad_request(request: Request, error: RequestValidationError) -> Response:
        fault = max(error.errors(), key=lambda fault: len(fault["loc"]))  # of content, that about its parts
        where = ".".join(str(part) for part in fault["loc"][1:] if "[" not in str(part))
        if fault["type"] == "extra_forbidden":
            refused = ApiError(400, f"{where!r} is not supported here: leave it out", "unknown_parameter", where)
        else:
            refused = ApiError(400, f"{where or 'the body'}: {fault['msg'].lower()}", "invalid_value", where)
        return refused.response()

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        message = f"{request.method} {request.url.path}: {error.detail}"
        return ApiError(error.status_code, message).response(dict(error.headers or {}))

    @app.exception_handler(ClientGone)
    async def client_gone(request: Request, error: ClientGone) -> Response:
        return Response()

    @app.exception_handler(Exception)
    async def internal(request: Request, error: Exception) -> Response:
        return ApiError(500, f"{type(error).__name__}; the server's log says more").response()
