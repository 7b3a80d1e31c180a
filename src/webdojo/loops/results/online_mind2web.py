"""A run's evaluation as Online-Mind2Web's leaderboard and its WebJudge take it: the schema `online-mind2web-v2`.

    TASK_ID/result.json             the task, the final answer, and a step for each action
    TASK_ID/trajectory/0000.jpg     the screen before each action, then the one at the end

Each call of a tool that the browser was given is one step; several of one turn share its screenshot. What the agent
said stands in `thought` and in the final answer, never among the actions, which WebJudge takes for facts; it leaves out
the last step, `TASK_COMPLETE`, which every episode has. The schema is in the repository OSU-NLP-Group/Online-Mind2Web,
`data/schema_v2`. Invariant: the folder appears under its name when all is there.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from webdojo.browser.tools import COORDINATE_MAX, check_call
from webdojo.errors import StoreError
from webdojo.evaluation.metrics import run_order
from webdojo.loops.results.counted import counted
from webdojo.redact import redact
from webdojo.store.files import writing
from webdojo.store.run import RunStore
from webdojo.tasks.sources.online_mind2web import PREFIX
from webdojo.types import ImageRef, Observation, Task, ToolCall, Trajectory

SCHEMA = "online-mind2web-v2"
NO_SCREEN = "that never saw a screen"
LOST = "with lost screenshots"
_ID = re.compile(r"[A-Za-z0-9_\-]+")
_EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}


class Action(NamedTuple):
    """A call in the benchmark's words: `CLICK coords(10, 20) -> click`, or `page -> NAVIGATE -> open an address`."""

    verb: str
    target: str
    about: str
    url: str = ""
    """Where a NAVIGATE leads; empty where it is told by what the page shows next."""

    def text(self, status: str) -> str:
        said = " ".join(self.about.split())
        if self.verb in ("NAVIGATE", "GO_BACK"):
            return f"{self.target} -> {self.verb} -> {said} | {status}"
        return f"{self.verb} {self.target} -> {said} | {status}"


def export(store: RunStore, out: Path, on_trajectory: Callable[[], None]) -> Counter[str]:
    """Write the evaluation of a run to a new folder: a folder for each task, in one for each run if there are several.

    Returns how many episodes were written, under `""`, and how many were left out, by reason. `on_trajectory` is called
    after each.

    Raises:
        StoreError: there is no evaluation, the folder is there already, or the tasks are not those of Online-Mind2Web.
    """
    if out.exists():
        raise StoreError(f"{out} is there already: name a new folder")
    rows = counted(store)
    tasks = defaultdict(list)
    for row in rows:
        tasks[row.task_id].append(row.id)
    several = max(map(len, tasks.values())) > 1
    counts: Counter[str] = Counter()
    hidden = out.with_name(f".{out.name}.tmp")
    try:
        with writing(hidden):
            shutil.rmtree(hidden, ignore_errors=True)
            hidden.mkdir(parents=True)
            for ids in tasks.values():
                episodes = sorted(map(store.trajectory, ids), key=run_order)
                for number, episode in enumerate(episodes, 1):
                    folder = hidden / f"run-{number}" if several else hidden
                    counts[_write(redact(episode, episode.secrets), store, folder)] += 1
                    on_trajectory()
            hidden.rename(out)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return counts


def _write(episode: Trajectory, store: RunStore, folder: Path) -> str:
    """Write an episode; why it is left out where it is, else an empty text."""
    name, reference_length = _known(episode.task)
    if not store.has_screenshots(episode):
        return LOST
    steps = list(_steps(episode))
    if not steps:
        return NO_SCREEN
    trajectory = folder / name / "trajectory"
    trajectory.mkdir(parents=True)
    history = []
    for number, (image, step) in enumerate(steps):
        file = f"{number:04d}.{_EXTENSIONS[image.mime]}"
        (trajectory / file).write_bytes(store.images.get(image))
        history.append({"step": number, "screenshot": file, **step})
    result = {
        "schema_version": SCHEMA,
        "task": episode.task.instruction,
        "task_id": name,
        "agent_final_answer": _answer(episode),
        "reference_length": reference_length,
        "action_history": history,
    }
    (folder / name / "result.json").write_text(f"{json.dumps(result, indent=2, ensure_ascii=False)}\n")
    return ""


def _known(task: Task) -> tuple[str, int]:
    """The id of the task in the benchmark, and the length of its human reference."""
    name, length = task.id.removeprefix(PREFIX), task.metadata.get("reference_length")
    if not _ID.fullmatch(name) or not isinstance(length, int) or length < 1:
        raise StoreError(
            f"task {task.id!r} is not one of Online-Mind2Web as its file has them: measure by the recipe "
            "online_mind2web, without tasks.shift_dates"
        )
    return name, length


def _answer(episode: Trajectory) -> str | None:
    return None if episode.answer is None else " ".join(episode.answer.split())


def _steps(episode: Trajectory) -> Iterator[tuple[ImageRef, dict[str, Any]]]:
    """Each step with the screen before it."""
    seen: list[Observation] = [turn.observation for turn in episode.turns]
    after = [*seen[1:], *([episode.final] if episode.final is not None else seen[-1:])]
    thought: str | None = None
    for turn, then in zip(episode.turns, after, strict=True):
        thought = turn.parsed.think.strip() or None
        shown = turn.observation
        for call, feedback in zip(turn.parsed.calls, turn.feedback, strict=False):
            if call.name == "done" or check_call(call) is not None:
                continue
            action, status = action_of(call, shown.viewport_px), "SUCCESS" if feedback.ok else "FAILED"
            url = (action.url or then.url) if action.verb == "NAVIGATE" else shown.url
            yield shown.screenshot, _step(url, action.text(status), status, thought)
            thought = None  # it is that of the turn
    if last := ([episode.final] if episode.final is not None else seen[-1:]):
        text = f"TASK_COMPLETE -> ANSWER: {_answer(episode) or ''}".strip()
        yield last[0].screenshot, _step(last[0].url, text, None, thought)


def _step(url: str, action: str, status: str | None, thought: str | None) -> dict[str, Any]:
    return {"url": url, "action": action, "action_status": status, "thought": thought}


def action_of(call: ToolCall, viewport_px: tuple[int, int]) -> Action:
    """A call as the benchmark's action dictionary has it; points become pixels of the screenshot."""
    given = call.arguments
    where = _target(given, viewport_px)
    match call.name:
        case "click":
            button, kind = given.get("button", "left"), given.get("click_type", "single")
            how = " ".join(word for word in (kind, button) if word not in ("single", "left"))
            return Action("CLICK", where, f"{how} click".strip())
        case "hover":
            return Action("HOVER", where, "move the pointer there")
        case "drag":
            start, end = (_pixels(given[f"x{n}"], given[f"y{n}"], viewport_px) for n in (1, 2))
            return Action("CLICK", start, f"press, drag to {end} and release")
        case "write":
            return Action("TYPE", ":focus", f"clear the field and type {given['text']!r}")
        case "press_keys":
            return Action("PRESS_KEY", "page", f"press {', '.join(given['keys'])}")
        case "scroll":
            return Action("SCROLL", where, f"scroll {given['direction']} by {given['amount']} of the viewport")
        case "goto_url":
            return Action("NAVIGATE", "page", "open an address", given["url"])
        case "go_back":
            return Action("GO_BACK", "page", "back to the page before")
        case "wait":
            return Action("WAIT", "page", f"wait {given['seconds']} s")
        case "switch_tab":
            return Action("NAVIGATE", "page", f"switch to tab {given['index']}")
        case other:  # new_tab and close_tab
            return Action("NAVIGATE", "page", other.replace("_", " "))


def _target(given: Mapping[str, Any], viewport_px: tuple[int, int]) -> str:
    if "element" in given:
        return f"element({given['element']})"
    return _pixels(given["x"], given["y"], viewport_px) if {"x", "y"} <= given.keys() else "page"


def _pixels(x: int, y: int, viewport_px: Sequence[int]) -> str:
    across, down = (round(at / COORDINATE_MAX * size) for at, size in zip((x, y), viewport_px, strict=True))
    return f"coords({across}, {down})"
