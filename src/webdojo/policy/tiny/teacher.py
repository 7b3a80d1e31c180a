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
from webdojo.policy.tiny.lessons import ROWS, TOKENS, Question, Skill, dense_targets, questions
from webdojo.policy.tiny.pages import Screens


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
    image_start: int
    """Index of the first image token in every row."""
    question_looks: Looks | None
    """From the name in each question to where it stands; None without questions."""
    answer_looks: Looks | None
    """From each answer's tokens to where it is read."""


class Teacher:
    """Makes lessons from screens; what it makes follows from the generator's state alone."""

    def __init__(self, screens: Screens, processor: Processor, questions_per_screen: int) -> None:
        self._screens, self._processor, self._per_screen = screens, processor, questions_per_screen
        self._dense = [dense_targets(screen) for screen in screens.screens]
        encode = processor.encode
        self._before, self._after, self._newline = encode("<|im_start|>user\n"), encode("<|im_end|>"), encode("\n")
        self._between = encode("<|im_end|>\n<|im_start|>assistant\n")
        image = [processor.image_token_id] * TOKENS
        self._opening = [*self._before, *encode("<|vision_start|>"), *image, *encode("<|vision_end|>\n")]
        self._image_start = len(self._before) + 1

    def lesson(self, rng: random.Random, n: int, *, augment: bool, ask: bool) -> Lesson:
        """`n` screens, recoloured if `augment`, with questions if `ask`."""
        picked = [rng.randrange(len(self._screens)) for _ in range(n)]
        pixels, grids, rows, marks = [], [], [], []
        asked: list[Question] = []
        question_looks: list[tuple[int, int, tuple[int, ...]]] = []
        answer_looks: list[tuple[int, int, tuple[int, ...]]] = []
        for row, index in enumerate(picked):
            image = np.array(self._screens.images[index])
            values, grid = self._processor.patchify(_recolour(image, rng) if augment else image)
            pixels.append(values)
            grids.append(grid)
            ids, mark = list(self._opening), [0] * len(self._opening)
            for question in questions(self._screens.screens[index], rng, self._per_screen) if ask else []:
                asked.append(question)
                text = self._processor.encode(question.text)
                prompt = self._before + text + self._between
                end = len(ids) + len(self._before) + len(text)
                first = end - 1 if question.skill is Skill.READ else end - len(text) + 1
                question_looks += [(row, position, question.named) for position in range(first, end)]
                answer = self._processor.encode(question.answer) + self._after
                begin = len(ids) + len(prompt) - 1
                for offset, cells in enumerate(self._read_from(question)):
                    answer_looks.append((row, begin + offset, cells))
                ids += prompt + answer + self._newline
                mark += [0] * len(prompt) + [len(asked)] * len(answer) + [0]
            rows.append(ids)
            marks.append(mark)
        length = max(map(len, rows))
        positions, _ = mrope_positions([self._image_start, (ROWS, ROWS), length - self._image_start - TOKENS])
        return Lesson(
            pixels=torch.cat(pixels),
            grid=torch.cat(grids),
            characters=torch.tensor(np.concatenate([self._dense[i][0] for i in picked])),
            words=torch.tensor(np.concatenate([self._dense[i][1] for i in picked])),
            ids=torch.tensor([row + [self._processor.stop_id] * (length - len(row)) for row in rows]),
            positions=positions[:, None].expand(3, n, length),
            answer=torch.tensor([mark + [0] * (length - len(mark)) for mark in marks]),
            asked=asked,
            image_start=self._image_start,
            question_looks=_looks(question_looks),
            answer_looks=_looks(answer_looks),
        )

    def _read_from(self, question: Question) -> list[tuple[int, ...]]:
        """For each token of the answer the visual tokens that it is read from."""
        spans = self._processor.tokenizer(question.answer, return_offsets_mapping=True)["offset_mapping"]
        return [tuple({c for cells in question.answered[a:b] for c in cells}) for a, b in spans]


def _looks(places: list[tuple[int, int, tuple[int, ...]]]) -> Looks | None:
    """Of (row, position, cells); places without cells are left out."""
    places = [place for place in places if place[2]]
    if not places:
        return None
    cells = torch.zeros(len(places), TOKENS, dtype=torch.bool)
    for index, (_, _, where) in enumerate(places):
        cells[index, list(where)] = True
    rows, positions, _ = zip(*places, strict=True)
    return Looks(torch.tensor(rows), torch.tensor(positions), cells)


def _recolour(image: np.ndarray, rng: random.Random) -> np.ndarray:
    """The same screen in another palette: channels swapped, now and then inverted."""
    image = image[..., rng.sample(range(3), 3)]
    return 255 - image if rng.random() < 0.3 else image
