"""All questions, in the order in which they are answered. A new one is a module with a `QUESTION`, and a line here."""

from __future__ import annotations

from typing import Any

from webdojo.loops.analysis import (
    difficulty,
    dynamics,
    errors,
    judges,
    lengths,
    lexical,
    memory,
    model_errors,
    restarts,
    scaling,
    screens,
    websites,
)
from webdojo.loops.analysis.table import Question

QUESTIONS: tuple[Question[Any], ...] = (
    lengths.QUESTION,
    lexical.QUESTION,
    dynamics.QUESTION,
    difficulty.QUESTION,
    screens.QUESTION,
    memory.QUESTION,
    restarts.QUESTION,
    errors.QUESTION,
    model_errors.QUESTION,
    scaling.QUESTION,
    websites.QUESTION,
    judges.QUESTION,
)
