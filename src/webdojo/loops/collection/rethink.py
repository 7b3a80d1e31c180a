"""Longer thoughts for demonstrations, written by a reasoning model (WebAgent-R1 §3.4 and appendix C).

For each step of a data set a model is told the task, the steps before, the page where it is text, and what the agent
did then; it says why, as the agent would have thought. The new data set has its words in place of the old thoughts, in
every later prompt too. What the agent did stays as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any

from webdojo.agent.harness import Harness
from webdojo.agent.toolcall import plain
from webdojo.errors import ConfigError
from webdojo.gather import gather_or_cancel
from webdojo.loops.collection.dataset import (
    Dataset,
    copy_screenshots,
    counts,
    open_dataset,
    scratch,
    tokenizer_hash,
    write_manifest,
)
from webdojo.loops.construction.writer import MATERIAL, LeftOut, Writer, open_writer
from webdojo.loops.run_folder import COLLECT
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.progress import progress
from webdojo.recipe import Recipe
from webdojo.reward.judges.case import quoted
from webdojo.store.run import RunStore
from webdojo.types import Trajectory, Turn

AT_ONCE = 8
"""Trajectories that are worked on together; `engine.max_concurrency` bounds the requests."""
_CHARACTERS = 4000
"""Of a thought, at most."""
_SYSTEM = f"""\
An agent does a task in a web browser, step by step. You are shown the task, what the agent thought and did in the steps
before, the page that it sees now where there is a text of it, and what it does next. Say what goes through its mind
before it does so: what it has found out so far, what the page shows that matters for the task, which ways there are and
why it takes this one, and what it expects to see. Speak as the agent, in the first person and in the present tense, and
do not know more than it can know at this moment. Name every value that it will need later.

{MATERIAL}

Answer with these thoughts alone, as plain text without headings, lists or code."""


def rethink(dataset: Path, recipe: Recipe, model_path: str, out: Path) -> dict[str, Any]:
    """Write a data set with new thoughts as `out`, and return how many there are and which steps kept the old one.

    Args:
        recipe: that of the data set, whose `engine` serves the reasoning model. What an endpoint answered is kept
            beside `out` until that is there, so a call that was stopped asks nothing again.

    Raises:
        StoreError: `out` is there already.
        ConfigError: the model of the recipe has another tokenizer than the data set.
        EngineError: the model fails again and again; `BudgetError` where its budget is spent.
    """
    answers = out.with_name(f".{out.name}.answers")
    with open_dataset(dataset) as source, scratch(out) as folder:
        if any(each["tokenizer"] != tokenizer_hash(recipe.model.path) for each in source.manifest.lineage):
            raise ConfigError(
                f"{dataset} has the tokens of another tokenizer than that of model.path {recipe.model.path!r}: name "
                "the model that it was collected for"
            )
        answers.mkdir(parents=True, exist_ok=True)
        with RunStore.create(folder, source.store.recipe_yaml, source.store.info) as store:
            report = asyncio.run(_write(source, recipe, model_path, answers, store))
            asked = {"engine": recipe.engine.name, "model": recipe.engine.serves(model_path)}
            changed = {
                "counts": counts(store.rows(COLLECT)),
                "lineage": [each | {"thoughts": asked} for each in source.manifest.lineage],
            }
            manifest = source.manifest.model_copy(update=changed)
            write_manifest(folder, manifest)
            store.write_result({"dataset": manifest.counts.model_dump()})
    rmtree(answers)
    return report


async def _write(source: Dataset, recipe: Recipe, model_path: str, answers: Path, store: RunStore) -> dict[str, Any]:
    """Store all trajectories of a data set with new thoughts, and return the report."""
    harness = recipe.harness.build(load_processor(model_folder(recipe.model.path)))
    old = list(source.trajectories())
    new = 0

    async def rethought(trajectory: Trajectory) -> Trajectory:
        thoughts = await gather_or_cancel(_thought(writer, trajectory, step) for step in range(len(trajectory.turns)))
        bar.advance(len(thoughts))
        return retold(trajectory, thoughts, harness, recipe, writer.left_out)

    with progress("thoughts", sum(len(each.turns) for each in old)) as bar:
        async with open_writer(recipe, model_path, answers) as writer:
            for first in range(0, len(old), AT_ONCE):
                some = old[first : first + AT_ONCE]
                for before, after in zip(some, await gather_or_cancel(map(rethought, some)), strict=True):
                    copy_screenshots(after, source.images, store.images)
                    store.add_trajectory(after, COLLECT, 0)
                    new += sum(a.text != b.text for a, b in zip(before.turns, after.turns, strict=True))
    return {"thoughts": new, "left_out": writer.left_out.report()}


def retold(
    trajectory: Trajectory, thoughts: Sequence[str | None], harness: Harness, recipe: Recipe, left_out: LeftOut
) -> Trajectory:
    """The same steps with other thoughts, in responses and in the prompts that show them.

    A step keeps its own where there is none, where it would change what the agent does, and where it is too long.
    """
    most = recipe.rollout.sampling.max_tokens
    conversation = harness.start(trajectory.task, trajectory.turns[0].observation)
    after = [*(turn.observation for turn in trajectory.turns[1:]), None]
    turns: list[Turn] = []
    for turn, thought, observation in zip(trajectory.turns, thoughts, after, strict=True):
        prompt = conversation.prompt(recipe.rollout.max_context_tokens - most)
        made = turn.model_copy(update={"prompt": prompt})
        if thought and turn.parsed.think and turn.parsed.think in turn.text:
            text = turn.text.replace(turn.parsed.think, thought, 1)
            ids, parsed = harness.codec.encode(text), conversation.parse(text)
            where = f"{trajectory.id}, step {len(turns)}"
            if (parsed.calls, parsed.error) != (turn.parsed.calls, turn.parsed.error):
                left_out.add("thought: it would change what the agent does", where)
            elif len(ids) > most:
                left_out.add(f"thought: more than {most} tokens (rollout.sampling.max_tokens)", f"{where}: {len(ids)}")
            else:
                unsampled = {"ids": ids, "logprobs": [0.0] * len(ids), "versions": [0] * len(ids)}
                response = turn.response.model_copy(update=unsampled)
                made = made.model_copy(update={"response": response, "text": text, "parsed": parsed})
        turns.append(made)
        if observation is not None:
            conversation.add(made.response, made.parsed, made.feedback, observation)
    return trajectory.model_copy(update={"turns": turns})


async def _thought(writer: Writer, trajectory: Trajectory, step: int) -> str | None:
    """What the model says of a step; None where it says nothing that can be read."""
    turn = trajectory.turns[step]
    before = [{"thought": each.parsed.think, "actions": _actions(each)} for each in trajectory.turns[:step]]
    seen = turn.observation
    material = [
        f"Task: {quoted(trajectory.task.instruction)}",
        f"Steps before: {quoted(before)}",
        f"Page: {quoted({'address': seen.url, 'title': seen.title, 'text': seen.text})}",
        f"What it does next: {quoted(_actions(turn))}",
    ]
    return await writer.ask("thought", f"{trajectory.id}, step {step}", _SYSTEM, material, _read)


def _actions(turn: Turn) -> list[dict[str, Any]]:
    return [{"tool": call.name, **call.arguments} for call in turn.parsed.calls]


def _read(answer: str) -> str | None:
    """The thought in one line, without what a reasoning model says to itself before it answers."""
    return plain(answer.rpartition("</think>")[2], _CHARACTERS) or None
