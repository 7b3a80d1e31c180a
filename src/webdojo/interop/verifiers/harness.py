"""The agent's loop for `verifiers`: screenshots and feedback to the model, its calls to the browser.

It runs in the process of `verifiers` and asks the model through the endpoint that records the trace, so that token ids
and log-probabilities are those of its training client. An episode that is invalid fails its rollout, and trains
nothing there either.
"""

from __future__ import annotations

from typing import Any, Literal

import httpx
import verifiers.v1 as vf

from webdojo.agent.openwebrl import system_prompt
from webdojo.browser.tools import TOOLS, json_schema
from webdojo.errors import BrowserError
from webdojo.interop.chat import answers, read_calls, words
from webdojo.interop.host import EpisodeHost, HostedEpisode, Step
from webdojo.interop.verifiers.taskset import WebdojoData, WebdojoSeat
from webdojo.policy.data_url import data_url
from webdojo.types import Task

Message = dict[str, Any]


class WebdojoHarnessConfig(vf.HarnessConfig):
    calls: Literal["native", "text"] = "native"
    """How the model calls: by the endpoint's tool calls, or in the text of its answer, as OpenWebRL's agents do."""
    screenshots_kept: int = 0
    """The most recent screenshots that stay in the conversation; 0 keeps all, so that every prompt begins with the one
    before it, and an episode is one sample."""
    model_timeout_s: float = 600
    """Longest time for one response."""


class WebdojoHarness(vf.Harness[WebdojoHarnessConfig]):
    """Drives one episode at a time; needs the seat of this package (`WebdojoSeat`), which has the browsers."""

    APPENDS_SYSTEM_PROMPT = True
    NEEDS_CONTAINER = False
    EXECUTES_CODE = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Do one task.

        Raises:
            BrowserError: the episode is invalid; `verifiers` records it as an error of the rollout.
        """
        task, host = Task.model_validate(data.record), self._host(data)
        episode = await host.begin(task, id=f"{task.id}-{trace.id}")
        conversation = Conversation(self.config, host, task, data.system_prompt or "")
        headers = {"Authorization": f"Bearer {secret}"}
        try:
            async with httpx.AsyncClient(headers=headers, timeout=self.config.model_timeout_s) as client:
                conversation.see(episode.step(), first=True)
                while not episode.over:
                    body = {"model": ctx.model, "messages": conversation.messages, **conversation.tools}
                    answer = await client.post(f"{endpoint}/chat/completions", json=body)
                    if trace.stop_condition is not None:
                        await episode.stop()
                    elif answer.is_error:
                        return vf.ProgramResult(1, "", f"the model answers {answer.status_code}: {answer.text[:500]}")
                    else:
                        await conversation.turn(episode, answer.json()["choices"][0]["message"])
        finally:
            await episode.give_up("its rollout ended")
        return _result(trace, episode)

    def _host(self, data: WebdojoData) -> EpisodeHost:
        host = WebdojoSeat.hosts.get(data.source)
        if host is None:
            raise ValueError("no browsers have started for this task: run it with the env of its taskset (no --env.id)")
        return host


class Conversation:
    """What the model is told, as chat messages."""

    def __init__(self, config: WebdojoHarnessConfig, host: EpisodeHost, task: Task, instructions: str) -> None:
        self._native, self._kept = config.calls == "native", config.screenshots_kept
        self._host, self._task = host, task
        system = instructions or system_prompt(self._native, config.screenshots_kept)
        self.messages: list[Message] = [{"role": "system", "content": system}]
        self.tools = {"tools": [json_schema(name) for name in TOOLS]} if self._native else {}

    def see(self, step: Step, first: bool = False, said: str = "") -> None:
        """Append what the browser shows."""
        text = words(step.observation, f"Task: {self._task.instruction}" if first else said, first)
        picture = step.observation.screenshot
        url = data_url(self._host.store.images.get(picture), picture.mime)
        parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        self.messages.append({"role": "user", "content": parts})
        shown = [message for message in self.messages if message["role"] == "user"]
        for message in shown[: -self._kept] if self._kept else []:
            message["content"] = message["content"][:1]

    async def turn(self, episode: HostedEpisode, message: Message) -> None:
        """Carry out what the model says, and append it with what becomes of it."""
        content = message.get("content") or ""
        self.messages.append({key: message[key] for key in ("role", "content", "tool_calls") if message.get(key)})
        self.messages[-1].setdefault("content", "")
        if not self._native:
            thought = message.get("reasoning_content") or message.get("reasoning")
            step = await episode.act(text=f"<think>{thought}</think>{content}" if thought else content)
            said = "\n".join([*(each.text for each in step.feedback), *filter(None, [step.error])])
            self.see(step, said=f"<tool_response>\n{said}\n</tool_response>")
            return
        asked = message.get("tool_calls") or []
        calls, error = read_calls((call["function"]["name"], call["function"]["arguments"]) for call in asked)
        step = await episode.act(calls, text=content, error=error)
        told = answers(len(asked), step.feedback, error)
        self.messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(asked, told, strict=True)
        ]
        self.see(step, said="" if asked else f"Error: {error}")


def _result(trace: vf.Trace, episode: HostedEpisode) -> vf.ProgramResult:
    """What becomes of the rollout, noted in its trace."""
    step, trajectory = episode.step(), episode.trajectory
    assert step.reward is not None, "an episode that is over has a verdict"
    if not step.reward.valid:
        raise BrowserError(f"the episode is invalid: {step.reward.reason}")
    trace.info["webdojo"] = {
        "trajectory": trajectory.id,
        "reward": step.reward.value,
        "success": step.reward.success,
        "reason": step.reward.reason,
        "termination": str(step.termination),
        "truncated": step.truncated,
    }
    return vf.ProgramResult(0, "", "")
