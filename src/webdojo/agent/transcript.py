"""The history of an episode, of which a prompt shows as much as its token budget holds.

`fit` gives all harnesses one order of dropping: old images go first, then old pages (text views, which a placeholder
stands for), then the oldest turns, each of which becomes one line. The task, the tools and the last observation always
stay. If those alone are too long, so is the prompt, and the episode ends with `context_length`.

Layout of the prompts of a `Transcript` in ChatML, one part a line; each text part is tokenised once:

    system                the protocol, the same for every episode
    opening               user: the task
    line, line, …         one line for each exchange that is not shown in full
    memory                what the agent had noted up to there; empty if all exchanges are shown in full
    page, screenshot      what the browser showed; old pages become a placeholder, old screenshots disappear
    turn                  end of the user's turn, start of the assistant's
    response              the ids as they were sampled
    feedback              user: what the browser said
    page, screenshot, turn, response, feedback, …

Text stands before the screenshot, so consecutive prompts share every token before the first part that one of
them lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from webdojo.agent.chatml import USER, ChatML, Segment
from webdojo.agent.toolcall import plain
from webdojo.types import Feedback, Observation, Parsed, Prompt, Response, TextSegment

LINE_CHARACTERS = 300
"""The longest text of an exchange that is shown as one line."""


@dataclass(frozen=True)
class HistoryLimits:
    """How much of the history a prompt shows, counted from the newest."""

    images: int
    """Screenshots, the last observation's included."""
    pages: int
    """Text views, the last observation's included."""
    turns: int
    """Exchanges in full; those before them are one line each."""


def fit(assemble: Callable[[HistoryLimits], Prompt], wanted: HistoryLimits, max_tokens: int) -> Prompt:
    """Assemble a prompt that shows as much of `wanted` as fits into `max_tokens`, and that says what was dropped."""
    limits = wanted
    prompt = assemble(limits)
    for name, least in (("images", 1), ("pages", 1), ("turns", 0)):
        while len(prompt) > max_tokens and getattr(limits, name) > least:
            limits = replace(limits, **{name: getattr(limits, name) - 1})
            prompt = assemble(limits)
    dropped = {
        "image": wanted.images - limits.images,
        "page": wanted.pages - limits.pages,
        "turn": wanted.turns - limits.turns,
    }
    return prompt.model_copy(update={"dropped": {kind: count for kind, count in dropped.items() if count}})


def errors_of(parsed: Parsed, feedback: Sequence[Feedback]) -> list[str]:
    """The errors of one turn: what the browser could not do, then what could not be parsed."""
    return [entry.text for entry in feedback if not entry.ok] + ([parsed.error] if parsed.error else [])


@dataclass(frozen=True)
class _Exchange:
    response: TextSegment
    feedback: TextSegment
    line: TextSegment
    memory: str


class Transcript:
    """What was said and seen so far.

    Args:
        chat: the chat format of the harness.
        opening: the user's first words, without the observation.
        observation: the first observation.
        page: the text of its page; empty for agents that see screenshots only.
        placeholder: stands for an old page.
    """

    def __init__(
        self, chat: ChatML, opening: str, observation: Observation, page: str = "", placeholder: str = ""
    ) -> None:
        self._chat = chat
        self._opening = chat.text(f"{USER}{opening}")
        self._placeholder = chat.text(placeholder)
        self._exchanges: list[_Exchange] = []
        self._memories: dict[str, TextSegment] = {"": TextSegment(ids=())}
        self._pages = [chat.text(page)]
        self._screenshots = [observation.screenshot]

    def __len__(self) -> int:
        """The number of exchanges so far."""
        return len(self._exchanges)

    def add(
        self,
        response: Response,
        feedback: str,
        action: str,
        errors: Sequence[str],
        observation: Observation,
        page: str = "",
        memory: str = "",
    ) -> None:
        """Append an exchange.

        Args:
            response: the response as it was sampled.
            feedback: the user's words after it, without the observation.
            action: what the agent did, for the line that stands for this exchange in later prompts.
            errors: what went wrong, for the same line.
            observation: what the browser shows now.
            page: the text of its page.
            memory: the agent's notes, for prompts in which this is the last exchange that is one line.
        """
        line = plain(" Error: ".join([action, *errors]), LINE_CHARACTERS)
        self._exchanges.append(
            _Exchange(
                response=TextSegment(ids=tuple(response.ids)),
                feedback=self._chat.text(f"{self._chat.after(response)}{feedback}"),
                line=self._chat.text(f"Step {len(self) + 1}: {line}\n"),
                memory=memory,
            )
        )
        self._pages.append(self._chat.text(page))
        self._screenshots.append(observation.screenshot)

    def prompt(self, max_tokens: int, images: int, turns: int, pages: int = 1) -> Prompt:
        """The prompt of the next response, at most `max_tokens` long where `fit` can achieve it.

        Args:
            images, pages, turns: how many of each it may show (`HistoryLimits`).
        """
        turns = min(turns, len(self._exchanges))
        wanted = HistoryLimits(images=min(images, turns + 1), pages=min(pages, turns + 1), turns=turns)
        return fit(self._assemble, wanted, max_tokens)

    def _assemble(self, limits: HistoryLimits) -> Prompt:
        seen = len(self._pages)
        start = seen - 1 - limits.turns
        parts: list[Segment] = [self._chat.system, self._opening, *(each.line for each in self._exchanges[:start])]
        if start:
            parts.append(self._memory(self._exchanges[start - 1].memory))
        for index in range(start, seen):
            if index > start:
                parts += [self._exchanges[index - 1].response, self._exchanges[index - 1].feedback]
            parts.append(self._pages[index] if index >= seen - limits.pages else self._placeholder)
            if index >= seen - limits.images:
                parts += self._chat.image(self._screenshots[index])
            parts.append(self._chat.turn)
        return self._chat.prompt(parts)

    def _memory(self, text: str) -> TextSegment:
        if text not in self._memories:
            self._memories[text] = self._chat.text(text)
        return self._memories[text]
