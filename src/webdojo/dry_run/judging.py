"""What a run's verdicts will ask of a model and what that costs, and whether the model answers."""

from __future__ import annotations

from webdojo.dry_run.cost import difficulties, estimate
from webdojo.errors import Missing
from webdojo.recipe import Recipe
from webdojo.reward.function import Asked

FEEDBACK_TOKENS = 200
"""Most text tokens of what a browser says about the calls of a turn."""
FACTS = 10
"""Facts that a task is judged by, where its environment does not say how many there may be."""


def judging(recipe: Recipe) -> Asked:
    """What the verdicts on all episodes of a run ask, as `cost.estimate` counts episodes: with horizons reached, and
    every answer read at once."""
    function, tokens = recipe.reward_function, recipe.rollout.sampling.max_tokens + FEEDBACK_TOKENS
    total, usd = Asked(), None
    facts = max(difficulties(recipe) or [FACTS])
    for phase in estimate(recipe):
        if phase.episodes:
            steps = -(-phase.turns // phase.episodes)
            one = function.most_asked(steps, facts, tokens, recipe.browser.viewport_px)
            total = Asked(*(n + phase.episodes * each for n, each in zip(total[:5], one[:5], strict=True)))
            usd = None if one.usd is None else (usd or 0.0) + phase.episodes * one.usd
    return total._replace(usd=usd)


def judging_lines(recipe: Recipe) -> list[str]:
    """The same in lines of text; none where no model is asked."""
    asked = judging(recipe)
    if not asked.requests:
        return []
    usd = "no price is set" if asked.usd is None else f"{asked.usd:,.0f} USD"
    return [
        f"judging, at most: {asked.requests:,} requests with {asked.images:,} images, {asked.text_tokens:,} text and "
        f"{asked.image_tokens:,} image tokens in, {asked.answer_tokens:,} out: {usd}",
    ]


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
