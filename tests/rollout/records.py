"""Finished episodes as group logic sees them: a task, an outcome and a weight version."""

from tests.trainer.records import BLANK, prompt, response, turn
from webdojo.store.images import ImageStore
from webdojo.types import ImageRef, Reward, Task, Termination, Trajectory


def task(name: str) -> Task:
    return Task(id=name, instruction="Do it", start_url="http://site.localhost/", website="site.localhost")


def reward_of(outcome: float | Termination) -> Reward:
    if isinstance(outcome, Termination):
        return Reward(value=0, success=False, valid=False, reason=str(outcome))
    return Reward(value=outcome, success=outcome == 1)


def screen(images: ImageStore) -> ImageRef:
    """A stored screenshot, for episodes whose images are looked for."""
    return images.put(b"a screen", 64, 64, "image/png")


def trajectory(
    of: Task,
    outcome: float | Termination,
    version: int = 0,
    trajectory_id: str = "x-0",
    group: str = "",
    image: ImageRef = BLANK,
) -> Trajectory:
    """One turn by weight version `version`; the outcome is a reward, or the infra failure that ended it."""
    return Trajectory(
        id=trajectory_id,
        task=of,
        group=group,
        turns=[turn(prompt([2], image), response([1], version=version))],
        termination=outcome if isinstance(outcome, Termination) else Termination.COMPLETED,
        reward=reward_of(outcome),
    )
