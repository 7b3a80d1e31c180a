"""Why failed episodes failed as a model says, and how often rules say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webdojo.loops.analysis import errors
from webdojo.loops.analysis.table import (
    EPISODES,
    PHASE,
    Answer,
    Measured,
    Plot,
    Question,
    Setting,
    grouped,
    shares,
    texts,
)
from webdojo.loops.failures import short_names
from webdojo.reward.judges.error_category import CATEGORIES
from webdojo.types import Trajectory


class Sorted(NamedTuple):
    by_model: dict[str, str]
    """By the model that was asked, the category that it named."""
    by_rules: str
    """The category by rules; empty where no model has named one."""


def measure(trajectory: Trajectory, setting: Setting) -> Sorted:
    named = {model: each.get(trajectory.id) for model, each in setting.categories.items()}
    said = {model: category for model, category in named.items() if category}
    by_rules = errors.measure(trajectory, setting) if said else None
    return Sorted(said, by_rules[0] if by_rules else "")


def summarize(measured: Sequence[Measured[Sorted]]) -> Answer:
    rows = []
    names = short_names([each.row.id for each in measured])
    for phase, group in grouped(measured, lambda row: row.phase).items():
        for model in dict.fromkeys(model for each in group for model in each.fact.by_model):
            asked = [(each, each.fact.by_model[model]) for each in group if model in each.fact.by_model]
            for category in CATEGORIES:
                found = [each for each, said in asked if said == category]
                if found:
                    same = sum(each.fact.by_rules == category for each in found) / len(found)
                    share = len(found) / len(asked)
                    rows.append((phase, model, category, len(found), share, same, names[found[-1].row.id]))
    return Answer(rows) if rows else Answer(missing="no model was asked about its failures (`webdojo judge errors`)")


QUESTION = Question(
    name="model_errors",
    title="Failed episodes by what went wrong, as a model says",
    paper="OpenWebRL E, Figure 9",
    columns=(PHASE, *texts("model", "category"), EPISODES, *shares("share", "rules_agree"), *texts("example")),
    plots=(Plot("share", "Share of failed episodes", "category", ("share",), ("model",), "phase", bars=True),),
    measure=measure,
    summarize=summarize,
)
