"""An agent of AgentLab with a scripted chat model on our tasks.

AgentLab brings some two hundred packages, so `make test-interop` does not install it. Once that has made the
environment of BrowserGym:

    .venv-browsergym/bin/pip install agentlab==0.4.2
    .venv-browsergym/bin/python -m pytest tests/interop/agentlab
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agentlab", reason="not installed here")

from agentlab.agents.generic_agent.generic_agent import GenericAgentArgs
from agentlab.agents.generic_agent.tmlr_config import BASE_FLAGS
from agentlab.experiments.loop import EnvArgs, ExpArgs
from agentlab.llm.base_api import BaseModelArgs
from agentlab.llm.llm_utils import AIMessage
from browsergym.experiments.benchmark import HighLevelActionSetArgs

import webdojo.interop.browsergym  # noqa: F401 (registers)
from tests.interop.browsergym.test_browsergym import in_their_words, launches_ours, solved  # noqa: F401 (fixtures)
from tests.interop.policies import SMALL

pytestmark = [
    pytest.mark.usefixtures("launches_ours"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # AgentLab leaves its logs open
]


@dataclass
class Scripted(BaseModelArgs):
    """A chat model that says its lines."""

    lines: tuple[str, ...] = ()

    def make_model(self) -> Any:
        lines = iter(self.lines)

        class Model:
            def __call__(self, messages: Any, **options: Any) -> Any:
                return AIMessage(f"<think>so</think>\n<action>\n{next(lines)}\n</action>")

            def get_stats(self) -> dict[str, Any]:
                return {}

        return Model()


def run(folder: Path, task: str, lines: Sequence[str]) -> dict[str, Any]:
    """The summary of an experiment."""
    flags = copy.deepcopy(BASE_FLAGS)
    flags.action.action_set = HighLevelActionSetArgs(subsets=["coord", "chat", "infeas"], multiaction=True)
    flags.action.multi_actions = flags.enable_chat = flags.obs.use_screenshot = True
    model = Scripted("gpt-4", 40_000, 39_000, 1_000, vision_support=True, lines=tuple(lines))
    options = {"overrides": SMALL, "tasks": 10, "task": task}
    env = EnvArgs("webdojo.train", task_seed=0, max_steps=10, task_kwargs=options)
    experiment = ExpArgs(agent_args=GenericAgentArgs(chat_model_args=model, flags=flags), env_args=env)
    experiment.prepare(folder)
    experiment.run()
    found: dict[str, Any] = json.loads((Path(experiment.exp_dir) / "summary_info.json").read_text())
    return found


def test_an_agent_solves_a_task_and_fails_it(solved, tmp_path):  # noqa: F811 (a fixture)
    id, turns = solved
    right = run(tmp_path, id, ["\n".join(map(in_their_words, calls)) for calls in turns])
    assert (right["err_msg"], right["cum_reward"], right["terminated"]) == (None, 1.0, True)
    wrong = run(tmp_path, id, ["send_msg_to_user('nonsense')"])
    assert (wrong["err_msg"], wrong["cum_reward"], wrong["terminated"]) == (None, 0.0, True)
