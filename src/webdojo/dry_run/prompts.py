"""Whether the prompts of a recipe fit into its context, tried on a made-up page before anything starts."""

from __future__ import annotations

import math
from typing import NamedTuple

from webdojo.agent.chatml import CHATML
from webdojo.agent.harness import Codec
from webdojo.agent.harnesses import HARNESSES
from webdojo.errors import ConfigError
from webdojo.policy.config import screenshot_tokens
from webdojo.recipe import Recipe
from webdojo.types import FinishReason, ImageRef, Observation, Response, Task

CHARACTERS = 4
"""Of a token of text, roughly."""


class RoughCodec:
    """Counts the tokens of a model whose tokenizer is not here."""

    chat = CHATML

    def __init__(self, token_px: int) -> None:
        self._token_px = token_px
        """Side of the square that a visual token stands for."""

    def encode(self, text: str) -> list[int]:
        return [0] * math.ceil(len(text) / CHARACTERS)

    def decode(self, ids: list[int]) -> str:
        return ""

    def image_tokens(self, width: int, height: int) -> int:
        return screenshot_tokens((width, height), self._token_px)


class Needed(NamedTuple):
    """What the shortest prompt of a recipe takes, in tokens."""

    tokens: int
    screenshot: int
    """Of these, those of its screenshot; 0 for agents that see none."""


def shortest_prompt(recipe: Recipe, codec: Codec) -> Needed:
    """Let the recipe's harness write the first two prompts of an episode, as short as it can.

    Raises:
        ConfigError: somebody's own harness raises; the line names it.
    """
    size = recipe.browser.viewport_px
    image = ImageRef(sha="0" * 64, width=size[0], height=size[1], mime="image/jpeg")
    page = Observation(screenshot=image, url="http://a.test/", title="", tabs=[], viewport_px=size)
    task = Task(id="trial", instruction="", start_url=page.url, website="a.test")
    harness = recipe.build_harness(codec)
    with HARNESSES.running(recipe.harness.name):
        conversation = harness.start(task, page)
        prompt = conversation.prompt(0)
        parsed = conversation.parse("")
        said = Response(ids=[], logprobs=[], versions=[], finish_reason=FinishReason.STOP)
        conversation.add(said, parsed, [], page)
        conversation.prompt(0)
        images = prompt.images
    return Needed(len(prompt), codec.image_tokens(*size) if images else 0)


def check_prompts(recipe: Recipe, codec: Codec, *, trains: bool) -> list[str]:
    """Lines about screenshots that a recipe asks for and that do not fit into its prompts; without `trains` an
    evaluation follows, not training.

    Raises:
        ConfigError: not even the shortest prompt fits beside a response, or the harness fails.
    """
    most, needed = recipe.rollout.max_context_tokens, shortest_prompt(recipe, codec)
    lines = []
    used = {"evaluate": recipe.evaluate.sampling} | ({"rollout": recipe.rollout.sampling} if trains else {})
    for section, max_tokens in ((name, sampling.max_tokens) for name, sampling in used.items()):
        room = most - max_tokens
        if needed.tokens > room:
            screenshot = f"a screenshot of {needed.screenshot:,} and " if needed.screenshot else ""
            smaller = " or browser.viewport_px" if needed.screenshot else ""
            raise ConfigError(
                f"rollout.max_context_tokens {most:,} leaves {room:,} tokens for a prompt beside "
                f"{section}.sampling.max_tokens {max_tokens:,}, but the shortest takes {needed.tokens:,}: {screenshot}"
                f"the protocol; raise rollout.max_context_tokens, or lower {section}.sampling.max_tokens{smaller}"
            )
        fit = 1 + (room - needed.tokens) // needed.screenshot if needed.screenshot else recipe.harness.images
        if fit < recipe.harness.images:
            lines.append(
                f"the harness keeps {recipe.harness.images} screenshots, but a prompt of {room:,} tokens "
                f"(rollout.max_context_tokens less {section}.sampling.max_tokens) has room for {fit}: raise the first"
            )
    return lines
