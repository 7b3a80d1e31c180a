"""A small site and an actor with scripted words: all that an episode in real Chromium needs beside its environment."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.browser.conftest import LOCAL
from tests.codec import SmallCodec
from webdojo.agent.harness import Codec
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.browser.config import BrowserConfig
from webdojo.browser.interface import Pool
from webdojo.browser.session import BrowserSession
from webdojo.envs.env import Environment
from webdojo.envs.web import Web
from webdojo.reward.function import RewardFunction
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.store.images import MemoryImages
from webdojo.types import FinishReason, Prompt, Response, Sampling, Task, Trajectory

BROWSER = BrowserConfig(viewport_px=(320, 320), start_timeout_s=20, navigation_retries=0, guard=LOCAL)

PAGE = """<!doctype html><title>{path}</title><body style="margin:0">
<a href="/next" style="display:block;width:320px;height:100px;background:#8cf">Next</a><p>This is {path}</p>"""

NEXT = '<think>go on</think><tool_call>{"name": "click", "arguments": {"x": 500, "y": 100}}</tool_call><|im_end|>'
DONE = '<think>there</think><tool_call>{"name": "done", "arguments": {"answer": "7"}}</tool_call><|im_end|>'
BAD = "<think>no idea</think>click next<|im_end|>"


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGE.format(path=self.path).encode()
        self.send_response(403 if self.path.startswith("/forbidden") else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[str]:
    """The address of the site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


IMAGES = MemoryImages()


Line = str | Callable[[BrowserSession], Awaitable[str]]


class Actor:
    """Says its lines in order; remembers its session and the prompts that it was given."""

    def __init__(self, codec: Codec, lines: list[Line], finish: FinishReason) -> None:
        self.codec = codec
        self.lines = iter(lines)
        self.finish = finish
        self.session: BrowserSession
        self.prompts: list[Prompt] = []

    def __call__(self, task: Task, session: BrowserSession) -> Actor:
        self.session = session
        return self

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        self.prompts.append(prompt)
        line = next(self.lines)
        ids = self.codec.encode(line if isinstance(line, str) else await line(self.session))
        return Response(ids=ids, logprobs=[-1.0] * len(ids), versions=[3] * len(ids), finish_reason=self.finish)


class Stage:
    """Everything of an episode but its lines."""

    def __init__(self, pool: Pool[Any], site: str, env: Environment | None = None) -> None:
        self.pool = pool
        self.env = env or Web()
        self.codec = SmallCodec()
        self.harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), self.codec)
        self.task = Task(id="t", instruction="Go to next", start_url=f"{site}/start", website="127.0.0.1")
        self.actor: Actor

    async def play(
        self,
        *lines: Line,
        finish: FinishReason = FinishReason.STOP,
        max_steps: int = 6,
        reward: RewardFunction | None = None,
        **config: Any,
    ) -> Trajectory:
        self.actor = Actor(self.codec, list(lines), finish)
        return await run_episode(
            self.task,
            env=self.env,
            pool=self.pool,
            harness=self.harness,
            actor=self.actor,
            config=RolloutConfig.model_validate(config),
            sampling=Sampling(max_tokens=64),
            max_steps=max_steps,
            reward=reward,
            group="g",
            trajectory_id="g-0",
        )
