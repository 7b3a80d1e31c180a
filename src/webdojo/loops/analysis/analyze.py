"""Ask questions about runs: one pass over the trajectories of each, one table for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from webdojo.errors import ConfigError, StoreError
from webdojo.loops.analysis.questions import QUESTIONS
from webdojo.loops.analysis.table import RUN, Answer, Measured, Question, Setting, Table
from webdojo.loops.judging.audit import outcome
from webdojo.loops.judging.errors import category_of
from webdojo.loops.judging.verdicts import ERRORS, logs_of, read_verdicts
from webdojo.store.run import RunStore
from webdojo.types import Reward

T = TypeVar("T")


def chosen(names: Sequence[str]) -> list[Question[Any]]:
    """The questions of these names, or all without names.

    Raises:
        ConfigError: there is no such question.
    """
    known = {question.name: question for question in QUESTIONS}
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"no question {unknown[0]!r}: choose among {', '.join(known)}")
    return [known[name] for name in names] or list(QUESTIONS)


def number_of_episodes(runs: Sequence[Path], phases: Sequence[str] = ()) -> int:
    """How many trajectories of these phases, or of all, runs hold now.

    Raises:
        StoreError: a folder holds no run, or no run has such a phase.
    """
    counted: dict[str, int] = {}
    for run in runs:
        with RunStore.open(run, readonly=True) as store:
            for phase, number in store.count().items():
                counted[phase] = counted.get(phase, 0) + number
    if unknown := [phase for phase in phases if phase not in counted]:
        raise StoreError(
            f"no phase {unknown[0]!r} in {', '.join(map(str, runs))} (there: {', '.join(counted) or 'none'})"
        )
    return sum(counted[phase] for phase in phases or counted)


def analyze(
    runs: Sequence[Path],
    phases: Sequence[str] = (),
    questions: Sequence[Question[Any]] = QUESTIONS,
    on_episode: Callable[[], None] = lambda: None,
) -> list[Table]:
    """The answers of these runs, a table for each question; without phases, of all.

    Runs may be under way. They are named by their folders, and by the whole path where two folders have one name.
    """
    folders = [run.resolve().name for run in runs]
    names = folders if len({*folders}) == len(runs) else [str(run) for run in runs]
    answers = {name: _answers(run, phases, questions, on_episode) for name, run in zip(names, runs, strict=True)}
    return [_table(question, {name: each[question.name] for name, each in answers.items()}) for question in questions]


def _answers(
    run: Path, phases: Sequence[str], questions: Sequence[Question[Any]], on_episode: Callable[[], None]
) -> dict[str, Answer]:
    measured: dict[str, list[Measured[Any]]] = {question.name: [] for question in questions}
    with RunStore.open(run, readonly=True) as store:
        setting = setting_of(store)
        for row, trajectory in store.stream(phases):
            for question in questions:
                measured[question.name].append(Measured(row, question.measure(trajectory, setting)))
            on_episode()
    return {question.name: question.summarize(measured[question.name]) for question in questions}


def setting_of(store: RunStore) -> Setting:
    """What the run's recipe and the logs of its judges say."""
    harness = (yaml.safe_load(store.recipe_yaml) or {}).get("harness") or {}
    return Setting(
        restart_url=harness.get("restart_url", ""),
        memory_delta=harness.get("memory_delta", False),
        verdicts=_read(logs_of(store.path), outcome),
        categories=_read(logs_of(store.path, ERRORS), category_of),
    )


def _read(logs: Mapping[str, Path], of: Callable[[Reward], T]) -> dict[str, dict[str, T]]:
    """What each log says of each episode; verdicts, which hold all that was asked, are not kept."""
    return {judge: {id: of(reward) for id, reward in read_verdicts(log)} for judge, log in logs.items()}


def _table(question: Question[Any], answers: dict[str, Answer]) -> Table:
    several = len(answers) > 1
    return Table(
        name=question.name,
        title=question.title,
        paper=question.paper,
        columns=(RUN, *question.columns) if several else question.columns,
        plots=question.plots,
        rows=[(name, *row) if several else row for name, answer in answers.items() for row in answer.rows],
        notes=[f"{name}: {note}" if several else note for name, answer in answers.items() for note in answer.notes],
        missing=[f"{name}: {answer.missing}" for name, answer in answers.items() if answer.missing],
    )
