"""Batches: screens and questions about them, padded, ready for a forward pass.

A row is one screen followed by its questions and answers, so that one pass of the vision tower
serves many questions. Some rows open as an episode does, with the agent's system prompt, a task and
sometimes an earlier turn; their first answer is a turn of the agent. Colours change at random in
training, so that the model learns to read shapes.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.policy.model.collate import mrope_positions
from webdojo.policy.model.processor import Processor
from webdojo.sites.content.words import slug
from webdojo.tiny.questions import (
    Note,
    Question,
    ShownTask,
    agent_turn,
    dense_targets,
    draw_note,
    draw_task,
    earlier_turn,
    questions,
)
from webdojo.tiny.screens import ROWS, SIDE, TOKENS, Screen, Screens
from webdojo.tiny.tokenizer import PAGES
from webdojo.tiny.vocabulary import Vocabulary
from webdojo.types import FinishReason, ImageRef, Observation, Parsed, Response, Task

EPISODES = 0.6
"""The share of rows that open as an episode does."""
NOTES = 0.25
"""The share of those in which an earlier turn has said what it read."""
Attended = tuple[int, set[int]]
"""A position in a row, and the tokens of the row that it should attend to."""


class AttentionTargets(NamedTuple):
    """P query positions in a batch, with the tokens that each should attend to."""

    row: torch.Tensor
    """int64 [P]"""
    position: torch.Tensor
    """int64 [P]: index of the token in its row."""
    targets: torch.Tensor
    """bool [P, L]: the tokens of its row that it should attend to; at least one is True."""


@dataclass
class Batch:
    """A batch of B screens."""

    pixels: torch.Tensor
    """float32 [patches, patch dim]"""
    grid: torch.Tensor
    """int64 [B, 3]"""
    characters: torch.Tensor
    """int64 [B * 100, 2]: the character class of both cells of each visual token."""
    words: torch.Tensor
    """int64 [B * 100]: the word class of each visual token, or `NO_WORD`."""
    ids: torch.Tensor
    """int64 [B, L], padded on the right."""
    positions: torch.Tensor
    """int64 [3, B, L]"""
    answer: torch.Tensor
    """int64 [B, L]: 0, or 1 + index in `asked` of the question whose answer this token is part of."""
    graded: torch.Tensor
    """bool [B, L]: the answer tokens that must be right for the answer to be right."""
    asked: list[Question]
    question_attention: AttentionTargets | None
    """From the name in each question to where it stands on the screen; None without questions."""
    answer_attention: AttentionTargets | None
    """From each answer's tokens to what they are read from."""


class BatchSource:
    """Makes batches from screens; a batch depends on the state of the random generator alone."""

    def __init__(self, screens: Screens, processor: Processor, questions_per_screen: int, known: Vocabulary) -> None:
        self._screens, self._processor, self._per_screen = screens, processor, questions_per_screen
        self._known = known
        self._harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), processor)
        self._dense = [dense_targets(screen, known) for screen in screens.screens]

    def batch(self, rng: random.Random, n: int, *, augment: bool, ask: bool) -> Batch:
        """A batch of `n` screens, recoloured if `augment`, with tasks and questions if `ask`."""
        picked = [rng.randrange(len(self._dense)) for _ in range(n)]
        pixels, grids = [], []
        for index in picked:
            image = np.array(self._screens.images[index])
            values, grid = self._processor.patchify(_recolour(image, rng) if augment else image)
            pixels.append(values)
            grids.append(grid)
        rows = [self._row(index, rng, ask) for index in picked]
        ids = pad_sequence([torch.tensor(row.ids) for row in rows], True, self._processor.stop_id)
        length = ids.shape[1]
        positions = [
            mrope_positions([row.image_start, (ROWS, ROWS), length - row.image_start - TOKENS])[0] for row in rows
        ]
        starts = np.cumsum([0, *(len(row.asked) for row in rows)]).tolist()
        answers = [
            [start + mark if mark else 0 for mark in row.answer] for row, start in zip(rows, starts, strict=False)
        ]
        return Batch(
            pixels=torch.cat(pixels),
            grid=torch.cat(grids),
            characters=torch.tensor(np.concatenate([self._dense[i][0] for i in picked])),
            words=torch.tensor(np.concatenate([self._dense[i][1] for i in picked])),
            ids=ids,
            positions=torch.stack(positions, dim=1),
            answer=pad_sequence([torch.tensor(answer) for answer in answers], True),
            graded=pad_sequence([torch.tensor(row.graded) for row in rows], True),
            asked=[question for row in rows for question in row.asked],
            question_attention=_attention_targets([row.question_attention for row in rows], length),
            answer_attention=_attention_targets([row.answer_attention for row in rows], length),
        )

    def _row(self, index: int, rng: random.Random, ask: bool) -> _Row:
        screen, encode = self._screens.screens[index], self._processor.encode
        if not ask or rng.random() > EPISODES:
            image = [self._processor.image_token_id] * TOKENS
            opening = encode("<|im_start|>user\n<|vision_start|>") + image + encode("<|vision_end|>\n")
            row, shown = _Row(self._processor, opening), None
        else:
            shown = draw_task(screen, rng, self._known)
            note = draw_note(screen, rng, self._known) if rng.random() < NOTES else None
            row = _Row(self._processor, self._episode(screen, shown, rng, note), shown)
            row.add_turn(agent_turn(screen, rng, shown, self._known, note))
        asked = self._per_screen - 2 * bool(row.asked)
        for question in questions(screen, rng, asked, self._known, shown) if ask else []:
            row.add_question(question)
        return row

    def _episode(self, screen: Screen, shown: ShownTask, rng: random.Random, note: Note | None) -> list[int]:
        """What the agent reads up to its turn at the screen; a note stands in an earlier turn."""
        start = screen.url[: screen.url.index("/", len("http://")) + 1]
        task = Task(id="", instruction=shown.text, start_url=start, website="")
        here = _observation(screen.url, screen.scroll_px)
        if note is not None or rng.choice((False, False, False, True)):
            before = _observation(f"{start}{rng.choice(PAGES)}/{slug(rng.choice(self._known.things))}", (0, 0))
            conversation = self._harness.start(task, before)
            text, feedback = earlier_turn(screen.url, shown, rng, self._known, note)
            ids = self._processor.encode(text)
            response = Response(ids=ids, logprobs=[], versions=[], finish_reason=FinishReason.STOP)
            conversation.add(response, Parsed(), [feedback], here)
        else:
            conversation = self._harness.start(task, here)
        return conversation.prompt(sys.maxsize).ids(self._processor.image_token_id)


class _Row:
    """The tokens of one screen and its questions, built up piece by piece."""

    def __init__(self, processor: Processor, opening: list[int], shown: ShownTask | None = None) -> None:
        self._encode, self._tokenizer = processor.encode, processor.tokenizer
        self.ids = opening
        self.image_start = opening.index(processor.image_token_id)
        self._task_places = self._places(opening[: self.image_start], shown.values if shown else ())
        """The positions of each token of the words that the task names, by the token's text."""
        self.answer: list[int] = []
        self.graded: list[bool] = []
        self.asked: list[Question] = []
        self.question_attention: list[Attended] = []
        self.answer_attention: list[Attended] = []

    def add_turn(self, question: Question) -> None:
        begin, end = question.mentioned
        targets = {self.image_start + cell for cell in question.name_cells}
        for offset, (a, b) in enumerate(self._spans(question.answer)):
            if a < end and b > begin:
                self.question_attention.append((len(self.ids) + offset, targets))
        self._answer(question)

    def add_question(self, question: Question) -> None:
        self.ids += self._encode("<|im_start|>user\n")
        first = len(self.ids)
        self.ids += self._encode(question.text)
        last = len(self.ids)
        if question.about_task:
            attended = {place for places in self._task_places.values() for place in places}
        else:
            attended = {self.image_start + cell for cell in question.name_cells}
            first = last - 1 if question.skill == "read" else first + 1
        self.question_attention += [(position, attended) for position in range(first, last)]
        self.ids += self._encode("<|im_end|>\n<|im_start|>assistant\n")
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
            self.answer_attention.append((len(self.ids) - 1 + offset, attended))
            self.graded.append(any(right[a:b]))
        self.ids += self._encode(question.answer + "<|im_end|>")
        self.graded.append(True)
        self._fill(len(self.asked))
        self.ids += self._encode("\n")
        self._fill(0)

    def _fill(self, mark: int) -> None:
        """Mark all tokens since the last call."""
        self.answer += [mark] * (len(self.ids) - len(self.answer))
        self.graded += [False] * (len(self.ids) - len(self.graded))

    def _sources(self, question: Question, begin: int, end: int) -> set[int]:
        """The tokens from which characters `begin` to `end` of the answer are read."""
        if question.restated[0] <= begin < question.restated[1]:
            return self._task_places.get(question.answer[begin:end].strip(), set())
        if question.skill == "kind":
            return {place for places in self._task_places.values() for place in places}
        return {self.image_start + cell for cells in question.answer_cells[begin:end] for cell in cells}

    def _places(self, opening: list[int], named: tuple[str, ...]) -> dict[str, set[int]]:
        places: dict[str, set[int]] = {}
        for value in named:
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


def _attention_targets(rows: list[list[Attended]], length: int) -> AttentionTargets | None:
    """The targets as tensors, by row; positions without targets are left out."""
    places = [(row, position, list(to)) for row, attended in enumerate(rows) for position, to in attended if to]
    if not places:
        return None
    row, position, to = zip(*places, strict=True)
    targets = torch.zeros(len(places), length, dtype=torch.bool)
    for index, tokens in enumerate(to):
        targets[index, tokens] = True
    return AttentionTargets(torch.tensor(row), torch.tensor(position), targets)


def _recolour(image: np.ndarray, rng: random.Random) -> np.ndarray:
    """The same screen in another palette: channels swapped, now and then inverted."""
    image = image[..., rng.sample(range(3), 3)]
    return 255 - image if rng.random() < 0.3 else image
