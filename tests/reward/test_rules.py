import pytest

from tests.rollout.records import task, trajectory
from webdojo.errors import TaskError
from webdojo.reward.rules import score
from webdojo.sites.verdict import number
from webdojo.types import Parsed, Termination, Trajectory


def finished(termination: Termination = Termination.COMPLETED, answer: str | None = "7", *errors: str) -> Trajectory:
    """An episode whose goal is the answer 7; `errors` are format errors of turns before the last."""
    done = trajectory(task("t"), 0)
    done.task.evaluator = {"answer": number(7)}
    done.reward, done.termination, done.answer = None, termination, answer
    done.final = done.turns[0].observation
    malformed = [done.turns[0].model_copy(update={"parsed": Parsed(error=error)}) for error in errors]
    done.turns = malformed + done.turns
    return done


def test_a_completed_episode_gets_the_evaluators_verdict():
    assert score(finished()).value == 1
    assert score(finished()).success
    wrong = score(finished(answer="8"))
    assert (wrong.value, wrong.success, wrong.valid) == (0, False, True)
    assert "'8'" in wrong.reason


@pytest.mark.parametrize(
    ("termination", "value", "valid"),
    [
        (Termination.FORMAT_ERROR, -1, True),
        (Termination.MAX_STEPS, 0, True),
        (Termination.GENERATION_LENGTH, 0, True),
        (Termination.CONTEXT_LENGTH, 0, True),
        (Termination.ENV_ERROR, 0, False),
        (Termination.START_ERROR, 0, False),
        (Termination.TIMEOUT, 0, False),
        (Termination.ABORTED, 0, False),
    ],
)
def test_how_an_episode_ended_decides_before_any_verdict(termination, value, valid):
    reward = score(finished(termination))  # the right answer does not help
    assert (reward.value, reward.success, reward.valid) == (value, False, valid)
    assert termination.value in reward.reason or reward.reason == "repeated format errors"


@pytest.mark.parametrize("answer", [None, "", "  "])
def test_no_answer_scores_zero(answer):
    reward = score(finished(Termination.COMPLETED, answer))
    assert (reward.value, reward.success, reward.reason) == (0, False, "no answer")


def test_a_format_error_in_any_turn_costs_the_reward_but_not_the_success():
    reward = score(finished(Termination.COMPLETED, "7", "no think end tag"))
    assert (reward.value, reward.success, reward.valid) == (0, True, True)
    assert reward.reason.startswith("format error in turn 1")


def test_a_task_without_an_evaluator_needs_a_judge():
    unjudged = finished()
    unjudged.task.evaluator = {}
    with pytest.raises(TaskError, match="'t' has no evaluator"):
        score(unjudged)
