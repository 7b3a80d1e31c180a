"""Finds, before anything starts, what is wrong with a recipe and shows only when its parts are seen together."""

from __future__ import annotations

from webdojo.envs.task_sets import tasks_of
from webdojo.errors import ConfigError, TaskError
from webdojo.recipe import Recipe


def check_recipe(recipe: Recipe, *, trains: bool, demonstrates: bool) -> None:
    """Check that environment, tasks, reward, harness and engine fit together.

    Args:
        trains: whether online training is to follow; where not, an evaluation is.
        demonstrates: whether demonstrations may be made.

    Raises:
        ConfigError: the environment has no verdict and no other reward is named, the engine cannot train or cannot
            serve the harness, nobody can make the demonstrations, or servers do not reach the environment.
        TaskError: there are no tasks, some cannot be done or scored, or a stage of the curriculum draws none of them.
    """
    env = recipe.env
    reward = recipe.reward.resolved(env.reward, env.name)
    recipe.engine.check(recipe.harness)
    if trains and not recipe.engine.can_train:
        raise ConfigError(f"engine {recipe.engine.name!r} serves a model that cannot be trained: set engine.name=hf")
    if recipe.browser.servers:
        env.check_servers()
    if trains and demonstrates and recipe.sft.demos:
        demos = f"sft.demos = {recipe.sft.demos}"
        if env.oracle is None:
            raise ConfigError(
                f"{demos}: the environment {env.name!r} has no oracle that could demonstrate its tasks: set sft.demos=0"
            )
        if recipe.browser.servers:
            raise ConfigError(
                f"{demos}: demonstrations need browsers of this machine, and browser.servers names others; set "
                "sft.demos=0, or begin without servers and train.iterations=0, and go on with --resume"
            )
    if trains:
        if recipe.tasks.path:
            levels = {task.difficulty for task in tasks_of(env, recipe.tasks, "train", 10_000, recipe.seed)}
        else:
            levels = set(env.difficulty_levels())
        for number, stage in enumerate(recipe.train.stages):
            if not any(stage.difficulty_sampling.get(level, 1) for level in levels):
                raise TaskError(
                    f"train.stages.{number}.difficulty_sampling {stage.difficulty_sampling} leaves none of the "
                    f"difficulties {sorted(levels)} of the training tasks: give one of them a weight"
                )
    for task in tasks_of(env, recipe.tasks, "eval", recipe.evaluate.tasks, recipe.seed):
        env.check(task)
        reward.check(task)
