"""The typed recipe: one YAML file says everything a run needs.

`load_recipe("quickstart", ["train.lr=1e-4"])` finds the file (a path, or a name inside `webdojo/recipes`), applies
dotted overrides, and validates. Each section stands beside the code that reads it, and plugs (`plugins.py`) bring their
own. Unknown keys are errors that name the nearest known key. Every random choice of a run follows from `Recipe.seed`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import yaml
from pydantic import BaseModel, ValidationError, model_validator
from pydantic.fields import FieldInfo

from webdojo.agent.harness import Codec, Harness, HarnessConfig
from webdojo.agent.harnesses import HARNESSES
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.browser.config import BrowserConfig
from webdojo.browser.network.address import host_of
from webdojo.browser.network.guard import Guard, Refused
from webdojo.config import Section
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Environment, Split
from webdojo.envs.registry import ENVIRONMENTS, TasksConfig
from webdojo.errors import ConfigError, Missing, TaskError
from webdojo.evaluation.metrics import EvaluateConfig
from webdojo.placement import ClusterConfig
from webdojo.plugins import Registry, one_line_errors, plug_field, slot_of
from webdojo.policy.config import ModelConfig
from webdojo.policy.engine import EngineConfig
from webdojo.policy.engines import ENGINES, HF
from webdojo.recipe_hints import did_you_mean
from webdojo.recipe_paths import beside, whole
from webdojo.reward.function import RewardFunction
from webdojo.reward.registry import REWARDS, EnvironmentReward
from webdojo.rollout.config import CollectConfig, CyclesConfig, RolloutConfig
from webdojo.rollout.curation import CurateConfig
from webdojo.trackers.config import TrackingConfig
from webdojo.trainer.advantages import ADVANTAGES, NORMALIZERS
from webdojo.trainer.config import SFTConfig, TrainConfig
from webdojo.trainer.losses import LOSSES
from webdojo.types import Task

TRAIN_TASKS = 20_000
"""So many training tasks are drawn, once; demonstrations and data sets are of the first of them."""

PLUGS: dict[str, tuple[Registry[Any], str]] = {
    "env": (ENVIRONMENTS, "dojo"),
    "reward": (REWARDS, "env"),
    "harness": (HARNESSES, "openwebrl"),
    "engine": (ENGINES, "hf"),
}
"""The sections that are plugs: where they are found, and which one a section without a `name` is."""

MOVED = {
    "tasks.kinds": "env.kinds",
    "tasks.difficulties": "env.difficulties",
    "tasks.difficulty_sampling": "env.difficulty_sampling",
    "tasks.train_sites": "env.train_sites",
    "tasks.heldout_sites": "env.heldout_sites",
    "tasks.layout": "env.layout",
    "tasks.weather": "env.perturbations",
    "tasks.weather_impassable": "env.permanent_failures",
    "tasks.settled_chance": "tasks.sampler",
    "browser.sites_host": "env.host",
    "browser.sites_port": "env.port",
    "model.engine": "engine.name",
    "model.vllm": "engine",
    "endpoint": "engine",
}
"""Keys of recipes that version 0.1 wrote, and what they are now."""

GONE = {
    "browser": {"screenshot_timeout_s", "session_timeout_s", "exit_timeout_s", "ready_quiet_s", "screenshot_quality"},
    "browser.serve": {"open_slots", "act_slots", "observe_slots", "close_slots"},
    "tasks": {"blocklist_failures", "blocklist_hours"},
    "sft": {"load_best_model_at_end", "val_size"},
    "train": {"correction_low", "correction_high", "encoder_cache_gb", "compute_dtype"},
}
"""Keys that older recipes have, by section; what was their default always holds now."""


class Recipe(Section):
    """Everything a run needs. `recipes/quickstart.yaml` is a commented example."""

    name: str
    """The name of the recipe; runs are named after it."""
    seed: int = 0
    """Every random choice of a run follows from it."""
    storage_path: str = ""
    """Where a copy of the run is kept up to date, in a folder of its name, such as `s3://bucket/runs`: any address that
    fsspec knows. `webdojo runs pull` makes a run folder of it on another machine."""
    model: ModelConfig = ModelConfig()
    engine: Annotated[EngineConfig, *plug_field(*PLUGS["engine"])] = HF()
    """Who answers prompts."""
    browser: BrowserConfig = BrowserConfig()
    env: Annotated[Environment, *plug_field(*PLUGS["env"])] = Dojo()
    """Where episodes happen."""
    tasks: TasksConfig = TasksConfig()
    reward: Annotated[RewardFunction, *plug_field(*PLUGS["reward"])] = EnvironmentReward()
    """Who judges episodes."""
    harness: Annotated[HarnessConfig, *plug_field(*PLUGS["harness"])] = OpenWebRLConfig()
    """What the agent sees and how it answers."""
    rollout: RolloutConfig = RolloutConfig()
    collect: CollectConfig = CollectConfig()
    curate: CurateConfig = CurateConfig()
    sft: SFTConfig = SFTConfig()
    cycles: CyclesConfig = CyclesConfig()
    train: TrainConfig = TrainConfig()
    evaluate: EvaluateConfig = EvaluateConfig()
    cluster: ClusterConfig = ClusterConfig()
    tracking: TrackingConfig = TrackingConfig()

    @model_validator(mode="after")
    def _responses_fit(self) -> Recipe:
        most = self.rollout.max_context_tokens
        for name, sampling in (("rollout", self.rollout.sampling), ("evaluate", self.evaluate.sampling)):
            if sampling.max_tokens >= most:
                raise ValueError(
                    f"{name}.sampling.max_tokens {sampling.max_tokens} leaves no room for a prompt: take less than "
                    f"rollout.max_context_tokens, {most}"
                )
        return self

    @model_validator(mode="after")
    def _divides_by_the_longest_response(self) -> Recipe:
        train = self.train
        if NORMALIZERS.get(train.normalizer).by_longest and not train.normalizer_k:
            self.train = train.model_copy(update={"normalizer_k": float(self.rollout.sampling.max_tokens)})
        return self

    @model_validator(mode="after")
    def _groups_of_one_can_train(self) -> Recipe:
        train = self.train
        if self.rollout.group_size > 1 or not train.iterations:
            return self
        if train.dynamic_sampling:
            raise ValueError(
                "rollout.group_size 1 leaves no rewards that could differ, so no group would be effective: set "
                "train.dynamic_sampling=false"
            )
        if ADVANTAGES.get(train.advantage).group_relative and not LOSSES.get(train.policy_loss).positives_only:
            alone = ", ".join(name for name, each in ADVANTAGES.built_in.items() if not each.group_relative)
            raise ValueError(
                f"rollout.group_size 1 leaves nothing that train.advantage {train.advantage!r} could compare: take one "
                f"of {alone}, or larger groups"
            )
        return self

    @property
    def reward_function(self) -> RewardFunction:
        """What scores episodes: `reward`, or the environment's own verdict; ConfigError where it has none."""
        return self.reward.resolved(self.env.reward, self.env.name)

    def build_harness(self, codec: Codec) -> Harness:
        """The harness for the model of this codec, and for the form in which the engine's model calls tools; a
        ConfigError where somebody's own raises."""
        with HARNESSES.running(self.harness.name):
            return self.harness.build_native(codec) if self.engine.native_tools else self.harness.build(codec)

    def draw(self, split: Split, n: int) -> Sequence[Task]:
        """At most `n` tasks, always the same ones; TaskError where there are none."""
        from webdojo.envs.task_sets import tasks_of  # it brings the embedded web

        return tasks_of(self.env, self.tasks, split, n, self.seed)

    def check(self, *, trains: bool, demonstrates: bool) -> None:
        """Check that environment, tasks, reward, harness, engine and curriculum fit together (ConfigError, TaskError),
        and that what only the user can bring is there (Missing, raised last of what needs no tasks).

        Without `trains` an evaluation follows, not training; `demonstrates` says that demonstrations may be made.
        """
        env = self.env
        self.engine.check(self.harness)
        if trains and not self.engine.can_train:
            raise ConfigError(f"engine {self.engine.name!r} serves a model that cannot be trained: set engine.name=hf")
        env.check_browser(self.browser)
        if trains and demonstrates and self.sft.demonstrated:
            self._check_oracle(
                f"sft.demos = {self.sft.demos}",
                "set sft.demos=0",
                ", or begin without servers and train.iterations=0, and go on with --resume",
            )
        if trains and self.cycles.rounds and self.cycles.demos_below:
            self._check_oracle(
                f"cycles.demos_below = {self.cycles.demos_below:g}", "set it to 0, so that no teacher helps"
            )
        if missing := self._missing(trains):
            raise Missing(*missing, otherwise=self._otherwise)
        if missing := self.tracking.missing():
            raise Missing(*missing)
        if trains:
            if self.tasks.path:
                tasks = self.draw("train", 10_000)
                levels = {task.difficulty for task in tasks}
                self._check_tasks(tasks)
            else:
                with one_line_errors(env, "environment"):
                    levels = set(env.difficulty_levels())
            for number, stage in enumerate(self.train.stages):
                if not any(stage.difficulty_sampling.get(level, 1) for level in levels):
                    raise TaskError(
                        f"train.stages.{number}.difficulty_sampling {stage.difficulty_sampling} leaves none of the "
                        f"difficulties {sorted(levels)} of the training tasks: give one of them a weight"
                    )
        from webdojo.envs.task_sets import own_tasks

        heldout, files = self.evaluate.tasks, self.tasks
        own = files.path or files.eval_path
        self._check_tasks(
            self.draw("eval", heldout) if own else own_tasks(env, env.samples, "eval", heldout, self.seed)
        )

    def check_collection(self, tasks: Sequence[Task] | None = None) -> None:
        """As `check`, for a collection (`webdojo collect`) of these tasks; by default of its first training tasks."""
        env, config = self.env, self.collect
        if config.teacher == "person" and self.browser.servers:
            raise ConfigError("a person demonstrates in a window of this machine: leave browser.servers out")
        env.check_browser(self.browser)
        if config.teacher == "oracle":
            self._check_oracle("collect.teacher = oracle", "let a model teach: --model, or collect.teacher=model")
        elif config.teacher == "model":
            self.engine.check(self.harness)
        if missing := self._missing(trains=True, draws=tasks is None):
            raise Missing(*missing)
        self._check_tasks(self.training_tasks()[: config.tasks] if tasks is None else tasks)

    def _check_tasks(self, tasks: Sequence[Task]) -> None:
        """Raise where a task cannot be done, cannot be scored, or begins where the browsers may not go."""
        reward, guard = self.reward_function, Guard(self.browser.guard)
        guarded = self.env.is_there_already and not self.browser.servers
        for task in tasks:
            self.env.check(task)
            reward.check(task)
            try:
                if guarded:
                    guard.check_private(host_of(task.start_url))
            except Refused as refused:
                raise ConfigError(
                    f"task {task.id!r} begins at {task.start_url}: {refused}; {refused.setting}"
                ) from None

    def _check_oracle(self, asked: str, otherwise: str, later: str = "") -> None:
        """Raise a ConfigError where the environment's oracle could not do what `asked` says."""
        env = self.env
        if env.oracle is None:
            raise ConfigError(
                f"{asked}: the environment {env.name!r} has no oracle that could demonstrate its tasks: {otherwise}"
            )
        if self.browser.servers:
            raise ConfigError(
                f"{asked}: demonstrations need browsers of this machine, and browser.servers names others; "
                f"{otherwise}{later}"
            )

    def training_tasks(self) -> Sequence[Task]:
        """The tasks that training draws from; demonstrations and data sets are of the first of them."""
        return self.draw("train", TRAIN_TASKS)

    def _missing(self, trains: bool, draws: bool = True) -> list[str]:
        """What the user has to bring and has not, each with how to give it; without `draws` tasks are no part of it."""
        looks: list[Callable[[], object]] = [self.browser.check, self.reward_function.check_setup]
        splits: Sequence[Split] = ("eval", "train") if trains else ("eval",)
        if draws:
            looks += [partial(self.draw, split, 1) for split in splits]
        found = []
        for look in looks:
            try:
                look()
            except Missing as error:
                found.append(str(error))
        return list(dict.fromkeys(found))

    @property
    def _otherwise(self) -> str:
        """How this recipe is told to train on the embedded web; empty for who has brought an environment."""
        if self.env.name not in ENVIRONMENTS:
            return ""
        there = f"{self.name}-dojo"
        return "or take the embedded web, which needs none of this: " + (
            f"webdojo train {there}" if there in recipe_names() else "env=dojo reward=rules"
        )

    def __reduce__(self) -> Any:
        """Pickled as plain data: the class of a plug from a file is found again by its name."""
        return parse_recipe, (self.model_dump(mode="json"), self.name)


def recipe_names() -> list[str]:
    """Names of the recipes inside the package."""
    return sorted(p.name.removesuffix(".yaml") for p in files("webdojo.recipes").iterdir() if p.name.endswith(".yaml"))


def load_recipe(name_or_path: str, overrides: list[str] | None = None, *, migrate: bool = False) -> Recipe:
    """Load, override and validate a recipe: a name from `recipe_names()` or a path to a YAML file.

    A recipe with the key `base` has all that another one has, by name or by a path beside its own file, but for the
    keys that it sets itself. A plug's section may be its name alone: `env: dojo`. Relative paths of files are looked
    for beside the recipe's file, and then in the working folder.

    `overrides` are `dotted.key=value`, with values in YAML. `migrate` reads keys that an older version wrote (`MOVED`)
    as what they are now, and leaves out those that are `GONE`. A ConfigError names the nearest known recipe or key.
    """
    data = _read(name_or_path)
    if migrate:
        _migrate(data)
    for override in overrides or []:
        _apply(data, override)
    return parse_recipe(data, name_or_path, overrides or [])


def recipe_of(recipe: Recipe | str, overrides: Sequence[str] = ()) -> Recipe:
    """The recipe that a caller from Python means: one that is loaded already, or a name or file with its overrides."""
    if isinstance(overrides, str):
        raise ConfigError(f"overrides = {overrides!r} must be a list: [{overrides!r}]")
    if isinstance(recipe, str | Path):
        return load_recipe(str(recipe), list(overrides))
    if not isinstance(recipe, Recipe):
        raise ConfigError(f"recipe = {recipe!r} must be a name, a path that ends in .yaml, or a Recipe")
    if overrides:
        raise ConfigError(f"overrides {list(overrides)} change a recipe that is named: give its name, or a path")
    return recipe


def parse_recipe(data: dict[str, Any], source: str, overrides: Sequence[str] = ()) -> Recipe:
    """Validate a recipe that is already a mapping; errors name `source`, or the override that set the key."""
    data = _spelled_out(data)
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise ConfigError("; ".join(_explain(dict(e), data, source, overrides) for e in error.errors())) from None


def dump_recipe(recipe: Recipe, *, whole_paths: bool = False) -> str:
    """The resolved recipe as YAML: every key with its value, in the order of the sections.

    With `whole_paths` it loads as the same recipe in any working folder.
    """
    data = recipe.model_dump(mode="json")
    return yaml.safe_dump(whole(data) if whole_paths else data, sort_keys=False, allow_unicode=True)


def dump_changes(recipe: Recipe) -> str:
    """The same recipe in short: only the keys whose value is not the default; it loads as the whole one does."""
    data = _changes(recipe)
    ordered = {key: data[key] for key in Recipe.model_fields if key in data}
    return yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True)


def _changes(section: BaseModel) -> dict[str, Any]:
    """The keys of a section whose value is not the default; a plug that is not the default one has its name."""
    data = section.model_dump(mode="json", exclude_defaults=True)
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if (slot := slot_of(field)) is not None:
            changes = ({} if value.name == slot.default else {"name": value.name}) | _changes(value)
        elif isinstance(value, BaseModel) and value != field.default:
            changes = _changes(value)
        else:
            continue
        if changes:
            data[key] = changes
        else:
            data.pop(key, None)
    return data


def _read(name_or_path: str, *derived: str) -> dict[str, Any]:
    """The keys of a recipe, with those of its `base` that it does not set itself; `derived` are recipes that are based
    on it."""
    is_file = name_or_path.endswith((".yaml", ".yml"))
    if is_file:
        path = Path(name_or_path)
        if not path.is_file():
            raise ConfigError(f"recipe file {name_or_path!r} does not exist")
        text = path.read_text()
    elif name_or_path in recipe_names():
        text = files("webdojo.recipes").joinpath(f"{name_or_path}.yaml").read_text()
    else:
        near = difflib.get_close_matches(name_or_path, recipe_names(), n=1, cutoff=0.5)
        raise ConfigError(
            f"unknown recipe {name_or_path!r}{f'; did you mean {near[0]!r}?' if near else ''}; "
            f"recipes in the package: {', '.join(recipe_names())}; or give a path that ends in .yaml"
        )
    try:
        data = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        told = f"{problem} in line {mark.line + 1}" if mark and problem else " ".join(str(error).split())
        raise ConfigError(f"recipe {name_or_path!r} is not valid YAML: {told}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"recipe {name_or_path!r} must be a mapping of sections, but is a {type(data).__name__}")
    data = _spelled_out(data)
    if is_file:
        data = beside(data, Path(name_or_path).parent)
    if (base := data.pop("base", None)) is None:
        return data
    if not isinstance(base, str):
        raise ConfigError(f"base = {base!r} in {name_or_path!r} must be a recipe's name or a path that ends in .yaml")
    if is_file and base.endswith((".yaml", ".yml")):
        base = str(Path(name_or_path).parent / base)
    if base in (name_or_path, *derived):
        raise ConfigError(f"base = {base!r} in {name_or_path!r} leads back to itself")
    return _merged(_read(base, name_or_path, *derived), data, Recipe)


def _spelled_out(data: dict[str, Any]) -> dict[str, Any]:
    """The same keys, with `{name: …}` for each plug's section that is a name alone."""
    return {key: {"name": part} if key in PLUGS and isinstance(part, str) else part for key, part in data.items()}


def _merged(base: dict[str, Any], own: dict[str, Any], section: type[BaseModel]) -> dict[str, Any]:
    """The keys of both, section by section; of a plug with another name the base's options do not count."""
    out = base | own
    for key, part in own.items():
        before, field = base.get(key), section.model_fields.get(key)
        if not isinstance(before, dict) or not isinstance(part, dict) or field is None:
            continue
        if (slot := slot_of(field)) is not None and slot.name(part if "name" in part else before) != slot.name(before):
            continue
        if (inner := _section_of(field, before)) is not None:
            out[key] = _merged(before, part, inner)
    return out


def _section_of(field: FieldInfo, given: object) -> type[BaseModel] | None:
    """The section that a field, or each entry of it, is, where a recipe gives it as `given`; None for a value."""
    if (slot := slot_of(field)) is not None:
        return cast(type[BaseModel], slot.plug(given))
    candidates = [field.annotation, *get_args(field.annotation)]
    return next((c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)), None)


def _apply(data: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r} must look like section.key=value, for example train.lr=1e-4")
    *parents, last = key.split(".")
    node = data
    if parents and parents[0] in PLUGS and isinstance(name := data.get(parents[0]), str):  # of an override before
        data[parents[0]] = {"name": name}
    for parent in parents:
        child = node.setdefault(parent, {})
        if not isinstance(child, dict):
            raise ConfigError(f"override {override!r}: {parent!r} is a value, not a section")
        node = child
    try:
        node[last] = yaml.safe_load(value) if value else ""
    except yaml.YAMLError:
        raise ConfigError(f"override {override!r}: {value!r} is not a YAML value") from None


def _migrate(data: dict[str, Any]) -> None:
    """Bring a recipe of an older version into today's keys."""
    served_by = data.get("model", {}).get("engine", "hf")
    if (chance := data.get("tasks", {}).pop("settled_chance", 1.0)) < 1:  # of a task whose last group taught nothing
        each = {"by": ["task"], "window": 1, "prior": 0.0, "low": 0.001, "high": 0.999}
        data["tasks"]["sampler"] = {"name": "success_window", **each, "floor": chance}
    for old, new in MOVED.items():
        section, _, key = old.partition(".")
        if not key or (old == "model.vllm" and served_by != "vllm"):  # options of what was not in use
            data.get(section, {}).pop(key, None) if key else data.pop(section, None)
        elif key in data.get(section, {}):
            into, _, name = new.partition(".")
            value = data[section].pop(key)
            data.setdefault(into, {}).update({name: value} if name else value)
    train = data.get("train", {})
    if train.get("normalizer_k") == 10 and train.get("normalizer") != "dr_grpo":  # the default of all then
        del train["normalizer_k"]
    harness = data.get("harness", {})
    if harness.get("name") == "webgym":  # its memory was always a delta
        harness.setdefault("memory_delta", True)
    for dotted, keys in GONE.items():
        path = dotted.split(".")
        node = data
        for name in path:
            node = node.get(name, {})
        for key in keys.difference(_known_keys(path, data)):
            node.pop(key, None)


def _explain(error: dict[str, Any], data: Mapping[str, Any], source: str, overrides: Sequence[str]) -> str:
    location = [str(part) for part in error["loc"]]
    if not location:  # of sections that do not fit together
        return f"in {source!r}: {error['msg'].removeprefix('Value error, ')}"
    dotted = ".".join(location)
    if error["type"] == "extra_forbidden":
        return f"unknown key {dotted!r} in {source!r}{_hint(location, data)}"
    if error["type"] == "missing":
        return f"missing key {dotted!r} in {source!r}"
    if location[-1] == "api_key_env":  # what stands there may be the key itself
        return f"{dotted} in {source!r} must name an environment variable, such as OPENAI_API_KEY, not hold the key"
    if error["type"] == "value_error" and isinstance(error["input"], dict):  # of keys that do not fit together
        return f"{dotted} in {source!r}: {error['msg'].removeprefix('Value error, ')}"
    set_by = [each for each in overrides if f"{dotted}.".startswith(f"{each.partition('=')[0]}.")]
    where = f"the override {set_by[-1]}" if set_by else repr(source)
    return f"{dotted} = {error['input']!r} in {where}: {error['msg'].lower()}"


def _hint(location: list[str], data: Mapping[str, Any]) -> str:
    """What to do about an unknown key."""
    *section, key = location
    for old, new in MOVED.items():
        if f"{'.'.join(location)}.".startswith(f"{old}."):
            return f"; it is {new!r} now"
    if key in GONE.get(".".join(section), ()):
        return "; it is gone, and what was its default always holds: leave it out"
    here = [".".join([*section, name]) for name in _known_keys(section, data)]
    return did_you_mean(".".join(location), list(dict.fromkeys([*here, *all_keys(data)])))


def all_keys(data: Mapping[str, Any]) -> list[str]:
    """The dotted keys that a recipe with these plugs may have."""

    def walk(section: type[BaseModel], prefix: str, given: Mapping[str, Any]) -> Iterator[str]:
        for name, field in section.model_fields.items():
            yield f"{prefix}{name}"
            part = given.get(name)
            inner = None if get_args(field.annotation) else _section_of(field, part)  # the keys of entries have numbers
            if inner is not None:
                yield from walk(inner, f"{prefix}{name}.", part if isinstance(part, Mapping) else {})

    return list(walk(Recipe, "", data))


def _known_keys(path: list[str], data: Mapping[str, Any]) -> list[str]:
    section: type[BaseModel] = Recipe
    given: Any = data
    for name in path:
        if name.isdigit():  # of an entry in a list of sections
            given = given[int(name)]
            continue
        given = given.get(name, {})
        inner = _section_of(section.model_fields[name], given)
        assert inner is not None, f"{name} is no section"
        section = inner
    return list(section.model_fields)
