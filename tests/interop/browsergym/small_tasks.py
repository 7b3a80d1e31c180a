"""Small tasks of BrowserGym's own class, on pages that the test serves; the worker of the environment imports them."""

from __future__ import annotations

import os
import time
from typing import Any

from browsergym.core.registration import register_task
from browsergym.core.task import AbstractBrowserTask


class Small(AbstractBrowserTask):
    """Opens a page of the test's site."""

    path = "/"

    def __init__(self, seed: int, site: str) -> None:
        super().__init__(seed)
        self.site = site
        self.side = self.random.choice(["left", "right"])

    def setup(self, page: Any) -> tuple[Any, dict[str, Any]]:
        page.context.add_cookies([{"name": "who", "value": "ada", "url": self.site}])
        page.goto(f"{self.site}{self.path}")
        return f"Click the {self.side} half.", {"side": self.side}

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        clicked = page.evaluate("document.body.dataset.clicked")
        return float(clicked == self.side), clicked is not None, "", {"clicked": clicked, "cookie": self.cookie(page)}

    def cookie(self, page: Any) -> str:
        return page.evaluate("document.cookie")


class Halves(Small):
    """A page of two halves, one of which is the right one."""


class Window(Small):
    """Opens a second page in a tab of its own, as tasks on two sites do, and asks a dialog of it."""

    def setup(self, page: Any) -> tuple[Any, dict[str, Any]]:
        goal, info = super().setup(page)
        second = page.context.new_page()
        second.goto(f"{self.site}/second")
        return goal, info

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        info = {"page": page.url, "pages": len(page.context.pages), "cookie": self.cookie(page)}
        return 0.25, "second" not in page.url, "Go on.", info


class Say(Small):
    """Wants a message to the user; half of it is worth half."""

    wanted = ("assistant", "It is 42.")

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        said = [(each["role"], each["message"]) for each in chat_messages]
        info = {"chat": [role for role, _ in said]}
        last = said[-1]
        return float(last == self.wanted) or 0.5 * ("42" in last[1]), last[0] != "user", "", info


class Impossible(Say):
    """Wants to hear that it cannot be done."""

    wanted = ("infeasible", "N/A: there is no such page")


class Pictures(Small):
    """Has a picture in its goal."""

    def setup(self, page: Any) -> tuple[Any, dict[str, Any]]:
        goal, info = super().setup(page)
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}
        return [{"type": "text", "text": goal}, picture], info


class Ends(Small):
    """Ends its process."""

    def validate(self, page: Any, chat_messages: list[Any]) -> Any:
        print("out of memory")
        os._exit(9)


class Hangs(Small):
    """Does not come back."""

    def validate(self, page: Any, chat_messages: list[Any]) -> Any:
        time.sleep(3600)


class Raises(Small):
    """Has a mistake."""

    def validate(self, page: Any, chat_messages: list[Any]) -> Any:
        raise KeyError("no such row")


for _task in (Halves, Window, Say, Impossible, Pictures, Ends, Hangs, Raises):
    register_task(f"small.{_task.__name__.lower()}", _task)
