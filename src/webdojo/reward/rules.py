"""The reward of OpenWebRL A.4, with the site's own evaluator in the place of the judge.

Tasks of the embedded web, checked on their final state:

    -1       the episode ended by repeated format errors
     0       it did not end with `done`, gave no answer, or any of its turns had a format error
     verdict otherwise: 1 where the evaluator finds the goal reached, else 0

Tasks of MiniWoB++ are judged by their page, which ends the episode by itself: no `done`, no answer needed.

    -1       the episode ended by repeated format errors
     0       the page gave no reward, 0 or a negative one, or any turn had a format error
     reward  otherwise: the page's own, above 0 and at most 1, without its discount for time; any is a success

The paper's format score F is 1 only if every turn parsed without an error, not only the last one.
Episodes that the web or the system broke are invalid: they train nothing (`Reward.valid`). So are those that
failed after something that no agent can get past; other perturbations are the agent's own affair.
`Reward.facts` says how far an episode came, however it ended; it earns nothing.
`Reward.success` is the evaluator's verdict alone, so that a recovered format error costs the
agent its training reward but does not hide that the task was done.
"""

from __future__ import annotations

from webdojo.errors import TaskError
from webdojo.sites.miniwob.server import episode_over
from webdojo.sites.perturbations.state import permanent_failure
from webdojo.sites.verdict import evaluate
from webdojo.tasks.miniwob import KIND as MINIWOB
from webdojo.types import Reward, Task, Termination, Trajectory


def by_rules(task: Task) -> bool:
    """Whether `score` can judge a task; where not, a judge has to."""
    return bool(task.evaluator) and task.evaluator.get("type") in (None, MINIWOB)


def score(trajectory: Trajectory) -> Reward:
    """The reward of a finished episode of an embedded task or of one of MiniWoB++.

    Raises:
        TaskError: the task has no evaluator, or none that rules can check.
    """
    task, termination = trajectory.task, trajectory.termination
    if not by_rules(task):
        has = f"has an evaluator of type {task.evaluator['type']!r}" if task.evaluator else "has no evaluator"
        raise TaskError(f"task {task.id!r} {has}, so rules cannot score it; a judge has to")
    if termination.is_infra:
        return Reward(value=0.0, success=False, valid=False, reason=f"{termination}: {trajectory.error}")
    if termination is Termination.FORMAT_ERROR:
        return Reward(value=-1.0, success=False, reason="repeated format errors")
    reward = _by_page(trajectory) if task.kind == MINIWOB else _by_state(trajectory)
    if not reward.success and (cause := permanent_failure(trajectory.state)):
        return Reward(value=0.0, success=False, valid=False, reason=f"the web failed: {cause}")
    malformed = next((n for n, turn in enumerate(trajectory.turns, 1) if turn.parsed.error is not None), None)
    if malformed is not None:
        reward.value, reward.reason = 0.0, f"format error in turn {malformed}; {reward.reason}"
    return reward


def _by_state(trajectory: Trajectory) -> Reward:
    url = trajectory.final.url if trajectory.final is not None else ""
    verdict = evaluate(trajectory.task, trajectory.answer, url, trajectory.state)
    success, reason = verdict.success, verdict.reason
    if trajectory.termination is not Termination.COMPLETED:
        success, reason = False, f"unfinished: {trajectory.termination}"
    elif trajectory.answer is None or not trajectory.answer.strip():
        success, reason = False, "no answer"
    return Reward(value=float(success), success=success, reason=reason, facts=list(verdict.facts))


def _by_page(trajectory: Trajectory) -> Reward:
    if not episode_over(trajectory.state):
        return Reward(value=0.0, success=False, reason="the page did not end its episode")
    raw = float(trajectory.state[trajectory.task.website]["raw_reward"])
    return Reward(value=max(0.0, raw), success=raw > 0, reason=f"the page's reward is {raw:g}")
