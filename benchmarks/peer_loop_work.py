"""The work that both sides of `peer_loop.py` do: tasks, and what the policy says of each, turn by turn.

The model computes and samples as it would, and a script says what it has sampled: the oracle's calls, of which every
second member of a group leaves the last but one out. So both sides do the same episodes, whatever the model has
learned.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webdojo.types import ToolCall

TOKENS = 48
"""Sampled a turn, on both sides."""
NOTHING = ToolCall(name="scroll", arguments={"direction": "up", "amount": 0.5})
"""What is called instead."""
TASK = re.compile(r"^[Tt]ask:? (.*)$", re.MULTILINE)
"""How a prompt names the task, on both sides."""


@dataclass(frozen=True)
class Script:
    """What is said of a task."""

    task: str
    """Its id."""
    instruction: str
    turns: Sequence[Sequence[ToolCall]]


class Scripts:
    """The scripts of all tasks, by their instructions."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self.all = scripts
        self._by_instruction = {script.instruction: script for script in scripts}
        self._asked: Counter[str] = Counter()
        """How often the last turn but one was asked for."""

    def say(self, prompt: str) -> Sequence[ToolCall]:
        """The calls of the next turn after a prompt, which holds the task and what was said so far."""
        script = self._by_instruction[TASK.findall(prompt)[-1]]
        turn = prompt.count("<|im_start|>assistant") - 1
        if turn == len(script.turns) - 2:
            self._asked[script.task] += 1
            if self._asked[script.task] % 2 == 0:
                return [NOTHING]
        return script.turns[turn]


def write_scripts(path: Path, scripts: Sequence[Script]) -> None:
    path.write_text(
        json.dumps(
            [
                {
                    "task": script.task,
                    "instruction": script.instruction,
                    "turns": [[call.model_dump() for call in turn] for turn in script.turns],
                }
                for script in scripts
            ]
        )
    )


def read_scripts(path: Path) -> Scripts:
    return Scripts(
        [
            Script(each["task"], each["instruction"], [[ToolCall(**call) for call in turn] for turn in each["turns"]])
            for each in json.loads(path.read_text())
        ]
    )


def mark(name: str, **told: Any) -> None:
    """Tell the process that measures that something has begun or ended, and wait until it has looked."""
    print(json.dumps({"mark": name, **told}), flush=True)
    sys.stdin.readline()
