"""One BrowserGym environment, driven by lines of JSON on stdin; runs where BrowserGym is installed.

Messages: `open`, then `step` and `count` (the browser benchmark) or `act` and `evaluate` (the gauntlet) in any order;
each is answered by one line on stdout. The end of stdin closes the environment. The count is read from the screenshot
in the observation, as `browser_pages.shown_count` does.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from typing import Any

import browsergym.core  # noqa: F401 (registers the environments)
import gymnasium
from browsergym.core.action.highlevel import HighLevelActionSet
from PIL import Image
from playwright.sync_api import Browser, BrowserType

CELL_PX = 16
BITS = 16


def use_chromium(executable: str, width: int, height: int) -> None:
    """Start every browser from one executable: the chat window takes no option for that.

    The Playwright that BrowserGym pins does not get its viewport through to newer Chromiums, which then lay the page
    out for their window: windows that have no size of their own get the viewport's.
    """
    launch = BrowserType.launch

    def launch_it(self: BrowserType, **options: Any) -> Browser:
        arguments = options.pop("args", None) or []
        if not any(argument.startswith("--window-size") for argument in arguments):
            arguments = [*arguments, f"--window-size={width},{height}"]
        return launch(self, executable_path=executable, args=arguments, **options)

    BrowserType.launch = launch_it  # type: ignore[method-assign]


def open_environment(message: dict[str, Any]) -> Any:
    """A reset environment at a URL."""
    width, height = message["viewport"]
    use_chromium(message["executable"], width, height)
    delays: dict[str, Any] = {} if message["delays"] else {"slow_mo": 0, "pre_observation_delay": 0.0}
    environment = gymnasium.make(
        "browsergym/openended",
        task_kwargs={"start_url": message["url"], "goal": "Look at the mugs."},
        viewport={"width": width, "height": height},
        timeout=30_000,  # a loaded machine is no failure of the environment
        action_mapping=HighLevelActionSet(subsets=["coord"], multiaction=True, strict=True).to_python_code,
        **delays,
    )
    environment.reset()
    return environment


def action_text(message: dict[str, Any]) -> str:
    """The action in BrowserGym's own language."""
    x, y = message["x"], message["y"]
    if message["kind"] == "click":
        return f"mouse_click({x}, {y})"
    if message["kind"] == "write":
        select_all = "Meta+a" if sys.platform == "darwin" else "Control+a"
        return f"keyboard_press('{select_all}')\nkeyboard_insert_text({message['text']!r})"
    return f"scroll_at({x}, {y}, 0, {message['wheel']})"


def shown_count(screenshot: Any) -> int:
    """Read the count from a screenshot of shape (height, width, 3)."""
    middle = CELL_PX // 2
    return sum(int(screenshot[middle, CELL_PX * bit + middle].mean() > 127) << bit for bit in range(BITS))


def answer(environment: Any, message: dict[str, Any]) -> dict[str, Any]:
    if message["do"] == "count":
        return {"count": environment.unwrapped.page.evaluate("bench.count")}
    if message["do"] == "evaluate":
        return {"value": environment.unwrapped.page.evaluate(message["expression"])}
    if message["do"] == "act":
        return told(environment.step(message["action"])[0])
    observation = environment.step(action_text(message))[0]
    if observation["last_action_error"]:
        return {"error": observation["last_action_error"]}
    return {"shown": shown_count(observation["screenshot"])}


def told(observation: dict[str, Any]) -> dict[str, Any]:
    """What BrowserGym tells and shows after an action."""
    picture = io.BytesIO()
    Image.fromarray(observation["screenshot"]).save(picture, "png")
    return {
        "said": observation["last_action_error"],
        "picture": base64.b64encode(picture.getvalue()).decode(),
        "url": observation["url"],
        "tabs": len(observation["open_pages_urls"]),
    }


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no reply
    environment = None
    for line in sys.stdin:
        message = json.loads(line)
        try:
            if message["do"] == "open":
                environment = open_environment(message)
                reply: dict[str, Any] = {}
            else:
                reply = answer(environment, message)
        except Exception as error:  # the other side decides what it means
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
    if environment is not None:
        environment.close()


if __name__ == "__main__":
    main()
