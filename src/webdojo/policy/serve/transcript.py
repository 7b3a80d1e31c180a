"""What a client reads of the ids that are sampled for one choice.

The text ends before a stop text and before the token that ends a turn. While more is to come, what may
yet change is held back: characters of which only some bytes are there, and the beginning of what may
become a stop text. Log-probabilities come with the text of their tokens, never before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webdojo.policy.processor import Processor
from webdojo.types import FinishReason, Response

_BROKEN = "\N{REPLACEMENT CHARACTER}"


class Transcript:
    """Takes responses, gives news."""

    def __init__(self, processor: Processor, stop: Sequence[str]) -> None:
        self._processor = processor
        self._stop = stop
        self._ids: list[int] = []
        self._logprobs: list[float] = []
        self._told = 0
        """Characters of the text that were given out."""
        self._tokens_told = 0
        self._text = ""
        self.tokens = 0
        """Sampled so far, the one that ends the turn included."""
        self.finish_reason: str | None = None
        """As OpenAI names it; None while more is to come."""

    def add(self, response: Response, last: bool) -> None:
        """Take what was sampled after what is there; `last` where no more will come."""
        self.tokens += len(response.ids)
        ids, logprobs = response.ids, response.logprobs
        if ids and ids[-1] in self._processor.eos_ids:
            ids, logprobs = ids[:-1], logprobs[:-1]
        self._ids += ids
        self._logprobs += logprobs
        self._text = self._processor.decode(self._ids)
        ends = [end for text in self._stop if (end := self._text.find(text)) >= 0]
        if ends:
            self._text = self._text[: min(ends)]
            self.finish_reason = "stop"
        elif last:
            self.finish_reason = "stop" if response.finish_reason is FinishReason.STOP else "length"

    def news(self) -> str:
        """Text since the last call."""
        end = len(self._text) if self.finish_reason else self._certain()
        news, self._told = self._text[self._told : end], max(self._told, end)
        return news

    def token_news(self) -> list[dict[str, Any]]:
        """OpenAI's `logprobs.content` for the tokens whose text was given out since the last call."""
        news = []
        while self._tokens_told < len(self._ids):
            upto = self._processor.decode(self._ids[: self._tokens_told + 1])
            # A token that ends inside a character is told with that character.
            if len(upto.rstrip(_BROKEN)) + upto.endswith(_BROKEN) > self._told:
                break
            token = self._processor.decode([self._ids[self._tokens_told]])
            whole = list(token.encode()) if _BROKEN not in token else None
            logprob = self._logprobs[self._tokens_told]
            news.append({"token": token, "logprob": logprob, "bytes": whole, "top_logprobs": []})
            self._tokens_told += 1
        return news

    def _certain(self) -> int:
        """How much of the text stays as it is, whatever comes."""
        end = len(self._text.rstrip(_BROKEN))
        for stop in self._stop:
            for length in range(min(len(stop) - 1, end), 0, -1):
                if self._text.endswith(stop[:length], 0, end):
                    end -= length
                    break
        return end
