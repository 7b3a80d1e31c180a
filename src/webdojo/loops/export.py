"""Trajectories for other trainers: JSON lines with messages in OpenAI's form, and rewards.

A line is one trajectory. Its messages are what the agent was shown first (protocol, task, first screen), and then its
answers and what it was shown after each, with all screenshots in their places, as files that are named relative to the
folder of the lines. What it could still see at a later turn may have been less. Invariant: the lines appear under their
name when all are there, and what does not come so far leaves nothing behind.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from webdojo.agent.harness import Codec
from webdojo.agent.toolcall import IM_END
from webdojo.errors import EngineError, StoreError
from webdojo.policy.chat.client import Message
from webdojo.policy.chat.engine import conversation, text_part
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.redact import redact
from webdojo.store.files import replacing, write_atomic, writing
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.types import ImageRef, Prompt, TextSegment, Trajectory, Turn

NO_TURN = "without a turn"
LOST = "with lost screenshots"
UNREADABLE = "with an answer that writes the chat's own markers"


def export(store: RunStore, out: Path, phases: Sequence[str], on_trajectory: Callable[[], None]) -> Counter[str]:
    """Write the trajectories of some phases, or of all, to `out`, and their screenshots to `images/` beside it.

    Returns how many were written, under `""`, and how many were left out, by reason. `on_trajectory` is called after
    each.
    """
    check_phases(store, phases)
    codec = CachedCodec(codec_of(store))
    added: list[Path] = []

    def place(image: ImageRef) -> str:
        """The name of the file that an image is in, from the folder of the lines; it is written if it is not there."""
        name = Path("images") / store.images.path(image).relative_to(store.images.folder)
        target = out.parent / name
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            added.append(target)
            write_atomic(target, store.images.get(image), durable=False)
        return str(name)

    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with writing(out), replacing(out) as file:

            def write(row: TrajectoryRow, trajectory: Trajectory) -> None:
                line = redact(_line(row, trajectory, codec, place), trajectory.secrets)
                file.write(f"{json.dumps(line, ensure_ascii=False)}\n".encode())

            return write_each(store, phases, write, on_trajectory)
    except BaseException:
        for path in added:
            path.unlink(missing_ok=True)
        raise


def write_each(
    store: RunStore,
    phases: Sequence[str],
    write: Callable[[TrajectoryRow, Trajectory], None],
    on_trajectory: Callable[[], None],
    refuse: Callable[[Trajectory], str] = lambda trajectory: "",
) -> Counter[str]:
    """Write each trajectory of some phases, or of all, that has turns and all its screenshots, one at a time.

    Returns how many were written, under `""`, and how many were left out, by reason. `refuse` gives a further reason
    or none; one at which `write` raises EngineError cannot be read. `on_trajectory` is called after each.
    """
    counts: Counter[str] = Counter()
    for row, trajectory in store.stream(phases):
        reason = refuse(trajectory) or ("" if trajectory.turns else NO_TURN)
        if not reason and not store.has_screenshots(trajectory):
            reason = LOST
        if not reason:
            try:
                write(row, trajectory)
            except EngineError:
                reason = UNREADABLE
        counts[reason] += 1
        on_trajectory()
    return counts


def check_phases(store: RunStore, phases: Sequence[str]) -> None:
    """Raise a StoreError where a run has no trajectory of one of these phases."""
    there = store.count()
    if unknown := [phase for phase in phases if phase not in there]:
        raise StoreError(f"no phase {unknown[0]!r} in {store.path} (there: {', '.join(there) or 'none yet'})")


def _line(row: TrajectoryRow, trajectory: Trajectory, codec: Codec, place: Callable[[ImageRef], str]) -> dict[str, Any]:
    """One trajectory as a JSON object; an EngineError where a text of it cannot be told from the protocol's markers."""

    def show(image: ImageRef) -> Message:
        return {"type": "image_url", "image_url": {"url": place(image)}}

    reward = trajectory.reward
    messages: list[Message] = []
    for turn in trajectory.turns:
        shown = conversation(answered(turn, codec), codec, show)
        messages += shown[-2:] if messages else shown
    for message in messages:
        if isinstance(message["content"], str):
            message["content"] = [text_part(message["content"])]
    parts = [part for message in messages for part in message["content"]]
    return {
        "id": trajectory.id,
        "group": trajectory.group,
        "phase": row.phase,
        "iteration": row.iteration,
        "versions": list(trajectory.versions),
        "task": trajectory.task.model_dump(include={"id", "instruction", "start_url", "website", "kind", "difficulty"}),
        "reward": row.reward,
        "success": row.success,
        "valid": row.valid,
        "reason": reward.reason if reward is not None else "",
        "judgements": [{"step": each.step, "answer": each.answer} for each in reward.judgements] if reward else [],
        "termination": row.termination,
        "answer": trajectory.answer,
        "messages": messages,
        "images": [part["image_url"]["url"] for part in parts if part["type"] == "image_url"],
    }


def answered(turn: Turn, codec: Codec) -> Prompt:
    """A turn's prompt with the answer to it, and then once more the opening of one."""
    end = tuple(codec.encode(IM_END))
    ids = tuple(turn.response.ids)
    ids = ids if ids[-len(end) :] == end else ids + end
    opening = TextSegment(ids=tuple(codec.encode(f"\n{codec.chat.assistant}")))
    return Prompt(segments=(*turn.prompt.segments, TextSegment(ids=ids), opening))


def codec_of(store: RunStore) -> Processor:
    """The processor of the model that the run trains, from a checkpoint if there is one, since that is at hand."""
    for checkpoint in store.checkpoints.all():
        if (checkpoint.path / "tokenizer.json").is_file():
            return load_processor(checkpoint.path)
    recipe = yaml.safe_load(store.recipe_yaml)
    info = store.info
    return load_processor(model_folder(info.get("processor") or info.get("model") or recipe["model"]["path"]))


class CachedCodec:
    """A codec that remembers: the prompts of an episode repeat one another."""

    def __init__(self, codec: Codec) -> None:
        self.chat, self.encode, self.image_tokens = codec.chat, codec.encode, codec.image_tokens
        self._decode = lru_cache(4096)(lambda ids: codec.decode([*ids]))

    def decode(self, ids: list[int]) -> str:
        return self._decode(tuple(ids))
