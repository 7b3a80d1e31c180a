"""The model card of a checkpoint (`webdojo push`): what it is, how well it does and by which measure, and what not to
conclude from that.

Everything in it is from the run folder, so a card can be written again at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from huggingface_hub import EvalResult, ModelCardData

from webdojo.loops.keep import best, saved
from webdojo.loops.results.by_version import stored_evaluations
from webdojo.loops.results.protocol import differs
from webdojo.loops.run_folder import RL, SFT
from webdojo.policy.config import SHIPPED
from webdojo.policy.model.folder import is_hub_id
from webdojo.progress import duration, plural
from webdojo.recipe import Recipe, dump_changes, load_recipe
from webdojo.redact import without_logins
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore
from webdojo.trainer.explain import explain
from webdojo.view.evaluating import protocol_line
from webdojo.view.page import percent

PAPERS = {
    "openwebrl": (
        "OpenWebRL: Demystifying Online Multi-turn Reinforcement Learning for Visual Web Agents",
        "2606.02031",
    ),
    "webgym": ("WebGym: Scaling Training Environments for Visual Web Agents with Realistic Tasks", "2601.02439"),
    "webagent_r1": (
        "WebAgent-R1: Training Web Agents via End-to-End Multi-Turn Reinforcement Learning",
        "2505.16421",
    ),
    "asyncwebrl": ("AsyncWebRL: Efficient Multi-Step RL for Visual Web Agents", "2606.05597"),
    "openwebvoyager": (
        "OpenWebVoyager: Building Multimodal Web Agents via Iterative Real-World Exploration, Feedback and "
        "Optimization",
        "2410.19609",
    ),
}
"""Title and arXiv number of each paper, by the name that recipes and their parts have for it."""


AFTER_SFT = "after the warm start"


class Figure(NamedTuple):
    """Success on the held-out tasks."""

    stage: str
    n: int
    rate: float
    ci95: tuple[float, float]


def model_card(store: RunStore, checkpoint: Checkpoint, hub_id: str) -> str:
    """The README.md of a checkpoint of a run, with the metadata that the hub reads."""
    recipe = load_recipe(str(store.path / "recipe.yaml"), migrate=True)
    own = own_figure(store, checkpoint)
    parts = [
        f"---\n{_metadata(recipe, checkpoint, hub_id, own)}\n---",
        f"# {hub_id.partition('/')[2]}",
        _what(store, recipe, checkpoint),
        "## Success",
        *_success(store, recipe, own),
        "## Training",
        *_training(store, recipe),
        "## Papers",
        "\n".join(_papers(recipe)) or "None of those that webdojo follows.",
        "## Use",
        f"```bash\nwebdojo eval {recipe.name} --model {hub_id}\n```",
        "`transformers` reads the weights; the prompts, the tools and the loop around them are webdojo's.",
        "## Limits",
        "\n".join(f"- {limit}" for limit in _limits(store, recipe, checkpoint, own)),
    ]
    return "\n\n".join(parts) + "\n"


def own_figure(store: RunStore, checkpoint: Checkpoint) -> Figure | None:
    """How the very policy of a checkpoint was measured, if it was."""
    result = store.get("result", {})
    if checkpoint.name == SFT:
        found = result.get("success_sft")
    elif checkpoint.meta["phase"] != RL:
        found = None
    else:
        iteration = checkpoint.meta["iteration"]
        found = {each["iteration"]: each for each in stored_evaluations(store)}.get(iteration)
        if found is None and iteration == max(saved(store)):
            found = result.get("success_rl")
    return None if found is None else _figure(_stage(checkpoint), found)


def _stage(checkpoint: Checkpoint) -> str:
    if checkpoint.meta["phase"] == RL:
        return f"iteration {checkpoint.meta['iteration']} of online training"
    return AFTER_SFT if checkpoint.name == SFT else f"checkpoint {checkpoint.name}, before online training"


def papers_of(recipe: Recipe) -> dict[str, list[str]]:
    """The papers that a recipe follows, each with the keys that say so."""
    keys = {
        "name": recipe.name,
        "harness.name": recipe.harness.name,
        "reward.name": recipe.reward.name,
        "tasks.source": recipe.tasks.source,
    }
    if recipe.train.iterations:
        keys["train.normalizer"] = recipe.train.normalizer
    found: dict[str, list[str]] = {}
    for key, value in keys.items():
        paper = value.partition("-")[0]
        if paper in PAPERS:
            found.setdefault(paper, []).append(f"`{key}: {value}`")
    if recipe.train.iterations and recipe.rollout.max_staleness:
        found.setdefault("asyncwebrl", []).append(f"`rollout.max_staleness: {recipe.rollout.max_staleness}`")
    if recipe.cycles.rounds:
        found.setdefault("openwebvoyager", []).append(f"`cycles.rounds: {recipe.cycles.rounds}`")
    return found


def _figure(stage: str, measured: dict[str, Any]) -> Figure:
    low, high = measured["ci95"]
    return Figure(stage, measured["n"], measured["rate"], (low, high))


def _metadata(recipe: Recipe, checkpoint: Checkpoint, hub_id: str, own: Figure | None) -> str:
    sees = "vision_config" in json.loads((checkpoint.path / "config.json").read_text())
    task, base = "image-text-to-text" if sees else "text-generation", recipe.model.path
    results = []
    if own is not None:
        results.append(
            EvalResult(
                task_type=task,
                dataset_type=f"webdojo-{recipe.env.name}",
                dataset_name=f"held-out tasks of {recipe.env.name}, by the protocol {recipe.name}",
                metric_type="success_rate",
                metric_name="success rate",
                metric_value=round(own.rate, 4),
                metric_args={"ci95": [round(bound, 4) for bound in own.ci95], "episodes": own.n},
            )
        )
    data = ModelCardData(
        library_name="transformers",
        pipeline_tag=task,
        base_model=base if is_hub_id(base) else None,
        license="apache-2.0" if base in SHIPPED else None,
        tags=["webdojo", "web-agent", "reinforcement-learning", *(f"arxiv:{PAPERS[p][1]}" for p in papers_of(recipe))],
        model_name=hub_id.partition("/")[2],
        eval_results=results or None,
    )
    return data.to_yaml()


def _what(store: RunStore, recipe: Recipe, checkpoint: Checkpoint) -> str:
    base = recipe.model.path
    of = f"`{base}`, which ships with webdojo" if base in SHIPPED else f"`{base.rstrip('/').rpartition('/')[2]}`"
    base = f"[{base}](https://huggingface.co/{base})" if is_hub_id(base) else of
    stage, found = _stage(checkpoint), best(store)
    if checkpoint.meta["phase"] == RL:
        stage += f" (of {recipe.train.iterations})"
    if found is not None and found.checkpoint.name == checkpoint.name:
        stage += f"; of the kept ones the best by success on {'held-out' if found.heldout else 'training'} tasks"
    trained = f"A web agent: {base}, trained by webdojo with the recipe `{recipe.name}`."
    return f"{trained} This is checkpoint `{checkpoint.name}`: {stage}."


def _success(store: RunStore, recipe: Recipe, own: Figure | None) -> Iterator[str]:
    result = store.get("result", {})
    stages = {"success_base": "before training", "success_sft": AFTER_SFT}
    if there := saved(store):
        stages["success_rl"] = _stage(there[max(there)])
    figures = {stage: _figure(stage, result[key]) for key, stage in stages.items() if key in result}
    if own is not None:
        figures[own.stage] = own
    if not figures:
        yield "Not measured."
        return
    rows = [
        f"| {stage}{', **this model**' if own is not None and stage == own.stage else ''} | {n} | {percent(rate, 1)} | "
        f"{percent(low, 1)} .. {percent(high, 1)} |"
        for stage, n, rate, (low, high) in figures.values()
    ]
    yield "\n".join(["| stage | episodes | success | 95 % interval |", "|---|---|---|---|", *rows])
    config, reward = recipe.evaluate, recipe.reward_function
    sampling = config.sampling
    interval = "Wilson's" if config.runs == 1 else "a bootstrap over tasks"
    yield (
        f"On held-out tasks of the environment `{recipe.env.name}`, judged by `{reward.name}`; at most "
        f"{config.max_steps} steps, temperature {sampling.temperature:g}, top-p {sampling.top_p:g}, "
        f"{plural(config.runs, 'episode')} of each task. An episode that the web or the system failed counts as a "
        f"failure. The interval is {interval}. Protocol: {protocol_line(recipe.name, differs(recipe))}."
    )


def _training(store: RunStore, recipe: Recipe) -> Iterator[str]:
    info, seconds = store.info, sum(store.get("seconds", {}).values())
    versions = ", ".join(f"{name} {version}" for name, version in info.get("versions", {}).items())
    commit = f", commit {info['git']}" if info.get("git") else ""
    yield f"Seed {recipe.seed}; {duration(seconds)} with {versions}{commit}."
    if recipe.train.iterations:
        yield f"```\n{explain(recipe.train, recipe.rollout)}\n```"
    changes = without_logins(dump_changes(recipe)).rstrip()
    yield f"`recipe.yaml` has every key. Those that are not at their default:\n\n```yaml\n{changes}\n```"


def _papers(recipe: Recipe) -> Iterator[str]:
    for name, keys in papers_of(recipe).items():
        title, number = PAPERS[name]
        yield f"- [{title}](https://arxiv.org/abs/{number}): {', '.join(keys)}"


def _limits(store: RunStore, recipe: Recipe, checkpoint: Checkpoint, own: Figure | None) -> Iterator[str]:
    if own is None:
        yield "This very checkpoint was not measured; the figures are of other stages of its run."
    found = best(store)
    if found is not None and found.heldout and found.checkpoint.name == checkpoint.name:
        yield "It was chosen by its success on the tasks that it is reported on, which makes the figure look better."
    yield "One seed: the interval is of tasks, and another run of the recipe may differ by more."
    if recipe.env.name == "dojo":
        yield "It was trained and measured on generated sites, which says little about the open web."
    else:
        yield "The figures hold for these tasks, sites and days, and for this judge, which may err."
    if recipe.model.path in SHIPPED:
        yield "The base model has a few million parameters and reads large type only: it shows a method."
    yield "It clicks, types and sends forms: let it act where that can do no harm, with no rights that it needs not."
