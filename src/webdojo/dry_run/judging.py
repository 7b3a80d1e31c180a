"""What a run's verdicts will ask of a model and what that costs, and whether the model answers."""

from __future__ import annotations

from webdojo.dry_run.cost import AT_LEAST, difficulties, estimate
from webdojo.errors import Missing
from webdojo.recipe import Recipe
from webdojo.reward.function import Asked

FEEDBACK_TOKENS = 200
"""Most text tokens of what a browser says about the calls of a turn."""
FACTS = 10
"""Facts that a task is judged by, where its environment does not say how many there may be."""


def judging(recipe: Recipe, groups: float = 1.0) -> Asked:
    """What the verdicts on all episodes of a run ask, as `cost.estimate` counts episodes: with horizons reached, and
    every answer read at once. So many times the groups that train are rolled out."""
    function, tokens = recipe.reward_function, recipe.rollout.sampling.max_tokens + FEEDBACK_TOKENS
    total, usd = Asked(), None
    facts = max(difficulties(recipe) or [FACTS])
    for phase in estimate(recipe):
        if phase.episodes:
            steps = -(-phase.turns // phase.episodes)
            one = function.most_asked(steps, facts, tokens, recipe.browser.viewport_px)
            episodes = round(phase.episodes * (groups if phase.name == AT_LEAST else 1))
            total = Asked(*(n + episodes * each for n, each in zip(total[:5], one[:5], strict=True)))
            usd = None if one.usd is None else (usd or 0.0) + episodes * one.usd
    return total._replace(usd=usd)


def judging_lines(recipe: Recipe) -> list[str]:
    """The same in lines of text, and what dynamic sampling may add; none where no model is asked."""
    asked, train = judging(recipe), recipe.train
    if not asked.requests:
        return []
    lines = [
        f"judging these episodes, at most: {asked.requests:,} requests with {asked.images:,} images, "
        f"{asked.text_tokens:,} text and {asked.image_tokens:,} image tokens in, {asked.answer_tokens:,} out: "
        f"{_price(asked)}",
    ]
    if train.iterations and train.dynamic_sampling:
        most = judging(recipe, times := train.most_groups / train.groups_per_iteration)
        bound = "" if most.usd is None else "; reward.engine.budget_usd is the bound of what is paid"
        lines.append(
            f"  dynamic sampling rolls out more, up to {times:g} times the groups that train "
            f"(train.max_groups_per_iteration): {most.requests:,} requests, {_price(most)}{bound}"
        )
    return lines


def _price(asked: Asked) -> str:
    return "no price is set" if asked.usd is None else f"{asked.usd:,.0f} USD"


def answer_lines(recipe: Recipe) -> list[str]:
    """Whether the judge's endpoint answers; nothing where there is none, or its key is not there."""
    function = recipe.reward_function
    if not function.address:
        return []
    try:
        silence = function.silence()
    except Missing:
        return []
    return [f"judge: {function.address} {f'does not answer: {silence}' if silence else 'answers'}"]
