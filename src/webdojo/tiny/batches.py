"""Batches: screens and questions about them, padded, ready for a forward pass.

A row is one screen followed by its questions and answers, so that one pass of the vision tower
serves many questions. Part of the rows open as an episode does, with the agent's system prompt, a
task, and earlier turns now and then; there the first answer is a turn of the agent. Colours change
at random while training: shapes are what is to be read.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

import numpy as np
import torch

from webdojo.agent.harness import Conversation
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.policy.model.positions import mrope_positions
from webdojo.policy.model.processor import Processor
from webdojo.sites.content.words import slug
from webdojo.tiny.agent_turns import passed, say
from webdojo.tiny.attention_loss import AttentionTargets
from webdojo.tiny.labels import ROWS, TOKENS, ScreenLabels
from webdojo.tiny.questions import ALL_THINGS, Note, Question, Skill, dense_targets, note, questions
from webdojo.tiny.screens import SIDE, Screen, Screens
from webdojo.types import FinishReason, ImageRef, ImageSegment, Observation, Parsed, Response, Task, TextSegment

EPISODES = 0.6
"""Share of the rows that open as an episode does."""


@dataclass
class Batch:
    """A batch of B screens."""

    pixels: torch.Tensor
    """float32 [patches, patch dim]"""
    grid: torch.Tensor
    """int64 [B, 3]"""
    characters: torch.Tensor
    """int64 [B * 100, 2]: character class of both cells of each visual token."""
    words: torch.Tensor
    """int64 [B * 100]: word class of each visual token, or `NO_WORD`."""
    ids: torch.Tensor
    """int64 [B, L], padded on the right."""
    positions: torch.Tensor
    """int64 [3, B, L]"""
    answer: torch.Tensor
    """int64 [B, L]: 0, or 1 + index in `asked` of the question whose answer this token is part of."""
    graded: torch.Tensor
    """bool [B, L]: answer tokens that must be right for the answer to be right."""
    asked: list[Question]
    question_looks: AttentionTargets | None
    """From the name in each question to where it stands; None without questions."""
    answer_looks: AttentionTargets | None
    """From each answer's tokens to where it is read."""


class BatchSource:
    """Makes batches from screens; what it makes follows from the generator's state alone."""

    def __init__(self, screens: Screens, processor: Processor, questions_per_screen: int) -> None:
        self._screens, self._processor, self._per_screen = screens, processor, questions_per_screen
        self._harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), processor)
        self._dense = [dense_targets(screen) for screen in screens.screens]
        self._sights = [ScreenLabels(screen) for screen in screens.screens]

    def batch(self, rng: random.Random, n: int, *, augment: bool, ask: bool) -> Batch:
        """`n` screens, recoloured if `augment`, with tasks and questions if `ask`."""
        picked = [rng.randrange(len(self._screens)) for _ in range(n)]
        pixels, grids = [], []
        for index in picked:
            image = np.array(self._screens.images[index])
            values, grid = self._processor.patchify(_recolour(image, rng) if augment else image)
            pixels.append(values)
            grids.append(grid)
        rows = [self._row(index, rng, ask) for index in picked]
        length = max(len(row.ids) for row in rows)
        positions = [
            mrope_positions([row.image_start, (ROWS, ROWS), length - row.image_start - TOKENS])[0] for row in rows
        ]
        starts = np.cumsum([0, *(len(row.asked) for row in rows)]).tolist()
        return Batch(
            pixels=torch.cat(pixels),
            grid=torch.cat(grids),
            characters=torch.tensor(np.concatenate([self._dense[i][0] for i in picked])),
            words=torch.tensor(np.concatenate([self._dense[i][1] for i in picked])),
            ids=torch.tensor([row.ids + [self._processor.stop_id] * (length - len(row.ids)) for row in rows]),
            positions=torch.stack(positions, dim=1),
            answer=torch.tensor(
                [
                    [start + mark if mark else 0 for mark in row.answer] + [0] * (length - len(row.ids))
                    for row, start in zip(rows, starts, strict=False)
                ]
            ),
            graded=torch.tensor([row.graded + [False] * (length - len(row.ids)) for row in rows]),
            asked=[question for row in rows for question in row.asked],
            question_looks=_attention_targets([row.question_looks for row in rows], length),
            answer_looks=_attention_targets([row.answer_looks for row in rows], length),
        )

    def _row(self, index: int, rng: random.Random, ask: bool) -> _Row:
        screen, labels = self._screens.screens[index], self._sights[index]
        if not ask or rng.random() > EPISODES:
            row = _Row(self._processor, self._processor.encode("<|im_start|>user\n<|vision_start|>"), None)
            row.put("<|vision_end|>\n")
            above = None
        else:
            above = note(screen, labels, rng)
            opening, turn = self._episode(screen, above, rng)
            row = _Row(self._processor, opening, above)
            row.ids += turn
            row.say(say(screen, labels, rng, above))
        for question in questions(screen, labels, rng, self._per_screen - 2 * bool(row.asked), above) if ask else []:
            row.ask(question)
        return row

    def _episode(self, screen: Screen, above: Note, rng: random.Random) -> tuple[list[int], list[int]]:
        """What the agent reads before and after the visual tokens of the screen."""
        conversation: Conversation | None = None
        start = screen.url[: screen.url.index("/", len("http://")) + 1]
        earlier = rng.choice((0, 0, 0, 1))
        for step in range(earlier + 1):
            url = screen.url if step == earlier else f"{start}p/{slug(rng.choice(ALL_THINGS))}"
            observation = _observation(url, screen.scroll_px if step == earlier else (0, 0))
            if conversation is None:
                task = Task(id="", instruction=above.text, start_url=start, website="")
                conversation = self._harness.start(task, observation)
            else:
                text, feedback = passed(url, above, rng)
                response = Response(
                    ids=self._processor.encode(text), logprobs=[], versions=[], finish_reason=FinishReason.STOP
                )
                conversation.add(response, Parsed(), [feedback], observation)
        assert conversation is not None
        segments = conversation.prompt(sys.maxsize).segments
        image = next(i for i, segment in enumerate(segments) if isinstance(segment, ImageSegment))
        before, after = (
            [token for segment in part if isinstance(segment, TextSegment) for token in segment.ids]
            for part in (segments[:image], segments[image + 1 :])
        )
        return before, after


class _Row:
    """The tokens of one screen and its questions, as they are put one after the other."""

    def __init__(self, processor: Processor, opening: list[int], above: Note | None) -> None:
        self._encode, self._tokenizer = processor.encode, processor.tokenizer
        self.image_start = len(opening)
        self.ids = opening + [processor.image_token_id] * TOKENS
        self._noted = self._places(opening, above) if above is not None else {}
        """Where the words stand that the task names."""
        self.answer: list[int] = []
        self.graded: list[bool] = []
        self.asked: list[Question] = []
        self.question_looks: list[tuple[int, set[int]]] = []
        """(position, tokens of the row to look at)."""
        self.answer_looks: list[tuple[int, set[int]]] = []

    def put(self, text: str) -> None:
        """Append text that is not to be answered."""
        self.ids += self._encode(text)

    def say(self, question: Question) -> None:
        """Append a turn of the agent."""
        begin, end = question.mentioned
        targets = {self.image_start + cell for cell in question.named}
        for offset, (a, b) in enumerate(self._spans(question.answer)):
            if a < end and b > begin:
                self.question_looks.append((len(self.ids) + offset, targets))
        self._answer(question)

    def ask(self, question: Question) -> None:
        """Append a question and its answer."""
        self.put("<|im_start|>user\n")
        first = len(self.ids)
        self.put(question.text)
        last = len(self.ids)
        if question.noted:
            attended = {place for places in self._noted.values() for place in places}
        else:
            attended = {self.image_start + cell for cell in question.named}
            first = last - 1 if question.skill is Skill.READ else first + 1
        self.question_looks += [(position, attended) for position in range(first, last)]
        self.put("<|im_end|>\n<|im_start|>assistant\n")
        self._answer(question)

    def _answer(self, question: Question) -> None:
        self.asked.append(question)
        self._fill(0)
        right = question.graded()
        spans = self._spans(question.answer)
        source, copy, length = question.copied
        for offset, (a, b) in enumerate(spans):
            attended = self._sources(question, a, b)
            if copy <= a < copy + length:
                said = range(a - copy + source, b - copy + source)
                attended = {len(self.ids) + i for i, (c, d) in enumerate(spans) if c < said.stop and d > said.start}
            self.answer_looks.append((len(self.ids) - 1 + offset, attended))
            self.graded.append(any(right[a:b]))
        self.put(question.answer + "<|im_end|>")
        self.graded.append(True)
        self._fill(len(self.asked))
        self.put("\n")
        self._fill(0)

    def _fill(self, mark: int) -> None:
        """Mark all tokens since the last call."""
        self.answer += [mark] * (len(self.ids) - len(self.answer))
        self.graded += [False] * (len(self.ids) - len(self.graded))

    def _sources(self, question: Question, begin: int, end: int) -> set[int]:
        """Tokens from which characters `begin` to `end` of the answer are read."""
        if question.restated[0] <= begin < question.restated[1]:
            return self._noted.get(question.answer[begin:end].strip(), set())
        if question.skill is Skill.KIND:
            return {place for places in self._noted.values() for place in places}
        return {self.image_start + cell for cells in question.answered[begin:end] for cell in cells}

    def _places(self, opening: list[int], above: Note) -> dict[str, set[int]]:
        """Where each token of the named words stands in the opening, by its text."""
        places: dict[str, set[int]] = {}
        for value in above.values:
            ids = self._encode(f" {value}")
            for start in range(len(opening) - len(ids) + 1):
                if opening[start : start + len(ids)] == ids:
                    for offset, token in enumerate(ids):
                        places.setdefault(str(self._tokenizer.decode([token])).strip(), set()).add(start + offset)
        return places

    def _spans(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer(text, return_offsets_mapping=True)["offset_mapping"])


def _observation(url: str, scroll_px: tuple[int, int]) -> Observation:
    scrolled, hidden = scroll_px
    return Observation(
        screenshot=ImageRef(sha="", width=SIDE, height=SIDE, mime="image/jpeg"),
        url=url,
        title="",
        tabs=[],
        viewport_px=(SIDE, SIDE),
        scroll_px=(0, scrolled),
        page_px=(SIDE, SIDE + hidden),
    )


def _attention_targets(rows: list[list[tuple[int, set[int]]]], length: int) -> AttentionTargets | None:
    """Of (position, targets) by row; places without targets are left out."""
    places = [(row, *look) for row, attended in enumerate(rows) for look in attended if look[1]]
    if not places:
        return None
    targets = torch.zeros(len(places), length, dtype=torch.bool)
    for index, (_, _, where) in enumerate(places):
        targets[index, list(where)] = True
    row, position, _ = zip(*places, strict=True)
    return AttentionTargets(torch.tensor(row), torch.tensor(position), targets)


def _recolour(image: np.ndarray, rng: random.Random) -> np.ndarray:
    """The same screen in another palette: channels swapped, now and then inverted."""
    image = image[..., rng.sample(range(3), 3)]
    return 255 - image if rng.random() < 0.3 else image
