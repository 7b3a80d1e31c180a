"""The reward of OpenWebRL A.4, with the site's own evaluator in the place of the judge.

    -1       the episode ended by repeated format errors
     0       it did not end with `done`, gave no answer, or any of its turns had a format error
     verdict otherwise: 1 where the evaluator finds the goal reached, else 0

The paper's format score F is 1 only if every turn parsed without an error, not only the last one.
Episodes that the web or the system broke are invalid: they train nothing (`Reward.valid`).
`Reward.success` is the evaluator's verdict alone, so that a recovered format error costs the
agent its training reward but does not hide that the task was done.
"""

from __future__ import annotations

from webdojo.errors import TaskError
from webdojo.sites.verdict import evaluate
from webdojo.types import Reward, Termination, Trajectory


def score(trajectory: Trajectory) -> Reward:
    """The reward of a finished episode of an embedded task.

    Raises:
        TaskError: the task has no evaluator.
    """
    task, termination = trajectory.task, trajectory.termination
    if not task.evaluator:
        raise TaskError(f"task {task.id!r} has no evaluator, so rules cannot score it; a judge has to")
    if termination.is_infra:
        return Reward(value=0.0, success=False, valid=False, reason=f"{termination}: {trajectory.error}")
    if termination is Termination.FORMAT_ERROR:
        return Reward(value=-1.0, success=False, reason="repeated format errors")
    if termination is not Termination.COMPLETED:
        return Reward(value=0.0, success=False, reason=f"unfinished: {termination}")
    if trajectory.answer is None or not trajectory.answer.strip():
        return Reward(value=0.0, success=False, reason="no answer")
    assert trajectory.final is not None, "a completed episode has a final screen"
    verdict = evaluate(task, trajectory.answer, trajectory.final.url, trajectory.state)
    malformed = next((n for n, turn in enumerate(trajectory.turns, 1) if turn.parsed.error is not None), None)
    if malformed is not None:
        return Reward(value=0.0, success=verdict.success, reason=f"format error in turn {malformed}; {verdict.reason}")
    return Reward(value=float(verdict.success), success=verdict.success, reason=verdict.reason)
