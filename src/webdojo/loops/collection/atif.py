"""Trajectories in ATIF, the Agent Trajectory Interchange Format of Harbor, and back; one document each.

    step of ATIF   what it is
    system, user   the protocol, then the task and the first screen, as the agent was shown them
    agent          a turn: its thought and calls, what the browser said of each, the next screen; its token ids and
                   their log-probabilities, where an engine has measured any

Where a first prompt shows exchanges that are no turns of the trajectory, because curation has dropped them, their
steps are marked as copied context, which is not to be trained on. What ATIF has no field for is in `extra.webdojo` of
document and steps. Invariant: `trajectory_of` gives back what `document` was given.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from webdojo.agent.harness import Codec
from webdojo.agent.toolcall import IM_END, parse
from webdojo.browser.tools import TOOLS, json_schema
from webdojo.loops.collection.dataset import scratch, screenshots
from webdojo.loops.collection.rows import SECRET
from webdojo.loops.export import CachedCodec, check_phases, codec_of, write_each
from webdojo.policy.chat.engine import conversation, text_part
from webdojo.store.files import write_atomic
from webdojo.store.images import ImageStore
from webdojo.store.run import RunStore
from webdojo.types import ImageRef, ImageSegment, Observation, Prompt, Trajectory, Turn
from webdojo.version import __version__

SCHEMA_VERSION = "ATIF-v1.7"
"""The oldest one with every field that is written, so that the most programs read it."""
SUFFIX = ".atif.json"
OURS = "webdojo"
Json = dict[str, Any]


class Writer:
    """Writes trajectories of a run to a folder: `00000.atif.json`, `00001.atif.json`, …, and their `images/`."""

    def __init__(self, store: RunStore, folder: Path) -> None:
        processor = codec_of(store)
        self._codec, self._image_id = CachedCodec(processor), processor.image_token_id
        self._store, self._folder = store, folder
        self._images = ImageStore(folder / "images")
        self._images.folder.mkdir(parents=True)
        self._agent = {
            "name": OURS,
            "version": __version__,
            "model_name": store.info.get("model") or "unknown",
            "tool_definitions": [json_schema(name) for name in TOOLS],
            "extra": {"harness": yaml.safe_load(store.recipe_yaml).get("harness")},
        }
        self._written = 0

    def write(self, trajectory: Trajectory) -> None:
        """Write one; raises EngineError where a text of its first prompt cannot be told from the protocol's markers."""
        made = document(trajectory, self._agent, self._codec, self._image_id, self._place)
        for image in screenshots(trajectory):
            if self._store.images.has(image):  # what a judge was shown may be lost
                self._place(image)
        file = self._folder / f"{self._written:05d}{SUFFIX}"
        write_atomic(file, f"{json.dumps(made, ensure_ascii=False)}\n".encode(), durable=False)
        self._written += 1

    def _place(self, image: ImageRef) -> str:
        if not self._images.has(image):
            self._images.put(self._store.images.get(image), image.width, image.height, image.mime)
        return str(self._images.path(image).relative_to(self._folder))


def export_run(store: RunStore, out: Path, phases: Sequence[str], on_trajectory: Callable[[], None]) -> Counter[str]:
    """Write the trajectories of some phases of a run, or of all, to a new folder.

    Returns how many were written, under `""`, and how many were left out, by reason. `on_trajectory` is called after
    each.

    Raises:
        StoreError: there is no such phase, or `out` is there already.
    """
    check_phases(store, phases)
    with scratch(out) as folder:
        writer = Writer(store, folder)
        return write_each(
            store,
            phases,
            lambda row, trajectory: writer.write(trajectory),
            on_trajectory,
            lambda trajectory: SECRET if trajectory.secrets else "",
        )


def document(
    trajectory: Trajectory, agent: Json, codec: Codec, image_id: int, place: Callable[[ImageRef], str]
) -> Json:
    """A trajectory with a turn at least as a document of ATIF, whose `agent` is given.

    Args:
        image_id: the token that stands in prompts for each token of an image.
        place: gives the path of an image as the document names it.
    """

    def show(image: ImageRef) -> Json:
        return {"type": "image", "source": {"media_type": image.mime, "path": place(image)}}

    turns = trajectory.turns
    steps = []
    copied = False
    for message in conversation(turns[0].prompt, codec, show):
        copied |= message["role"] == "assistant"
        steps.append({"source": message["role"].replace("assistant", "agent"), "message": message["content"]})
        if copied:
            steps[-1]["is_copied_context"] = True
    for turn, after in trajectory.transitions():
        steps.append(_step(len(steps), turn, after, image_id, show))
    reward = trajectory.reward
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": trajectory.id,
        "trajectory_id": trajectory.id,
        "agent": agent,
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": {
            "total_prompt_tokens": sum(len(turn.prompt) for turn in turns),
            "total_completion_tokens": sum(len(turn.response.ids) for turn in turns),
            "total_steps": len(steps),
            "extra": reward.model_dump(include={"value", "success", "valid"}) if reward else {},
        },
        "extra": {OURS: trajectory.model_dump(mode="json", exclude={"turns"})},
    }


def _step(place: int, turn: Turn, after: Observation | None, image_id: int, show: Callable[[ImageRef], Json]) -> Json:
    """The step of a turn, after which the browser showed `after`; `place` makes the ids of its calls unique."""
    calls = [
        {"tool_call_id": f"call_{place}_{number}", "function_name": call.name, "arguments": call.arguments}
        for number, call in enumerate(turn.parsed.calls)
    ]
    results: list[Json] = [
        {"source_call_id": call["tool_call_id"], "content": said.text, "extra": {"ok": said.ok}}
        for call, said in zip(calls, turn.feedback, strict=False)  # calls after one that ends the episode have none
    ]
    if turn.parsed.error:
        results.append({"content": turn.parsed.error})
    if after is not None:
        text = [text_part(after.text)] if after.text else []
        results.append({"content": [*text, show(after.screenshot)], "extra": {"url": after.url, "title": after.title}})
    # Readers write a thought and calls in Qwen's format, so what is all in it need not be told twice.
    apart = not turn.parsed.error and parse(turn.text) == turn.parsed
    step: Json = {
        **({"timestamp": datetime.fromtimestamp(turn.began, UTC).isoformat()} if turn.began else {}),
        "source": "agent",
        "message": "" if apart else turn.text.removesuffix(IM_END),
        **({"reasoning_content": turn.parsed.think} if apart else {}),
        "tool_calls": calls,
        "observation": {"results": results},
        "metrics": {
            "prompt_tokens": len(turn.prompt),
            "completion_tokens": len(turn.response.ids),
            "prompt_token_ids": turn.prompt.ids(image_id),
            "completion_token_ids": turn.response.ids,
            **({"logprobs": turn.response.logprobs} if any(turn.response.logprobs) else {}),
        },
    }
    rest = turn.model_dump(mode="json", exclude={"prompt": True, "response": {"ids", "logprobs"}})
    return step | {"extra": {OURS: rest | {"prompt": _outline(turn.prompt)}}}


def _outline(prompt: Prompt) -> Json:
    """A prompt without its ids: the length of each text, and the images."""
    return {
        "segments": [
            each.model_dump(mode="json") if isinstance(each, ImageSegment) else len(each.ids)
            for each in prompt.segments
        ],
        "dropped": prompt.dropped,
    }


def trajectory_of(document: Json) -> Trajectory:
    """The trajectory of a document that `document` has made.

    Raises:
        ValueError, TypeError, KeyError: it is none, or its token ids are not those that it was written with.
    """
    steps = [each for each in document["steps"] if each["source"] == "agent" and not each.get("is_copied_context")]
    if any(OURS not in (each.get("extra") or {}) for each in (document, *steps)):
        raise ValueError(f"webdojo has not written it, or not all of it: extra.{OURS} is missing")
    return Trajectory.model_validate({**document["extra"][OURS], "turns": list(map(_turn, steps))})


def _turn(step: Json) -> Json:
    kept, metrics = step["extra"][OURS], step["metrics"]
    ids = metrics["completion_token_ids"]
    logprobs = metrics.get("logprobs") or [0.0] * len(ids)
    if not len(ids) == len(logprobs) == len(kept["response"]["versions"]):
        raise ValueError(f"step {step['step_id']}: its completion_token_ids and logprobs are not as long as they were")
    return {
        **kept,
        "prompt": {**kept["prompt"], "segments": list(_segments(step))},
        "response": {**kept["response"], "ids": ids, "logprobs": logprobs},
    }


def _segments(step: Json) -> Iterator[Json]:
    ids, place = step["metrics"]["prompt_token_ids"], 0
    for each in step["extra"][OURS]["prompt"]["segments"]:
        start, place = place, place + (each if isinstance(each, int) else each["tokens"])
        yield {"ids": ids[start:place]} if isinstance(each, int) else each
    if place != len(ids):
        raise ValueError(f"step {step['step_id']}: prompt_token_ids has {len(ids)} ids, and was written with {place}")
