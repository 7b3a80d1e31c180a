"""What a run will ask of the endpoint that serves its model, and what that costs."""

from __future__ import annotations

from webdojo.dry_run.cost import estimate, seen_tokens
from webdojo.dry_run.memory import changed
from webdojo.recipe import Recipe


def measuring(recipe: Recipe, path: str) -> Recipe:
    """The same recipe without training, for the evaluation of the model at a path."""
    for section, without in (
        ("model", {"path": path}),
        ("sft", {"demos": 0, "data": type(recipe.sft)().data}),
        ("cycles", {"rounds": 0}),
        ("train", {"iterations": 0}),
    ):
        recipe = changed(recipe, section, **without)
    return recipe


def request_lines(recipe: Recipe) -> list[str]:
    """The requests of an evaluation with their tokens and their price, in lines of text: upper bounds, with horizons
    reached and prompts that fill `rollout.max_context_tokens`."""
    engine, kept = recipe.engine, recipe.harness.images
    size, most = recipe.browser.viewport_px, recipe.rollout.max_context_tokens - recipe.evaluate.sampling.max_tokens
    phases = estimate(recipe)
    turns, sampled = sum(each.turns for each in phases), sum(each.sampled_tokens for each in phases)
    text = max(most - kept * seen_tokens(recipe, None), 0)
    tokens = turns * (text + kept * engine.image_cost(size))
    usd = engine.price(tokens, sampled)
    price = "no price is set (engine.price_input, engine.price_output)" if usd is None else f"{usd:,.2f} USD"
    return [
        f"asking {engine.address}, at most: {turns:,} requests with {turns * kept:,} images, {tokens:,} tokens in, "
        f"{sampled:,} out: {price}",
        "hours are not estimated: they are those of the endpoint",
    ]
