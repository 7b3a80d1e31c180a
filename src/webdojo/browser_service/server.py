"""The browser service as an ASGI app, with one route for each operation and one shape for all errors.

A request whose client disconnects is cancelled, and a session that was opened for a client that has disconnected is
closed, so that no disconnected client keeps a slot or a place.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from webdojo.browser.interface import ActResult
from webdojo.browser.page.snapshot import Snapshot
from webdojo.browser_service.access import TOKEN_VARIABLE, Access, problem_response
from webdojo.browser_service.disconnect import ClientGone, while_connected
from webdojo.browser_service.service import NoPlace, SessionService, UnknownSession
from webdojo.browser_service.wire import (
    OBSERVATION_MIME,
    ActRequest,
    ErrorKind,
    Health,
    Opened,
    OpenRequest,
    ProblemBody,
    pack_observation,
    pack_result,
    pack_snapshot,
)
from webdojo.errors import BrowserError, StartError
from webdojo.types import View, ViewKind
from webdojo.version import __version__

_ABOUT = (
    "Isolated sessions in real Chromium. `POST /sessions` opens one; then observe and act in turns; `DELETE` ends it. "
    "`webdojo.browser_service.client.RemotePool` speaks this protocol."
)
_OBSERVATION = (
    "A line of JSON (`webdojo.types.Observation`), then the bytes of the encoded screenshot. "
    "The bytes are left out if the screenshot is the one that the query names in `have`."
)
_RETRY_AFTER_S = 1


def create_app(service: SessionService, token: str) -> FastAPI:
    """Return the app that serves the sessions of a service.

    Args:
        token: see `access.Access`.
    """
    app = FastAPI(
        title="webdojo browser service",
        description=_ABOUT,
        version=__version__,
        redoc_url=None,
        dependencies=[Depends(HTTPBearer(auto_error=False, description="What `Access` checks."))],
    )

    def refuse(kind: ErrorKind, message: str, headers: dict[str, str]) -> Response:
        service.metrics.refused.labels(kind).inc()
        return problem_response(kind, message, headers)

    app.add_middleware(Access, token=token, refuse=refuse, variable=TOKEN_VARIABLE)

    @app.post("/sessions", status_code=201, responses=_problems(424, 429, 502, 503))
    async def open_session(body: OpenRequest, request: Request) -> Opened:
        """Open a session at a URL, ready to be observed."""
        opening = service.open(body)
        id, session = await while_connected(request, opening)
        if await request.is_disconnected():
            await service.close(id)
        return Opened(id=id, viewport_px=session.viewport_px)

    @app.get(
        "/sessions/{session_id}/observation",
        response_class=Response,
        responses=_problems(404, 502)
        | {200: {"description": _OBSERVATION, "content": {OBSERVATION_MIME: {"schema": _BINARY}}}},
    )
    async def observe(
        session_id: str,
        request: Request,
        have: str = Query(default="", description="SHA-256, in hex, of the screenshot that the client has."),
        view: Annotated[ViewKind | None, Query(description="Numbers the controls, for calls with `element`.")] = None,
        max_tokens: int = Query(default=4096, ge=16, le=1_000_000, description="Of the view's text, about."),
        whole_page: bool = Query(default=False, description="The view's text has what is out of view, too."),
    ) -> Response:
        """See the active tab as it is now."""
        asked = View(kind=view, max_tokens=max_tokens, whole_page=whole_page) if view is not None else None
        observation, image = await while_connected(request, service.observe(session_id, have, asked))
        return Response(pack_observation(observation, image), media_type=OBSERVATION_MIME)

    @app.post("/sessions/{session_id}/act", response_model=ActResult, responses=_problems(404, 502))
    async def act(session_id: str, body: ActRequest, request: Request) -> Response:
        """Execute tool calls in order; `done`, or a call that times out, ends the turn."""
        result = await while_connected(request, service.act(session_id, body.calls))
        return Response(pack_result(result), media_type="application/json")

    @app.get("/sessions/{session_id}/snapshot", response_model=Snapshot, responses=_problems(404, 502))
    async def snapshot(session_id: str, request: Request) -> Response:
        """Read the active tab element by element, for text observations."""
        seen = await while_connected(request, service.snapshot(session_id))
        return Response(pack_snapshot(seen), media_type="application/json")

    @app.delete("/sessions/{session_id}", status_code=204, responses=_problems(404))
    async def close_session(session_id: str) -> None:
        """End a session and forget its cookies and storage."""
        await service.close(session_id)

    @app.get("/health", response_model=Health, responses={503: {"model": Health, "description": "The server drains."}})
    async def health() -> JSONResponse:
        """Whether the server takes new sessions, and how many it has; needs no token."""
        state = service.health
        return JSONResponse(state.model_dump(), 503 if state.draining else 200)

    @app.get("/metrics", response_class=Response, responses=_problems() | {200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Metrics for Prometheus."""
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    _handle_errors(app, service)
    return app


_BINARY = {"type": "string", "format": "binary"}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of the errors of a route, including those that every route may give."""
    return {
        status: {"model": ProblemBody, "description": HTTPStatus(status).phrase}
        for status in sorted({401, 403, 422, *statuses})
    }


def _handle_errors(app: FastAPI, service: SessionService) -> None:
    @app.exception_handler(NoPlace)
    async def no_place(request: Request, error: NoPlace) -> Response:
        service.metrics.refused.labels(error.kind).inc()
        return problem_response(error.kind, str(error), {"Retry-After": str(_RETRY_AFTER_S)})

    @app.exception_handler(UnknownSession)
    async def unknown_session(request: Request, error: UnknownSession) -> Response:
        return problem_response(ErrorKind.UNKNOWN_SESSION, str(error))

    @app.exception_handler(BrowserError)
    async def browser_error(request: Request, error: BrowserError) -> Response:
        kind = ErrorKind.START_ERROR if isinstance(error, StartError) else ErrorKind.BROWSER_ERROR
        return problem_response(kind, str(error), cause=error)

    @app.exception_handler(RequestValidationError)
    async def bad_request(request: Request, error: RequestValidationError) -> Response:
        faults = (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors())
        return problem_response(ErrorKind.BAD_REQUEST, "; ".join(faults))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        kind = ErrorKind.NOT_FOUND if error.status_code == 404 else ErrorKind.BAD_REQUEST
        answer = problem_response(kind, f"{request.method} {request.url.path}: {error.detail}")
        if (
            error.status_code != 400
        ):  # FastAPI gives 400 for a body that is not JSON; here it is a bad request like others
            answer.status_code = error.status_code
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(ClientGone)
    async def client_gone(request: Request, error: ClientGone) -> Response:
        return Response()

    @app.exception_handler(Exception)
    async def internal(request: Request, error: Exception) -> Response:
        return problem_response(ErrorKind.INTERNAL, f"{type(error).__name__}; the server's log says more")
