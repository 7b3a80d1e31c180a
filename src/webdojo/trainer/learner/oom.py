"""Out of memory in an update, as an error that says what to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from webdojo.errors import TrainError
from webdojo.memory import is_out_of_memory
from webdojo.trainer.batch import Sample
from webdojo.trainer.config import TrainConfig


def micro_batch_in_memory(tokens: int, members: Sequence[Sample], config: TrainConfig) -> AbstractContextManager[None]:
    """The block computes a micro-batch of so many tokens.

    Raises:
        TrainError: memory ran out; names the micro-batch and what to lower.
    """

    def message() -> str:
        images = {image.sha for sample in members for image in sample.prompt.images}
        longest = max(map(len, members))
        return (
            f"out of memory in a micro-batch of {tokens} tokens "
            f"({len(members)} turns, the longest of {longest} tokens, {len(images)} screenshots); "
            f"the weights are as before the step; {_what_to_lower(longest, config)}"
        )

    return _in_memory(message)


def moments_in_memory(parameters: int, config: TrainConfig) -> AbstractContextManager[None]:
    """The block is the optimizer's step over so many values; the first step makes the moments.

    Raises:
        TrainError: memory ran out; names what to change.
    """
    smaller = "train.optimizer=adamw_8bit or " if config.optimizer == "adamw" else ""
    return _in_memory(
        lambda: (
            f"out of memory in the optimizer's step over {parameters:,} values (train.optimizer={config.optimizer}); "
            f"set {smaller}model.lora.r=16, freeze more (model.freeze_*), or take more ranks, and resume"
        )
    )


def reference_in_memory() -> AbstractContextManager[None]:
    """The block moves the reference model to where the policy is.

    Raises:
        TrainError: memory ran out; names what to change.
    """
    return _in_memory(
        lambda: (
            "out of memory when the reference model of the KL term came beside the policy; set train.kl_coef=0, or "
            "model.lora.r=16, whose reference is the model without adapters"
        )
    )


@contextmanager
def _in_memory(message: Callable[[], str]) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise TrainError(message()) from error


def _what_to_lower(longest: int, config: TrainConfig) -> str:
    first = "" if config.gradient_checkpointing else "set train.gradient_checkpointing=true, or "
    if longest >= config.micro_batch_tokens:  # a turn that long is alone in a micro-batch, whatever the budget
        return first + "lower rollout.max_context_tokens, which bounds a turn, or browser.viewport_px"
    return first + f"lower train.micro_batch_tokens (now {config.micro_batch_tokens})"
