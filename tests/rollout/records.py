"""Finished episodes as group logic sees them: a task, an outcome and a weight version."""

from webdojo.types import (
    FinishReason,
    ImageRef,
    Observation,
    Parsed,
    Prompt,
    Response,
    Reward,
    Task,
    Termination,
    Trajectory,
    Turn,
)


def task(name: str) -> Task:
    return Task(id=name, instruction="Do it", start_url="http://site.localhost/", website="site.localhost")


def reward_of(outcome: float | Termination) -> Reward:
    if isinstance(outcome, Termination):
        return Reward(value=0, success=False, valid=False, reason=str(outcome))
    return Reward(value=outcome, success=outcome == 1)


def trajectory(
    of: Task, outcome: float | Termination, version: int = 0, trajectory_id: str = "x-0", group: str = ""
) -> Trajectory:
    """One turn by weight version `version`; the outcome is a reward, or the infra failure that ended it."""
    seen = Observation(
        screenshot=ImageRef(sha="0" * 64, width=320, height=320),
        url=of.start_url,
        title="",
        tabs=[],
        viewport_px=(320, 320),
    )
    response = Response(ids=[1], logprobs=[-1.0], versions=[version], finish_reason=FinishReason.STOP)
    turn = Turn(observation=seen, prompt=Prompt(segments=()), response=response, text="", parsed=Parsed())
    return Trajectory(
        id=trajectory_id,
        task=of,
        group=group,
        turns=[turn],
        termination=outcome if isinstance(outcome, Termination) else Termination.COMPLETED,
        reward=reward_of(outcome),
    )
