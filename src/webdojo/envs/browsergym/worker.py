"""Holds tasks of BrowserGym, one at a time, as a script of the Python that has BrowserGym.

    worker.py MODULE…    imports the modules, which register tasks

It reads commands as JSON lines and answers each with one, which has `error` where the command failed. The first line
that it writes is of itself, when it has imported everything.

    {"do": "find", "tasks": […]}                              {"unknown": […]}
    {"do": "setup", "task": …, "seed": …, "options": {…}, "browser": …, "context": …, "page": …}
                                                              {"goal": …, "images": …, "info": {…}}
    {"do": "validate", "page": …, "role": …, "answer": …}     {"reward": …, "done": …, "message": …, "info": {…}}
    {"do": "teardown"}                                        {}

`browser` is the address of a Chromium's DevTools, `context` a context of it and `page` the target of the page that is
active there. It ends when its input ends, even while a task's code runs.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import sys
import threading
import time
from typing import Any

# Beside this file are modules of webdojo; tasks of the user may be in the folder that it was started in.
sys.path.append(os.getcwd())

_GREETING = "Hi! I am your UI assistant, I can perform web tasks for you. What can I help you with?"
"""What the chat of BrowserGym begins with."""
_PAGE_S = 5.0
"""How long a page that has just opened may take to be seen here."""


class Episode:
    """A task and its chat, attached to a context of somebody else's browser."""

    def __init__(self, task: str, seed: int, options: dict[str, Any]) -> None:
        import gymnasium

        made: Any = gymnasium.make(task, task_kwargs=options, disable_env_checker=True).unwrapped
        self.task = made.task_entrypoint(seed=seed, **made.task_kwargs)
        self.chat: list[dict[str, Any]] = []
        self.close = lambda: None

    def attach(self, browser: str, context: str) -> None:
        """Connect to the context."""
        from browsergym.core import _get_global_playwright
        from one_context import OneContext

        relay = OneContext(browser, context).__enter__()
        self.close = lambda: relay.__exit__()
        connected = _get_global_playwright().chromium.connect_over_cdp(relay.url)

        def close() -> None:
            try:
                connected.close()
            finally:
                relay.__exit__()

        self.close = close
        (self.context,) = connected.contexts
        self.context.set_default_timeout(self.task.timeout)
        self.context.on("dialog", lambda dialog: None)  # whose browser it is answers them

    def setup(self, page: str) -> dict[str, Any]:
        goal, info = self.task.setup(page=self.page(page))
        parts = [{"type": "text", "text": goal}] if isinstance(goal, str) else goal or []
        texts = [part["text"] for part in parts if part["type"] == "text"]
        self.say("assistant", _GREETING)
        for text in texts:
            self.say("user", text)
        return {"goal": "\n".join(texts), "images": len(parts) - len(texts), "info": info}

    def validate(self, page: str, role: str, answer: str) -> dict[str, Any]:
        if answer:
            self.say(role, answer)
        reward, done, message, info = self.task.validate(self.page(page), self.chat)
        if message:
            self.say("user", message)
        return {"reward": float(reward), "done": bool(done), "message": message or "", "info": info}

    def say(self, role: str, message: str) -> None:
        self.chat.append({"role": role, "timestamp": time.time(), "message": message})

    def page(self, target: str) -> Any:
        """The page of a DevTools target."""
        until = time.monotonic() + _PAGE_S
        while time.monotonic() < until:
            self.context.cookies()  # lets Playwright say which pages have opened and closed
            for page in self.context.pages:
                if self.target_of(page) == target:
                    return page
            time.sleep(0.05)
        raise RuntimeError(f"the page {target} was not seen within {_PAGE_S:g} s")

    def target_of(self, page: Any) -> str:
        cdp = self.context.new_cdp_session(page)
        try:
            return str(cdp.send("Target.getTargetInfo")["targetInfo"]["targetId"])
        finally:
            cdp.detach()


class Worker:
    """Carries out commands."""

    def __init__(self) -> None:
        self.episode: Episode | None = None

    def carry_out(self, do: str, given: dict[str, Any]) -> dict[str, Any]:
        if do == "find":
            import gymnasium

            return {"unknown": [name for name in given["tasks"] if name not in gymnasium.registry]}
        if do == "setup":
            self.episode = Episode(given["task"], given["seed"], given["options"])
            self.episode.attach(given["browser"], given["context"])
            return self.episode.setup(given["page"])
        assert self.episode is not None, "setup comes first"
        if do == "validate":
            return self.episode.validate(given["page"], given["role"], given["answer"])
        episode, self.episode = self.episode, None
        try:
            episode.task.teardown()
        finally:
            episode.close()
        return {}


def main(modules: list[str]) -> None:
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no reply
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            commands.put(line)
        os._exit(0)

    def reply(said: dict[str, Any]) -> None:
        replies.write(json.dumps(said, default=str) + "\n")

    threading.Thread(target=read, daemon=True).start()
    try:
        for module in ("browsergym.core", "websockets", *modules):
            importlib.import_module(module)
    except Exception as error:
        reply({"error": f"{type(error).__name__}: {error}"})
        return
    reply({})
    worker = Worker()
    while True:
        command = json.loads(commands.get())
        try:
            reply(worker.carry_out(command.pop("do"), command))
        except Exception as error:  # whose episode it is decides what it means
            reply({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main(sys.argv[1:])
