"""One question to a model whose answer must be readable: one that is not is asked for once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from webdojo.policy.engine import MessageModel
from webdojo.reward.judges.case import quoted
from webdojo.types import Sampling

T = TypeVar("T")

AGAIN = "An earlier answer to this could not be read. It ended with {}. Answer again, and end exactly as told."
REMEMBERED = 500
"""Characters at the end of an unreadable answer that the model is shown when it is asked again."""


class Unreadable(Exception):
    """An answer of the model could not be read, and neither could the next one."""


async def ask(
    model: MessageModel,
    sampling: Sampling,
    system: str,
    content: Sequence[dict[str, Any]],
    read: Callable[[str], T | None],
    *,
    what: str,
    heard: Callable[[str, str], None] = lambda note, answer: None,
) -> T:
    """The model's answer as `read` understands it; where it does not, the model is asked once more.

    Args:
        system: the protocol, whose last paragraph says which form the answer must have. Nothing that a page, an agent
            or a model wrote may stand in it.
        content: parts of the user's message, as in OpenAI's chat API, in whose texts foreign text is `quoted`.
        read: returns None for an answer that it cannot read, which no cache keeps.
        what: names the question in the error.
        heard: is called with each answer, and what was added to the message for it.

    Raises:
        Unreadable: the second answer cannot be read either.
        EngineError: there is none; `BudgetError` where there may be none any more.
    """
    note = ""
    for _ in range(2):
        more: list[dict[str, Any]] = [{"type": "text", "text": note}] if note else []
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": [*content, *more]},
        ]
        answer = await model.say(messages, sampling, lambda said: read(said) is not None)
        heard(note, answer)
        if (value := read(answer)) is not None:
            return value
        note = AGAIN.format(quoted(answer[-REMEMBERED:]))
    found, wanted = (" ".join(text.split()) for text in (answer, system.rstrip().rpartition("\n\n")[2]))
    raise Unreadable(f"{what} could not be read: {found[-200:]!r}; it was told: {wanted}")
