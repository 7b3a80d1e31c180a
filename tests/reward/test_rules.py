import pytest

from tests.rollout.records import task, trajectory
from webdojo.errors import TaskError
from webdojo.reward.rules import score
from webdojo.sites.goal import fact, place
from webdojo.sites.verdict.answers import number
from webdojo.tasks import load
from webdojo.types import Parsed, Reward, Termination, Trajectory


def finished(termination: Termination = Termination.COMPLETED, answer: str | None = "7", *errors: str) -> Trajectory:
    """An episode whose goal is the answer 7; `errors` are format errors of turns before the last."""
    done = trajectory(task("t"), 0)
    done.task.evaluator = {"facts": [fact("The answer is 7", answer=number(7))]}
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


def test_the_facts_that_hold_are_kept_however_an_episode_ended():
    def after(termination: Termination, answer: str | None) -> Reward:
        episode = finished(termination, answer)
        shown = fact("The page was shown", visited=[place("/a")])
        episode.task.evaluator["facts"].insert(0, shown)
        episode.state = {episode.task.website: {"state": {}, "visited": ["/a"], "seen": []}}
        return score(episode)

    assert after(Termination.COMPLETED, "7").facts == [True, True]
    assert after(Termination.COMPLETED, "8").facts == [True, False]
    half = after(Termination.MAX_STEPS, None)
    assert (half.value, half.success, half.facts) == (0, False, [True, False])
    assert after(Termination.FORMAT_ERROR, None).facts == []


def test_a_reward_that_was_stored_without_facts_still_loads():
    assert Reward.model_validate_json('{"value": 1, "success": true}').facts == []


@pytest.mark.parametrize("answer", [None, "", "  "])
def test_no_answer_scores_zero(answer):
    reward = score(finished(Termination.COMPLETED, answer))
    assert (reward.value, reward.success, reward.reason) == (0, False, "no answer")


def test_only_a_permanent_failure_excuses_the_agent():
    def under(event: str, answer: str) -> Trajectory:
        done = finished(Termination.COMPLETED, answer)
        done.state = {done.task.website: {"cart": {}, "visited": [], "seen": [], "perturbations": [_noted(event)]}}
        return done

    lost = score(under("outage", "8"))
    assert (lost.value, lost.success, lost.valid) == (0, False, False)
    assert lost.reason == "the web failed: the site was down (site.localhost, page 2)"
    assert score(under("outage", "7")).valid and score(under("outage", "7")).success
    passable = score(under("bot_check", "8"))
    assert (passable.value, passable.valid) == (0, True)
    unfinished = under("bot_wall", "7")
    unfinished.termination = Termination.MAX_STEPS
    assert not score(unfinished).valid
    unfinished.termination = Termination.FORMAT_ERROR
    assert score(unfinished).value == -1 and score(unfinished).valid


def _noted(event: str) -> dict[str, object]:
    return {"page": 2, "event": event}


def test_a_format_error_in_any_turn_costs_the_reward_but_not_the_success():
    reward = score(finished(Termination.COMPLETED, "7", "no think end tag"))
    assert (reward.value, reward.success, reward.valid) == (0, True, True)
    assert reward.reason.startswith("format error in turn 1")


def test_a_task_without_an_evaluator_needs_a_judge():
    unjudged = finished()
    unjudged.task.evaluator = {}
    with pytest.raises(TaskError, match="'t' has no evaluator"):
        score(unjudged)


def test_an_evaluator_that_rules_do_not_know_needs_a_judge():
    unjudged = finished()
    unjudged.task.evaluator = {"type": "webarena", "eval_types": ["string_match"]}
    with pytest.raises(TaskError, match="'t' has an evaluator of type 'webarena', so rules cannot score it"):
        score(unjudged)


# --- MiniWoB++: the page is the judge ---------------------------------------------------------


def played(raw_reward: float | None, termination: Termination = Termination.COMPLETED, *errors: str) -> Trajectory:
    """An episode on a page that ended with a reward, or did not end."""
    done = finished(termination, None, *errors)
    task = next(task for task in load("miniwob") if task.metadata["env"] == "click-test")
    episode = {"done": raw_reward is not None, "raw_reward": raw_reward or 0.0}
    return done.model_copy(update={"task": task, "state": {task.website: episode}})


@pytest.mark.parametrize(
    ("raw_reward", "value", "success"),
    [(1.0, 1.0, True), (0.25, 0.25, True), (0.0, 0.0, False), (-1.0, 0.0, False), (None, 0.0, False)],
)
def test_a_positive_reward_of_the_page_is_a_success(raw_reward, value, success):
    reward = score(played(raw_reward))
    assert (reward.value, reward.success, reward.valid) == (value, success, True)


def test_the_page_needs_neither_done_nor_an_answer_but_turns_without_format_errors():
    assert score(played(1.0, Termination.MAX_STEPS)).success
    malformed = score(played(1.0, Termination.COMPLETED, "no think end tag"))
    assert (malformed.value, malformed.success) == (0, True)
    assert score(played(1.0, Termination.FORMAT_ERROR)).value == -1
    assert not score(played(1.0, Termination.ENV_ERROR)).valid


def test_a_visit_that_never_saw_its_page_scores_zero():
    lost = played(None).model_copy(update={"state": {}})
    assert (score(lost).value, score(lost).reason) == (0, "the page did not end its episode")
