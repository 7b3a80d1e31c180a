"""The application of the viewer: addresses, errors, live events.

/                                         runs
/runs/RUN                                 dashboard          …/dashboard  …/events    its figures, live
/runs/RUN/trajectories?FILTERS            list               …/rows?FILTERS&offset=   a part of it
/runs/RUN/trajectory?id=ID&FILTERS#STEP   one trajectory     …/turn?id=ID&turn=N      tokens and prompt
/compare?run=RUN&group=GROUP              attempts side by side; also `id`, several times, or `task` and runs
/runs/RUN/export?id=ID                    trajectories as one HTML file
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from webdojo.errors import ConfigError, WebdojoError
from webdojo.loops.results.stages import stages
from webdojo.loops.run_folder import EVALUATION, RL
from webdojo.loops.runs import state_of
from webdojo.view import film
from webdojo.view.server import pages
from webdojo.view.server.access import Access
from webdojo.view.server.dashboard import charts, failures, stage_rows
from webdojo.view.server.pictures import picture
from webdojo.view.server.query import parse_query
from webdojo.view.server.runs import MOST_ROWS, NotFound, Runs, ViewedRun
from webdojo.view.server.tokens import prompt_parts, token_list

POLL_S = 2.0
"""How often a run is asked whether it has changed, which costs it nothing."""
HEARTBEAT_S = 16.0
STOP_S = 0.2
"""How soon a stream of events ends when the server does."""
MOST_EXPORTED = 100
KEEP = {"cache-control": "private, max-age=31536000, immutable"}

OfRun = Callable[[ViewedRun, Request], Response]


class Static(StaticFiles):
    """Files that browsers may keep."""

    def file_response(self, *given: Any, **named: Any) -> Response:
        answer = super().file_response(*given, **named)
        answer.headers.update(KEEP)
        return answer


def create_app(runs: Runs, token: str = "") -> Starlette:
    """The application for some runs; with a token, only those who have it may look."""

    static = pages.static_address()

    def style(request: Request) -> Response:
        found = files("webdojo.view").joinpath("templates", "report.css").read_bytes()
        return Response(found, media_type="text/css", headers=KEEP)

    def of_run(path: str, answer: OfRun) -> Route:
        return Route(f"/runs/{{run}}{path}", lambda request: answer(runs.run(request.path_params["run"]), request))

    def compare(request: Request) -> Response:
        given = request.query_params
        names = given.getlist("run")
        if "task" in given:
            found = pages.task_page(map(runs.run, names or runs.paths()), given["task"])
        elif len(names) != 1:
            raise ConfigError("name one run, and a group or trajectories of it: ?run=…&group=…, ?run=…&id=…&id=…")
        elif "group" in given:
            found = pages.group_page(runs.run(names[0]), given["group"])
        else:
            found = pages.chosen_page(runs.run(names[0]), given.getlist("id"))
        return HTMLResponse(found)

    async def note(request: Request) -> Response:
        body = await request.body()

        def write() -> Response:
            run = runs.run(request.path_params["run"])
            id = request.query_params.get("id", "")
            run.trajectory(id)
            try:
                given = json.loads(body)
            except ValueError:
                raise ConfigError("a note is a JSON object") from None
            return JSONResponse(run.notes.write(id, given).model_dump())

        return await asyncio.to_thread(write)

    async def events(request: Request) -> Response:
        run = await asyncio.to_thread(runs.run, request.path_params["run"])
        return StreamingResponse(
            _events(run, request, runs.stopping), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    return Starlette(
        routes=[
            Route("/", lambda request: HTMLResponse(pages.runs_page(runs))),
            Route("/compare", compare),
            of_run("", lambda run, request: HTMLResponse(pages.run_page(run))),
            of_run("/dashboard", lambda run, request: JSONResponse(dashboard(run))),
            Route("/runs/{run}/events", events),
            of_run("/trajectories", _trajectories),
            of_run("/rows", _rows),
            of_run("/trajectory", _trajectory),
            of_run("/turn", _turn),
            of_run("/record", _record),
            of_run("/export", _export),
            of_run("/images/{name}", _image),
            Route("/runs/{run}/note", note, methods=["PUT"]),
            Route(f"{static}/report.css", style),
            Mount(static, Static(packages=[("webdojo.view.server", "static")])),
        ],
        middleware=[Middleware(Access, token=token)],
        exception_handlers={WebdojoError: _refused, HTTPException: _refused},
    )


def dashboard(run: ViewedRun) -> dict[str, Any]:
    """What the dashboard draws, as a JSON object."""
    run.index.refresh()
    metrics = {phase: run.store.metrics(phase) for phase in (RL, EVALUATION, "sft")}
    return {
        "state": state_of(run.store),
        "episodes": len(run.index),
        "iteration": int(metrics[RL][-1]["step"]) if metrics[RL] else 0,
        "stages": stage_rows(stages(run.store, run.index.rows)),
        "charts": charts(metrics),
        "failures": failures(run.index.rows),
    }


def _trajectories(run: ViewedRun, request: Request) -> Response:
    return HTMLResponse(pages.trajectories_page(run, parse_query(request.query_params.multi_items())))


def _rows(run: ViewedRun, request: Request) -> Response:
    query = parse_query(request.query_params.multi_items())
    return JSONResponse(run.listed(query, _number(request, "offset", 0), _number(request, "limit", MOST_ROWS)))


def _trajectory(run: ViewedRun, request: Request) -> Response:
    given = request.query_params.multi_items()
    return HTMLResponse(pages.trajectory_page(run, request.query_params.get("id", ""), parse_query(given), given))


def _turn(run: ViewedRun, request: Request) -> Response:
    """The tokens of a response, or with `prompt=1` the prompt that it answers."""
    trajectory = run.trajectory(request.query_params.get("id", ""))
    turns = trajectory.turns
    number = _number(request, "turn", 0)
    if number >= len(turns):
        raise NotFound(f"this trajectory has {len(turns)} turns")
    tokenizer = run.tokenizer
    if request.query_params.get("prompt") != "1":
        return JSONResponse(token_list(run.store.path, trajectory.id, number, turns[number], tokenizer))
    parts = prompt_parts(turns[number], tokenizer)
    for part, image in zip((each for each in parts if "image" in each), turns[number].prompt.images, strict=True):
        part["image"] = pages.image_address(run, image)
    return JSONResponse(parts)


def _record(run: ViewedRun, request: Request) -> Response:
    return Response(
        run.trajectory(request.query_params.get("id", "")).model_dump_json(indent=1), media_type="application/json"
    )


def _export(run: ViewedRun, request: Request) -> Response:
    """Trajectories as one HTML file: those of `id`, or the first that the filters find."""
    ids = request.query_params.getlist("id")
    if not ids:
        chosen = run.select(parse_query(request.query_params.multi_items()))
        ids = [row.id for _, row in chosen.part(0, MOST_EXPORTED)]
    found = [each for each in map(run.trajectory, ids[:MOST_EXPORTED]) if run.store.has_screenshots(each)]
    name = "trajectory.html" if len(found) == 1 else "trajectories.html"
    return HTMLResponse(
        film.trajectories_page(found, run.store.images),
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


def _image(run: ViewedRun, request: Request) -> Response:
    name = request.path_params["name"]
    found = picture(run.store.images.folder, name, small=request.query_params.get("small") == "1")
    if found is None:
        raise HTTPException(404, "there is no such screenshot, or it is larger than any screen")
    return Response(found[0], media_type=found[1], headers=KEEP)


async def _events(run: ViewedRun, request: Request, stopping: threading.Event) -> AsyncIterator[str]:
    """An event whenever the run has changed, and a comment now and then to notice a reader that is gone."""
    before: object = None
    told = asked = -math.inf
    while not (stopping.is_set() or await request.is_disconnected()):
        now = time.monotonic()
        if now - asked >= POLL_S:
            revision, asked = await asyncio.to_thread(run.revision), now
            if revision != before:
                yield f"data: {json.dumps(revision)}\n\n"
                before, told = revision, now
            elif now - told >= HEARTBEAT_S:
                yield ":\n\n"
                told = now
        await asyncio.sleep(STOP_S)


def _number(request: Request, name: str, default: int) -> int:
    value = request.query_params.get(name, "")
    if value and not value.isdecimal():
        raise ConfigError(f"{name}={value!r} is no number")
    return int(value) if value else default


def _refused(request: Request, error: Exception) -> Response:
    status, message = 400, str(error)
    if isinstance(error, HTTPException):
        status, message = error.status_code, error.detail
    elif isinstance(error, NotFound):
        status = 404
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(pages.render("error", status=status, message=message), status)
    return JSONResponse({"error": message}, status)
