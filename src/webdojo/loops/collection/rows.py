"""Trajectories as rows for other trainers, and back: a row is a step, with all that the agent saw then.

Its messages are the managed context of that step, so a trainer that learns the last one alone does as `trainer/sft.py`
(OpenWebRL §4.2). Beside them stand the records that they were made of, as JSON texts. Invariant: rows that come back in
any order, and with some of them left out, give the same trajectories, with these steps.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from webdojo.agent.harness import Codec
from webdojo.errors import EngineError
from webdojo.loops.collection.dataset import screenshots
from webdojo.loops.export import NO_TURN, UNREADABLE, answered
from webdojo.policy.chat.engine import conversation, text_part
from webdojo.types import ImageRef, Trajectory, Turn

SECRET = "with a secret, which its tokens would tell"
IMAGE_TAG = "<image>"
"""What stands for an image in the text of LLaMA-Factory's messages."""

Message = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One step of a trajectory."""

    episode: str
    """The trajectory without its turns, as JSON."""
    step: int
    """The place of the turn, from 0."""
    turn: str
    """The turn as JSON."""
    prompt: list[Message] = field(default_factory=list)
    """What the agent saw, in OpenAI's roles; `content` is a list of texts and images."""
    answer: str = ""
    """What it said, as text; a thought that the prompt has opened stands in it."""
    images: list[ImageRef] = field(default_factory=list)
    """Those of the prompt, in their order."""
    others: list[ImageRef] = field(default_factory=list)
    """Others that its records refer to: those of the final screen and of the judge are in every row, so that it does
    not matter which rows are left out."""


def rows_of(trajectory: Trajectory, codec: Codec) -> tuple[list[Row], str]:
    """The rows of a trajectory; where it has none, the reason why."""
    if trajectory.secrets:
        return [], SECRET
    if not trajectory.turns:
        return [], NO_TURN
    episode = trajectory.model_copy(update={"turns": []}).model_dump_json()
    try:
        return [_row(trajectory, step, turn, episode, codec) for step, turn in enumerate(trajectory.turns)], ""
    except EngineError:
        return [], UNREADABLE


def _row(trajectory: Trajectory, step: int, turn: Turn, episode: str, codec: Codec) -> Row:
    *prompt, said = conversation(answered(turn, codec), codec, lambda image: {"type": "image"})
    for message in prompt:
        if isinstance(message["content"], str):
            message["content"] = [text_part(message["content"])]
    images = turn.prompt.images
    others = [each for each in screenshots(trajectory.model_copy(update={"turns": [turn]})) if each not in images]
    return Row(episode, step, turn.model_dump_json(), prompt, str(said["content"]), images, others)


def tagged(message: Message) -> Message:
    """A message as LLaMA-Factory reads it: a text, in which a tag stands for each image, and for nothing else."""
    texts = [
        IMAGE_TAG if part["type"] == "image" else part["text"].replace(IMAGE_TAG, "< image>")
        for part in message["content"]
    ]
    return {"role": message["role"], "content": "".join(texts)}


def trajectories_of(rows: Iterable[Row]) -> Iterator[tuple[Trajectory, list[int]]]:
    """The trajectories of rows, with the places of the steps that are there.

    Rows of one trajectory that do not stand together give several, each with a part of the steps (`joined`).
    """
    steps: dict[int, Turn] = {}
    episode = ""
    for row in rows:
        if steps and row.episode != episode:
            yield _whole(episode, steps), sorted(steps)
            steps = {}
        episode = row.episode
        steps[row.step] = Turn.model_validate_json(row.turn)
    if steps:
        yield _whole(episode, steps), sorted(steps)


def _whole(episode: str, steps: dict[int, Turn]) -> Trajectory:
    trajectory = Trajectory.model_validate_json(episode)
    trajectory.turns = [steps[step] for step in sorted(steps)]
    return trajectory


def joined(first: Trajectory, steps: list[int], then: Trajectory, more: list[int]) -> tuple[Trajectory, list[int]]:
    """One trajectory of two parts of it, and the places of its steps."""
    turns = dict(zip(steps, first.turns, strict=True)) | dict(zip(more, then.turns, strict=True))
    return first.model_copy(update={"turns": [turns[step] for step in sorted(turns)]}), sorted(turns)


def about(row: Row) -> dict[str, Any]:
    """The columns by which people choose rows."""
    episode = json.loads(row.episode)
    task, reward = episode["task"], episode["reward"] or {}
    return {
        "id": episode["id"],
        "step": row.step,
        "task_id": task["id"],
        "instruction": task["instruction"],
        "website": task["website"],
        "difficulty": task["difficulty"],
        "success": bool(reward.get("success", False)),
    }
