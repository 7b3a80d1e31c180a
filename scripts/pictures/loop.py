"""One iteration of online RL, with the numbers of the quickstart: `docs/training-loop.md`."""

from __future__ import annotations

from scripts.pictures.canvas import Canvas
from webdojo.recipe import load_recipe
from webdojo.trainer.advantages import ADVANTAGES

ALT = (
    "The loop of online RL: tasks, episodes, rewards, a filter of groups, advantages, packed token weights, an update, "
    "a checkpoint and new weights for the engine, under which episodes go on"
)
W, H, GAP, LEFT = 170, 84, 16, 16


def picture() -> str:
    recipe = load_recipe("quickstart")
    train, rollout = recipe.train, recipe.rollout
    assert "mean_group" in ADVANTAGES.get(train.advantage).formula
    canvas = Canvas(352, ALT)
    canvas.text(LEFT, 28, "One iteration of online RL", size=15, bold=True)
    canvas.note(744, 28, f"numbers: recipe {recipe.name}", anchor="end")
    above = [
        ("1  Tasks", ["from the seed, in order", f"sampler: {recipe.tasks.sampler.name}"], "plain"),
        ("2  Episodes", [f"{rollout.concurrency} at once", f"{rollout.group_size} of each task: a group"], "blue"),
        ("3  Reward", [f"by {recipe.reward_function.name}, from what", "the sites have recorded"], "amber"),
        ("4  Filter", ["equal rewards teach", f"nothing; {train.groups_per_iteration} groups train"], "amber"),
    ]
    below = [
        ("8  New weights", ["the engine takes them", "between two tokens"], "blue"),
        ("7  Checkpoint", ["complete, or not there", f"version n + 1 of {train.iterations}"], "plain"),
        ("6  Update", [f"{train.ppo_epochs} epochs, {train.policy_loss} loss,", f"KL {train.kl_coef:g}"], "green"),
        ("5  Advantages", [f"{train.advantage}, then a weight", "for each token, packed"], "green"),
    ]
    xs = [LEFT + at * (W + GAP) for at in range(4)]
    for x, (title, notes, tone) in zip(xs, above, strict=True):
        canvas.box(x, 50, W, H, title, notes, tone)
    for x, (title, notes, tone) in zip(xs, below, strict=True):
        canvas.box(x, 222, W, H, title, notes, tone)
    for x in xs[:3]:
        canvas.arrow((x + W, 92), (x + W + GAP, 92))
        canvas.arrow((x + W + GAP, 264), (x + W, 264))
    middle = xs[3] + W / 2
    canvas.arrow((middle, 134), (middle, 222))
    canvas.arrow((xs[0] + W / 2, 222), (xs[0] + W / 2, 178), (xs[1] + W / 2, 178), (xs[1] + W / 2, 134))
    canvas.note(xs[1] + W / 2 + 12, 170, "episodes that run go on under")
    canvas.note(xs[1] + W / 2 + 12, 186, "the new weights")
    canvas.note(middle - 12, 182, "what is left over waits", anchor="end")
    canvas.note(LEFT, 334, "Each episode is stored before it is used, and trains once: loops/online/loop.py")
    return canvas.svg
