"""A chat format read off a chat template: messages are rendered, and their texts found again in what comes out."""

from __future__ import annotations

from collections.abc import Callable, Collection

from jinja2 import TemplateError

from webdojo.agent.chatml import ChatFormat
from webdojo.errors import ModelError

Render = Callable[[list[tuple[str, str]], bool], str]
"""Messages (role, text) as the template writes them; with True an answer is opened behind them."""

FIRST = "FirstText"
_SYSTEM, _ANSWER, _SECOND = "SystemText", "AnswerText", "SecondText"


def chat_format(render: Render, specials: Collection[str]) -> tuple[ChatFormat, str]:
    """The format, without what stands around an image, and the one of the `specials` that ends a response.

    A template without a system role gets the system message at the head of the user's first words. A ModelError says
    what cannot be read off.
    """
    asked = [("user", FIRST)]
    first_user, user_end = around(render(asked, False), FIRST)
    said = f"{first_user}{FIRST}{user_end}"
    opened = render(asked, True)
    if not opened.startswith(said) or opened == said:
        raise ModelError("the chat template does not open an answer behind the user's words as they are")
    _, answered = around(render([*asked, ("assistant", _ANSWER), ("user", _SECOND)], False), _ANSWER)
    between, _ = around(answered, _SECOND)
    stop = max((token for token in specials if between.startswith(token)), key=len, default=None)
    if stop is None:
        raise ModelError(f"the chat template ends an answer with {between!r}, which begins with no special token")
    try:
        before, rest = around(render([("system", _SYSTEM), *asked], False), _SYSTEM)
        system, user = (before, ""), around(rest, FIRST)[0]
    except TemplateError:
        system, user = (first_user, "\n\n"), ""
    return (
        ChatFormat(
            system=system,
            first_user=first_user,
            user=user,
            next_user=between.removeprefix(stop),
            user_end=user_end,
            assistant=opened.removeprefix(said),
            image=("", ""),
        ),
        stop,
    )


def around(rendered: str, text: str) -> tuple[str, str]:
    """What stands before and after a text."""
    before, found, after = rendered.partition(text)
    if not found:
        raise ModelError(f"the chat template leaves out the message {text!r}")
    return before, after
