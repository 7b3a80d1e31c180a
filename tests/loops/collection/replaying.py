"""A model behind an endpoint that says what the oracle said to the same messages, and lies about some tasks."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.policy.chat.endpoint import Answering, completion, say
from webdojo.agent.toolcall import IM_END, render
from webdojo.loops.collection.dataset import open_dataset
from webdojo.policy.chat.engine import messages_of
from webdojo.policy.model.processor import Processor
from webdojo.types import ToolCall

LIE = render("I believe that I am done.", [ToolCall(name="done", arguments={"answer": "42"})])


def answering(oracle: Path, codec: Processor, lies_one_in: int = 0) -> Answering:
    """Answers as the oracle of a data set; of `lies_one_in` seeds one gets a lie at once."""
    said: dict[str, str] = {}
    with open_dataset(oracle) as dataset:
        for trajectory in dataset.trajectories():
            for turn in trajectory.turns:
                asked = json.dumps(messages_of(turn.prompt, codec, dataset.images))
                said[asked] = turn.text.removesuffix(IM_END)

    def answer(http: BaseHTTPRequestHandler) -> None:
        body = http.body  # type: ignore[attr-defined]
        lies = lies_one_in and body["seed"] % lies_one_in == 0
        say(completion(LIE if lies else said.get(json.dumps(body["messages"]), LIE)))(http)

    return answer


def stall(http: BaseHTTPRequestHandler) -> None:
    """Say nothing for longer than anyone waits."""
    time.sleep(3)
    http.close_connection = True
