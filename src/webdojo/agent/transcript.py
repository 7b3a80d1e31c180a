"""An episode as text and pictures in turn, of which a prompt shows a window.

Layout of a prompt in ChatML, one part a line; each text part is tokenised once:

    system                protocol, the same for every episode
    opening               user: the task
    line, line, …         the exchanges before the window, one line each
    aside                 what else is known from before the window; empty where nothing was left out
    page, screenshot      what the browser showed then; a placeholder stands for old pages, nothing for old screenshots
    turn                  end of the user's turn, start of the assistant's
    response              the ids as they were sampled
    told                  user: what the browser said
    page, screenshot, turn, response, told, …

Text stands before the screenshot, so consecutive prompts share every token before the first thing that one of
them lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webdojo.agent.budget import Kept, fit
from webdojo.agent.chatml import USER, ChatML, Segment
from webdojo.types import Feedback, Observation, Parsed, Prompt, Response, TextSegment


def what_failed(parsed: Parsed, feedback: Sequence[Feedback]) -> list[str]:
    """Of one turn: what the browser could not do, then what could not be read."""
    return [entry.text for entry in feedback if not entry.ok] + ([parsed.error] if parsed.error else [])


@dataclass(frozen=True)
class _Exchange:
    response: TextSegment
    told: TextSegment
    line: TextSegment
    aside: str


class Transcript:
    """What was said and seen so far.

    Args:
        chat: of the harness.
        opening: the user's first words, without the observation.
        observation: the first one.
        page: its text; empty for agents that see pictures only.
        placeholder: stands for an old page.
    """

    def __init__(
        self, chat: ChatML, opening: str, observation: Observation, page: str = "", placeholder: str = ""
    ) -> None:
        self._chat = chat
        self._opening = chat.text(f"{USER}{opening}")
        self._placeholder = chat.text(placeholder)
        self._exchanges: list[_Exchange] = []
        self._asides: dict[str, TextSegment] = {"": TextSegment(ids=())}
        self._pages = [chat.text(page)]
        self._screenshots = [observation.screenshot]

    def __len__(self) -> int:
        """Exchanges so far."""
        return len(self._exchanges)

    def add(
        self, response: Response, told: str, line: str, observation: Observation, page: str = "", aside: str = ""
    ) -> None:
        """Append an exchange.

        Args:
            response: as it was sampled.
            told: the user's words after it, without the observation.
            line: stands for the exchange where the window begins after it.
            observation: what the browser shows now.
            page: its text.
            aside: what a prompt says besides the lines where the window begins after this exchange.
        """
        self._exchanges.append(
            _Exchange(
                response=TextSegment(ids=tuple(response.ids)),
                told=self._chat.text(f"{self._chat.after(response)}{told}"),
                line=self._chat.text(line),
                aside=aside,
            )
        )
        self._pages.append(self._chat.text(page))
        self._screenshots.append(observation.screenshot)

    def prompt(self, max_tokens: int, images: int, turns: int, pages: int = 1) -> Prompt:
        """The prompt of the next response, `budget.fit` to `max_tokens`.

        Args:
            images, pages, turns: how many of each it may show (`budget.Kept`).
        """
        turns = min(turns, len(self._exchanges))
        wanted = Kept(images=min(images, turns + 1), pages=min(pages, turns + 1), turns=turns)
        return fit(self._assemble, wanted, max_tokens)

    def _assemble(self, kept: Kept) -> Prompt:
        seen = len(self._pages)
        start = seen - 1 - kept.turns
        parts: list[Segment] = [self._chat.system, self._opening, *(each.line for each in self._exchanges[:start])]
        if start:
            parts.append(self._aside(self._exchanges[start - 1].aside))
        for index in range(start, seen):
            if index > start:
                parts += [self._exchanges[index - 1].response, self._exchanges[index - 1].told]
            parts.append(self._pages[index] if index >= seen - kept.pages else self._placeholder)
            if index >= seen - kept.images:
                parts += self._chat.image(self._screenshots[index])
            parts.append(self._chat.turn)
        return self._chat.prompt(parts)

    def _aside(self, text: str) -> TextSegment:
        if text not in self._asides:
            self._asides[text] = self._chat.text(text)
        return self._asides[text]
