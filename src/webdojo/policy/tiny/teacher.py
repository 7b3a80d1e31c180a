"""Lessons: screens and questions about them as one padded batch, ready for a forward pass.

A row is one screen followed by its questions and answers, so that one pass of the vision tower
serves many questions. Colours change at random while training: shapes are what is to be read.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import torch

from webdojo.policy.positions import mrope_positions
from webdojo.policy.processor import Processor
from webdojo.policy.tiny.gaze import Looks
from webdojo.policy.tiny.lessons import ROWS, TOKENS, Note, Question, Skill, dense_targets, note, questions
from webdojo.policy.tiny.pages import Screens

NOTED = 0.7
"""Share of the screens with a task above them."""


@dataclass
class Lesson:
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
    asked: list[Question]
    question_looks: Looks | None
    """From the name in each question to where it stands; None without questions."""
    answer_looks: Looks | None
    """From each answer's tokens to where it is read."""


class Teacher:
    """Makes lessons from screens; what it makes follows from the generator's state alone."""

    def __init__(self, screens: Screens, processor: Processor, questions_per_screen: int) -> None:
        self._screens, self._processor, self._per_screen = screens, processor, questions_per_screen
        self._dense = [dense_targets(screen) for screen in screens.screens]

    def lesson(self, rng: random.Random, n: int, *, augment: bool, ask: bool) -> Lesson:
        """`n` screens, recoloured if `augment`, with notes and questions if `ask`."""
        picked = [rng.randrange(len(self._screens)) for _ in range(n)]
        pixels, grids = [], []
        rows: list[_Row] = []
        for index in picked:
            image = np.array(self._screens.images[index])
            values, grid = self._processor.patchify(_recolour(image, rng) if augment else image)
            pixels.append(values)
            grids.append(grid)
            screen = self._screens.screens[index]
            above = note(screen, rng) if ask and rng.random() < NOTED else None
            row = _Row(self._processor, above)
            for question in questions(screen, rng, self._per_screen, above) if ask else []:
                row.ask(question)
            rows.append(row)
        length = max(len(row.ids) for row in rows)
        positions = [
            mrope_positions([row.image_start, (ROWS, ROWS), length - row.image_start - TOKENS])[0] for row in rows
        ]
        starts = np.cumsum([0, *(len(row.asked) for row in rows)]).tolist()
        return Lesson(
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
            asked=[question for row in rows for question in row.asked],
            question_looks=_looks([row.question_looks for row in rows], length),
            answer_looks=_looks([row.answer_looks for row in rows], length),
        )


class _Row:
    """The tokens of one screen and its questions, as they are put one after the other."""

    def __init__(self, processor: Processor, above: Note | None) -> None:
        self._encode, self._tokenizer = processor.encode, processor.tokenizer
        self.ids: list[int] = []
        self._noted: list[tuple[int, int, int]] = []
        """(begin, end, position) of each token of the note's name: its characters and its place."""
        if above is not None:
            self._put("<|im_start|>system\ntask ")
            begin = above.text.index(above.name)
            start = len(self.ids)
            spans = self._tokenizer(" " + above.text, return_offsets_mapping=True)["offset_mapping"]
            self.ids[-1:] = self._encode(" " + above.text)
            for offset, (a, b) in enumerate(spans):
                a, b = max(a - 1, 0) - begin, b - 1 - begin
                if b > 0 and a < len(above.name):
                    self._noted.append((a, b, start - 1 + offset))
            self._put("<|im_end|>\n")
        self._put("<|im_start|>user\n<|vision_start|>")
        self.image_start = len(self.ids)
        self.ids += [processor.image_token_id] * TOKENS
        self._put("<|vision_end|>\n")
        self.answer = [0] * len(self.ids)
        self.asked: list[Question] = []
        self.question_looks: list[tuple[int, set[int]]] = []
        """(position, tokens of the row to look at)."""
        self.answer_looks: list[tuple[int, set[int]]] = []

    def ask(self, question: Question) -> None:
        """Append a question and its answer."""
        self.asked.append(question)
        self._put("<|im_start|>user\n")
        first = len(self.ids)
        self._put(question.text)
        last = len(self.ids)
        if question.noted:
            looks = {position for *_, position in self._noted}
        else:
            looks = {self.image_start + cell for cell in question.named}
            first = last - 1 if question.skill is Skill.READ else first + 1
        self.question_looks += [(position, looks) for position in range(first, last)]
        self._put("<|im_end|>\n<|im_start|>assistant\n")
        self.answer += [0] * (len(self.ids) - len(self.answer))
        spans = self._tokenizer(question.answer, return_offsets_mapping=True)["offset_mapping"]
        for offset, (a, b) in enumerate(spans):
            self.answer_looks.append((len(self.ids) - 1 + offset, self._sources(question, a, b)))
        self._put(question.answer + "<|im_end|>")
        self.answer += [len(self.asked)] * (len(self.ids) - len(self.answer))
        self._put("\n")
        self.answer.append(0)

    def _sources(self, question: Question, begin: int, end: int) -> set[int]:
        """Tokens from which characters `begin` to `end` of the answer are read."""
        if question.skill is Skill.NAME:
            return {position for a, b, position in self._noted if a < end and b > begin}
        if question.skill is Skill.KIND:
            return {self._noted[-1][-1]}
        return {self.image_start + cell for cells in question.answered[begin:end] for cell in cells}

    def _put(self, text: str) -> None:
        self.ids += self._encode(text)


def _looks(rows: list[list[tuple[int, set[int]]]], length: int) -> Looks | None:
    """Of (position, targets) by row; places without targets are left out."""
    places = [(row, *look) for row, looks in enumerate(rows) for look in looks if look[1]]
    if not places:
        return None
    targets = torch.zeros(len(places), length, dtype=torch.bool)
    for index, (_, _, where) in enumerate(places):
        targets[index, list(where)] = True
    row, position, _ = zip(*places, strict=True)
    return Looks(torch.tensor(row), torch.tensor(position), targets)


def _recolour(image: np.ndarray, rng: random.Random) -> np.ndarray:
    """The same screen in another palette: channels swapped, now and then inverted."""
    image = image[..., rng.sample(range(3), 3)]
    return 255 - image if rng.random() < 0.3 else image
