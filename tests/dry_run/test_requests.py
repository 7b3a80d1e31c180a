"""What an evaluation asks of an endpoint, as its dry run tells it."""

from __future__ import annotations

from webdojo.dry_run.requests import measuring, request_lines
from webdojo.policy.config import TINY
from webdojo.recipe import load_recipe

CHAT = [
    *("engine={name: chat, model: m, base_url: 'http://127.0.0.1:9/v1', image_tokens: 500}", "evaluate.runs=2"),
    *("evaluate.tasks=5", "evaluate.max_steps=3", "evaluate.sampling.max_tokens=100", "env.difficulties=[1]"),
    *("evaluate.max_steps_by_difficulty={}", "rollout.max_context_tokens=1000"),
]
SEEN = 100
"""Tokens of a screenshot of 320 x 320 px."""


def test_it_counts_the_evaluation_alone_with_full_prompts_and_the_images_as_the_endpoint_counts_them() -> None:
    asked, hours = request_lines(measuring(load_recipe("quickstart", CHAT), TINY))
    tokens = 30 * (1000 - 100 - SEEN + 500)
    assert asked == (
        f"asking http://127.0.0.1:9/v1, at most: 30 requests with 30 images, {tokens:,} tokens in, 3,000 out: no price "
        "is set (engine.price_input, engine.price_output)"
    )
    assert hours.startswith("hours are not estimated")


def test_prices_make_a_bound() -> None:
    priced = load_recipe("quickstart", [*CHAT, "engine.price_input=2", "engine.price_output=8"])
    asked, _ = request_lines(measuring(priced, TINY))
    assert asked.endswith(f": {(39_000 * 2 + 3_000 * 8) / 1e6:.2f} USD")
