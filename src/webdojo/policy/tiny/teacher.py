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
from webdojo.policy.tiny.lessons import ROWS, TOKENS, Question, dense_targets, questions
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
        for index in picked:
            image = np.array(self._screens.images[index])
            values, grid = self._processor.patchify(_recolour(image, rng) if augment else image)
            pixels.append(values)
            grids.append(grid)
            ids, mark = list(self._opening), [0] * len(self._opening)
            for question in questions(self._screens.screens[index], rng, self._per_screen) if ask else []:
                asked.append(question)
                prompt = self._before + self._processor.encode(question.text) + self._between
                answer = self._processor.encode(question.answer) + self._after
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
        )


def _recolour(image: np.ndarray, rng: random.Random) -> np.ndarray:
    """The same screen in another palette: channels swapped, now and then inverted."""
    image = image[..., rng.sample(range(3), 3)]
    return 255 - image if rng.random() < 0.3 else image
