"""Trajectories as traces of Playwright: `00000.zip`, `00001.zip`, …, which `playwright show-trace` opens.

A trace has an action for each call of a tool, with its arguments, the thought of its turn, what the browser said of it,
the screens before and after and the point that was clicked; and at the end the verdict. The screens stand where
Playwright has copies of the page: they are pictures, in which nothing can be chosen.

The format is that of Playwright 1.42 (version 7), because viewers read the formats of all versions before theirs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from webdojo.agent.toolcall import brief
from webdojo.browser.tools import COORDINATE_MAX, check_call
from webdojo.loops.collection.dataset import scratch
from webdojo.loops.export import check_phases, write_each
from webdojo.redact import redact
from webdojo.store.images import SUFFIXES
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.types import ImageRef, Observation, Reward, ToolCall, Trajectory, Turn

VERSION = 7
_PAGE, _FRAME = "page@1", "frame@1"
_ROOT = 2
"""The number of the root among the nodes of a copy, which count from the innermost: image, body, root."""
Json = dict[str, Any]


def export_run(store: RunStore, out: Path, phases: Sequence[str], on_trajectory: Callable[[], None]) -> Counter[str]:
    """Write the trajectories of some phases of a run, or of all, to a new folder.

    Returns how many were written, under `""`, and how many were left out, by reason. `on_trajectory` is called after
    each.

    Raises:
        StoreError: there is no such phase, or `out` is there already.
    """
    check_phases(store, phases)
    numbers = count()
    with scratch(out) as folder:
        folder.mkdir()

        def write(row: TrajectoryRow, trajectory: Trajectory) -> None:
            write_trace(trajectory, store.images.get, folder / f"{next(numbers):05d}.zip")

        return write_each(store, phases, write, on_trajectory)


def write_trace(trajectory: Trajectory, read: Callable[[ImageRef], bytes], file: Path) -> None:
    """Write a trajectory with a turn at least; `read` gives the bytes of a screenshot."""
    trace = _Trace(trajectory)
    with ZipFile(file, "w", ZIP_DEFLATED) as zipped:
        for name, events in (("trace.trace", trace.events), ("trace.network", trace.resources)):
            lines = (json.dumps(event, ensure_ascii=False) for event in redact(events, trajectory.secrets))
            zipped.writestr(name, "\n".join(lines))
        for image in trace.images:
            zipped.writestr(f"resources/{_file(image)}", read(image))


class _Trace:
    """The events of one trajectory; times are milliseconds from its start."""

    def __init__(self, trajectory: Trajectory) -> None:
        first = trajectory.turns[0].observation
        self.images: dict[ImageRef, int] = {}
        """The screenshots, each with the number of the first copy that shows it, or -1 if there is none yet."""
        self._copies = self._ids = 0
        self.events: list[Json] = [
            {
                "type": "context-options",
                "version": VERSION,
                "origin": "library",
                "browserName": "chromium",
                "platform": "linux",
                "sdkLanguage": "python",
                "wallTime": 1000 * trajectory.began,
                "monotonicTime": 0,
                "title": trajectory.task.instruction,
                "contextId": trajectory.id,
                "options": {"viewport": dict(zip(("width", "height"), first.viewport_px, strict=True))},
            }
        ]
        at_ms = 0.0
        for turn, after in trajectory.transitions():
            if turn.began and trajectory.began:
                at_ms = max(at_ms, 1000 * (turn.began - trajectory.began))
            at_ms = self._turn(turn, after, at_ms)
        if trajectory.reward is not None:
            self._verdict(trajectory.reward, at_ms, trajectory.final or trajectory.turns[-1].observation)
        self.resources = [_resource(image) for image in self.images]

    def _turn(self, turn: Turn, after: Observation | None, at_ms: float) -> float:
        """Add a turn that begins then; returns when it ends."""
        self._shown(turn.observation, at_ms)
        at_ms += 1000 * turn.seconds.get("generate", 0)
        calls = [*zip(turn.parsed.calls, turn.feedback, strict=False)]
        thought = turn.parsed.think or turn.text
        if not calls:
            self._action("no call", {"thought": thought}, (at_ms, 0), turn.observation, after, turn.parsed.error or "")
        each_ms = 1000 * turn.seconds.get("act", 0) / max(1, len(calls))
        for number, (call, said) in enumerate(calls):
            params = call.arguments if number else {"thought": thought, **call.arguments}
            seen = after if number == len(calls) - 1 else turn.observation
            error = "" if said.ok else said.text
            id = self._action(brief([call]), params, (at_ms, each_ms), turn.observation, seen, error, _point(call))
            self.events.append({"type": "log", "callId": id, "time": at_ms + each_ms, "message": said.text})
            at_ms += each_ms
        if after is not None:
            self._shown(after, at_ms)
        return at_ms

    def _verdict(self, reward: Reward, at_ms: float, seen: Observation) -> None:
        verdict = "invalid" if not reward.valid else "success" if reward.success else "failure"
        error = "" if reward.success else reward.reason or verdict
        params = {"reason": reward.reason}
        self._action(f"{verdict}, reward {reward.value:g}", params, (at_ms, 0), seen, seen, error)

    def _action(
        self,
        title: str,
        params: Json,
        time_ms: tuple[float, float],
        before: Observation,
        after: Observation | None,
        error: str,
        point: tuple[float, float] | None = None,
    ) -> str:
        """Add an action that begins then and takes so long; `point` of a click is from 0 to 1. Returns its id."""
        self._ids += 1
        id, at_ms, end_ms = f"call@{self._ids}", time_ms[0], sum(time_ms)
        event = {"type": "before", "callId": id, "startTime": at_ms, "apiName": title, "class": "Page", "method": title}
        self.events.append(event | {"params": params, "pageId": _PAGE, "beforeSnapshot": f"before@{id}"})
        self._copy(id, "before", before, at_ms)
        if point is not None:
            x, y = (each * length for each, length in zip(point, before.viewport_px, strict=True))
            self.events.append(
                {"type": "input", "callId": id, "point": {"x": x, "y": y}, "inputSnapshot": f"input@{id}"}
            )
            self._copy(id, "input", before, at_ms)
        event = {"type": "after", "callId": id, "endTime": end_ms}
        event |= {"error": {"name": "Error", "message": error}} if error else {}
        if after is not None:
            self._copy(id, "after", after, end_ms)
            event["afterSnapshot"] = f"after@{id}"
        self.events.append(event)
        return id

    def _shown(self, seen: Observation, at_ms: float) -> None:
        """A frame of the strip of pictures above the actions."""
        image = seen.screenshot
        frame = {"pageId": _PAGE, "sha1": _file(image), "width": image.width, "height": image.height}
        self.events.append({"type": "screencast-frame", **frame, "timestamp": at_ms})
        self.images.setdefault(image, -1)

    def _copy(self, id: str, phase: str, seen: Observation, at_ms: float) -> None:
        """A copy of the page at a moment of a call: its screenshot, or how many copies ago it was shown first."""
        width, height = seen.viewport_px
        image = seen.screenshot
        shown = self.images.get(image, -1)
        size = {"width": str(width), "height": str(height)}
        html: list[Any] = ["IMG", {"src": _url(image), **size, "style": "display:block"}]
        html = ["HTML", {}, ["BODY", {"style": "margin:0"}, html]]
        if shown < 0:
            self.images[image] = self._copies
        else:
            html = [[self._copies - shown, _ROOT]]
        self._copies += 1
        snapshot = {
            "callId": id,
            "snapshotName": f"{phase}@{id}",
            "pageId": _PAGE,
            "frameId": _FRAME,
            "frameUrl": seen.url,
            "doctype": "html",
            "html": html,
            "viewport": {"width": width, "height": height},
            "timestamp": at_ms,
            "collectionTime": 0,
            "resourceOverrides": [],
            "isMainFrame": True,
        }
        self.events.append({"type": "frame-snapshot", "snapshot": snapshot})


def _point(call: ToolCall) -> tuple[float, float] | None:
    """Where a call clicks, each from 0 to 1."""
    if {"x", "y"} <= call.arguments.keys() and check_call(call) is None:
        return call.arguments["x"] / COORDINATE_MAX, call.arguments["y"] / COORDINATE_MAX
    return None


def _file(image: ImageRef) -> str:
    return f"{image.sha}{SUFFIXES[image.mime]}"


def _url(image: ImageRef) -> str:
    return f"http://screenshot/{_file(image)}"


def _resource(image: ImageRef) -> Json:
    """The request of which a viewer takes a screenshot."""
    nothing: Json = {"cookies": [], "headers": [], "headersSize": -1, "bodySize": -1, "httpVersion": "HTTP/1.1"}
    request = {**nothing, "method": "GET", "url": _url(image), "queryString": []}
    content = {"size": -1, "mimeType": image.mime, "_sha1": _file(image)}
    response = {**nothing, "status": 200, "statusText": "OK", "content": content, "redirectURL": ""}
    response["headers"] = [{"name": "Content-Type", "value": image.mime}]
    snapshot = {"pageref": _PAGE, "_frameref": _FRAME, "_monotonicTime": 0, "request": request, "response": response}
    times = {
        "startedDateTime": "1970-01-01T00:00:00.000Z",
        "time": 0,
        "cache": {},
        "timings": {"send": -1, "wait": -1, "receive": -1},
    }
    return {"type": "resource-snapshot", "snapshot": snapshot | times}
