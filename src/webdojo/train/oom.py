"""Out of memory in an optimizer step, told so that a user can act on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from webdojo.config import TrainConfig
from webdojo.errors import TrainError
from webdojo.policy.oom import is_out_of_memory
from webdojo.train.batch import Sample


@contextmanager
def row_in_memory(tokens: int, members: Sequence[Sample], config: TrainConfig) -> Iterator[None]:
    """What runs within the block computes a packed row of so many tokens.

    Raises:
        TrainError: memory ran out; names the row and what to lower.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        images = {image.sha for sample in members for image in sample.prompt.images}
        longest = max(map(len, members))
        raise TrainError(
            f"out of memory in a row of {tokens} tokens ({len(members)} turns, the longest of {longest} tokens, "
            f"{len(images)} screenshots); the weights are as before the step; {_what_to_lower(longest, config)}"
        ) from error


@contextmanager
def moments_in_memory(parameters: int, config: TrainConfig) -> Iterator[None]:
    """What runs within the block is the optimizer's step over so many values, the first of which makes its moments.

    Raises:
        TrainError: memory ran out; names what to change.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        smaller = "train.optimizer=adamw_8bit or " if config.optimizer == "adamw" else ""
        raise TrainError(
            f"out of memory in the optimizer's step over {parameters:,} values (train.optimizer={config.optimizer}); "
            f"set {smaller}model.lora.r=16, freeze more (model.freeze_*), or take more ranks, and resume"
        ) from error


def _what_to_lower(longest: int, config: TrainConfig) -> str:
    first = "" if config.gradient_checkpointing else "set train.gradient_checkpointing=true, or "
    if longest >= config.micro_batch_tokens:  # a turn that long is a row of its own, whatever the budget
        return first + "lower rollout.max_context_tokens, which bounds a turn, or browser.viewport_px"
    return first + f"lower train.micro_batch_tokens (now {config.micro_batch_tokens})"
