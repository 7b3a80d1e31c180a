"""webdojo's side of `peer_loop.py`.

python benchmarks/peer_loop_ours.py SCRIPTS RUN UPDATES GROUPS GROUP_SIZE KEY=VALUE …
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from peer_loop_work import TASK, TOKENS, Scripts, mark, read_scripts

from webdojo.agent.harness import Harness
from webdojo.loops.log import RunLog
from webdojo.loops.pipeline import Pipeline, opened
from webdojo.loops.run_folder import RL
from webdojo.policy.engine import ServedModel
from webdojo.policy.engines import HF
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.types import Engine, FinishReason, Prompt, Response, Sampling

NEVER = -1e9


class ScriptedEngine(HFEngine):
    """The embedded engine, of which a script says what it has sampled."""

    scripts: Scripts
    harness: Harness

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        said = self.processor.decode(prompt.ids(self.processor.image_token_id))
        if not TASK.search(said):  # the loop's own check of the engine
            return await super().generate(prompt, sampling)
        bias = {self.processor.stop_id: NEVER}
        sampled = await super().generate(
            prompt, sampling.model_copy(update={"max_tokens": TOKENS, "logit_bias": bias, "timeout_s": 0})
        )
        text, _ = self.harness.render("As before.", list(self.scripts.say(said)))
        ids = self.processor.encode(text)
        more = {"logprobs": [-1.0] * len(ids), "versions": [sampled.versions[-1]] * len(ids)}
        return sampled.model_copy(update={"ids": ids, "finish_reason": FinishReason.STOP, **more})


class Scripted(HF):
    """The engine's section of a recipe."""

    name: str = "peer_loop_ours:Scripted"
    scripts: str = ""

    @asynccontextmanager
    async def open(self, model: ServedModel) -> AsyncIterator[Engine]:
        loaded, processor = load_model(model.path)
        threads = model.config.threads
        engine = ScriptedEngine(loaded, processor, model.images, model.version, seed=model.seed, threads=threads)
        engine.scripts = read_scripts(Path(self.scripts))
        engine.harness = load_recipe("quickstart").build_harness(processor)
        with closing(engine):
            yield engine


async def train(recipe: Recipe, run: Path, scripts: Scripts) -> None:
    processor = Processor.load(model_folder(recipe.model.path))
    with opened(recipe, run, False, {}) as store, RunLog(store) as log:
        pipeline = Pipeline(recipe, store, log)
        wanted = {script.task for script in scripts.all}
        tasks = [task for task in pipeline.tasks if task.id in wanted]
        pipeline.__dict__["tasks"] = tasks
        async with pipeline._episodes(processor) as runner:
            mark("begin")
            await pipeline.learn_online(runner, recipe.model.path)
            done = store.trajectories(RL)
            successes = sum(each.reward is not None and each.reward.success for each in done)
            trained = sum(metrics["samples"] for metrics in store.metrics(RL))
            mark("end", trajectories=len(done), successes=successes, trained=trained)


def main() -> None:
    scripts, run, updates, groups, group_size, *overrides = sys.argv[1:]
    options = [
        f"train.iterations={updates}",
        f"train.groups_per_iteration={groups}",
        f"rollout.group_size={group_size}",
    ]
    engine = f"engine={{name: 'peer_loop_ours:Scripted', scripts: {scripts}}}"
    same = [
        "train.dynamic_sampling=false",
        "train.ppo_epochs=1",
        "train.kl_coef=0",
        "train.max_engine_gap=1000",
        engine,
    ]
    recipe = load_recipe("quickstart", [*options, *same, *overrides])
    asyncio.run(train(recipe, Path(run), read_scripts(Path(scripts))))


if __name__ == "__main__":
    main()
