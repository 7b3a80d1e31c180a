"""Recipes: what a wrong one says, and what overrides do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from webdojo.agent.webgym import WebGymConfig
from webdojo.envs.dojo import Dojo
from webdojo.errors import ConfigError
from webdojo.policy.engine import ChatConfig, VLLMConfig
from webdojo.policy.engines import HF
from webdojo.recipe import GONE, MOVED, Recipe, dump_changes, dump_recipe, load_recipe, parse_recipe, recipe_names
from webdojo.reward.judges.judge import Judge
from webdojo.reward.rules import Rules
from webdojo.rollout.curriculum import stage_of
from webdojo.tasks.samplers.sampler import Stratum
from webdojo.types import Task

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_of_the_package_is_valid_and_survives_a_round_trip(name, tmp_path):
    recipe = load_recipe(name)
    assert recipe.name == name
    copy = tmp_path / "copy.yaml"
    copy.write_text(dump_recipe(recipe))
    assert load_recipe(str(copy)) == recipe


def test_package_has_the_recipes_that_the_documentation_names():
    assert {"quickstart", "openwebrl"} <= set(recipe_names())


def test_openwebrl_trains_90_iterations_at_15_steps_and_then_50_at_30():
    train = load_recipe("openwebrl").train
    horizons = [stage.horizon(1) for n in range(train.iterations) if (stage := stage_of(train.stages, n + 1))]
    assert horizons == [15] * 90 + [30] * 50


def test_a_recipe_may_be_based_on_another(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "base: quickstart\nname: mine\ntrain: {lr: 0.1}\nharness: {name: webgym, history_turns: 2}\n"
    )
    (tmp_path / "again.yaml").write_text("base: mine.yaml\nrollout: {sampling: {temperature: 0.5}}\n")
    quick, mine = load_recipe("quickstart"), load_recipe(str(tmp_path / "mine.yaml"))
    assert (mine.name, mine.train) == ("mine", quick.train.model_copy(update={"lr": 0.1}))
    assert mine.harness == WebGymConfig(history_turns=2), "options of another harness are not this one's"
    again = load_recipe(str(tmp_path / "again.yaml"), ["train.lr=0.2"])
    assert (again.name, again.train.lr, again.rollout.sampling.max_tokens) == ("mine", 0.2, 96)
    assert again.rollout.sampling.temperature == 0.5
    (tmp_path / "short.yaml").write_text(
        "base: webgym-dojo\nname: short\nenv: {name: dojo, difficulty_sampling: {1: 2}}\n"
        "rollout: {max_steps_by_difficulty: {}}\n"
    )
    short, gym = load_recipe(str(tmp_path / "short.yaml")), load_recipe("webgym-dojo")
    assert isinstance(short.env, Dojo)
    assert isinstance(gym.env, Dojo)
    assert short.env == gym.env.model_copy(update={"difficulty_sampling": {1: 2}}), "a value of the base is mixed in"
    assert short.rollout == gym.rollout.model_copy(update={"max_steps_by_difficulty": {}})
    assert yaml.safe_load(dump_recipe(again)).get("base") is None


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("quickstrat", "unknown recipe 'quickstrat'; did you mean 'quickstart'"),
        ("other.yaml", "does not exist"),
        ("mine.yaml", "leads back to itself"),
        ("[quickstart]", "must be a recipe's name or a path"),
    ],
)
def test_a_base_that_is_none_is_one_line(tmp_path, base, words):
    (tmp_path / "mine.yaml").write_text(f"base: {base}\nname: mine\n")
    with pytest.raises(ConfigError, match=re.escape(words)) as caught:
        load_recipe(str(tmp_path / "mine.yaml"))
    assert "\n" not in str(caught.value)


def test_horizons_follow_the_difficulty():
    overrides = ["rollout.max_steps_by_difficulty={6: 20, 3: 10}", "rollout.max_steps=30", "evaluate.max_steps=70"]
    recipe = load_recipe("quickstart", overrides)
    assert [recipe.rollout.horizon(difficulty) for difficulty in (1, 3, 4, 6, 7, 12)] == [10, 10, 20, 20, 30, 30]
    assert recipe.evaluate.horizon(1) == recipe.evaluate.horizon(9) == 70


def test_overrides_are_read_as_yaml_and_leave_the_rest_alone():
    recipe = load_recipe("quickstart", ["train.lr=1e-4", "env.kinds=[wiki]", "browser.headless=false", "seed=7"])
    assert recipe.train.lr == 1e-4
    assert isinstance(recipe.env, Dojo)
    assert recipe.env.kinds == ["wiki"]
    assert recipe.browser.headless is False
    assert recipe.seed == 7
    expected = load_recipe("quickstart").model_dump()
    expected["train"]["lr"], expected["env"]["kinds"], expected["browser"]["headless"] = 1e-4, ["wiki"], False
    assert recipe.model_dump() == expected | {"seed": 7}


def test_a_plugs_name_alone_is_that_plug_with_its_defaults(tmp_path):
    web = load_recipe("webgym")
    dojo = load_recipe("webgym", ["env=dojo", "reward=rules", "env.train_sites=7"])
    assert (dojo.env, dojo.reward) == (Dojo(train_sites=7), Rules()), "the judge's options are not those of the rules"
    assert dojo == load_recipe("webgym", ["env={name: dojo, train_sites: 7}", "reward={name: rules}"])
    assert dojo.model_dump(exclude={"env", "reward"}) == web.model_dump(exclude={"env", "reward"})
    (tmp_path / "mine.yaml").write_text("base: webgym\nname: mine\nenv: dojo\nreward: rules\nengine: hf\n")
    mine = load_recipe(str(tmp_path / "mine.yaml"), ["env.train_sites=7"])
    assert (mine.env, mine.reward, mine.engine) == (dojo.env, dojo.reward, dojo.engine)
    assert yaml.safe_load(dump_changes(mine))["env"] == {"train_sites": 7}
    judge = load_recipe("quickstart", ["reward={name: openwebrl, engine: hf}"]).reward
    assert judge.model_dump()["engine"] == {"name": "hf"}


@pytest.mark.parametrize("name", ["openwebrl", "webgym", "asyncwebrl", "webagent_r1", "openwebvoyager"])
def test_a_papers_recipe_differs_on_the_embedded_web_in_what_its_head_says_alone(name):
    real, dojo = load_recipe(name).model_dump(), load_recipe(f"{name}-dojo").model_dump()
    assert (real["env"]["name"], dojo["env"]["name"]) == ("webarena" if name == "webagent_r1" else "web", "dojo")
    assert dojo["reward"]["name"] == "rules"
    assert dojo["reward"]["format_reward"] == real["reward"]["format_reward"]
    for recipe in (real, dojo):
        for section in ("name", "env", "reward"):
            del recipe[section]
        recipe["sft"].pop("demos")
        recipe["train"].pop("stages") if "gym" in name or "async" in name else None
        for key in ("fill", "restart_url", "address_bar"):
            recipe["harness"].pop(key, None)
    assert real == dojo


CHANGED = [
    [],
    ["engine={name: chat, base_url: 'http://127.0.0.1:1/v1', model: m}", "evaluate.sampling.temperature=1"],
    ["env={name: web}", "reward={name: rules}", "rollout.sampling.temperature=1.0", "harness={name: webgym}"],
    ["reward={name: webgym, engine: {base_url: 'http://127.0.0.1:1/v1'}}"],
    ["reward={name: openwebrl, engine: {name: hf}, model: {path: tiny}, sampling: {max_tokens: 9}}"],
    ["tasks.sampler={name: success_window, floor: 0.2}"],
    ["tasks.sampler=learning_progress", "tasks.blocklist=there"],
    ["train.stages=[{iterations: 1, max_steps: 9}]", "browser.guard.private_hosts=[localhost]"],
]


@pytest.mark.parametrize("overrides", CHANGED)
@pytest.mark.parametrize("name", ["quickstart", "openwebrl", "webgym"])
def test_the_keys_that_differ_from_the_defaults_are_the_whole_recipe(name, overrides):
    recipe = load_recipe(name, overrides)
    data = yaml.safe_load(dump_changes(recipe))
    assert parse_recipe(data, name) == recipe
    assert next(iter(data)) == "name"
    assert "cdp_url" not in data.get("browser", {}), "a key at its default is shown"


def test_a_plug_inside_of_a_plug_is_based_and_merged_as_one(tmp_path):
    (tmp_path / "judged.yaml").write_text(
        "base: quickstart\nname: judged\nreward: {name: webvoyager, engine: {base_url: 'http://a/v1', model: m}}\n"
    )
    (tmp_path / "more.yaml").write_text("base: judged.yaml\nreward: {max_images: 2, engine: {model: n}}\n")
    (tmp_path / "local.yaml").write_text("base: judged.yaml\nreward: {engine: {name: hf}}\n")
    more, local = (load_recipe(str(tmp_path / f"{name}.yaml")).reward for name in ("more", "local"))
    assert isinstance(more, Judge)
    assert isinstance(local, Judge)
    assert isinstance(more.engine, ChatConfig)
    assert more.model_dump(include={"name", "max_images"}) == {"name": "webvoyager", "max_images": 2}
    assert (more.engine.base_url, more.engine.model, more.engine.max_concurrency) == ("http://a/v1", "n", 16)
    assert (local.name, local.max_images, type(local.engine)) == ("webvoyager", 15, HF)


def test_the_changes_of_a_plug_inside_of_a_plug_are_shown_and_no_more():
    recipe = load_recipe("quickstart", ["reward={name: webgym, engine: {name: hf}, timeout_s: 5}"])
    assert yaml.safe_load(dump_changes(recipe))["reward"] == {
        "name": "webgym",
        "timeout_s": 5.0,
        "engine": {"name": "hf"},
    }


def test_an_override_may_name_a_section_that_the_file_leaves_out(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text("name: small\n")
    assert load_recipe(str(file), ["rollout.sampling.top_k=5"]).rollout.sampling.top_k == 5


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["train.lrr=1"], ["unknown key 'train.lrr'", "did you mean 'train.lr'"]),
        (
            ["reward={name: webgym, engine: {bse_url: x}}"],
            ["unknown key 'reward.engine.bse_url'", "did you mean 'reward.engine.base_url'"],
        ),
        (["reward={name: webgym, engine: {name: hf, bse_url: x}}"], ["unknown key 'reward.engine.bse_url'"]),
        (["reward={name: webgym, engine: {name: ht}}"], ["unknown engine 'ht'", "did you mean"]),
        (["reward={name: webgym, model: {pth: x}}"], ["did you mean 'reward.model.path'"]),
        (
            ["rollout.sampling.temprature=1"],
            ["rollout.sampling.temprature", "did you mean 'rollout.sampling.temperature'"],
        ),
        (["trian.lr=1"], ["unknown key 'trian'", "did you mean 'train'"]),
        (["lr=1"], ["unknown key 'lr'", "did you mean 'train.lr' or 'sft.lr'?"]),
        (["train.lr"], ["'train.lr'", "section.key=value"]),
        (["=3"], ["'=3'", "section.key=value"]),
        (["seed.x=3"], ["'seed.x=3'", "'seed' is a value, not a section"]),
        (["train.lr=[1"], ["'train.lr=[1'", "not a YAML value"]),
        (["train.lr=fast"], ["train.lr", "'fast'", "number"]),
        (["train.lr=-1"], ["train.lr", "-1", "greater than 0"]),
        (["rollout.group_size=0"], ["rollout.group_size", "greater than or equal to 1"]),
        (["rollout.group_size=1"], ["rollout.group_size 1", "set train.dynamic_sampling=false"]),
        (
            ["rollout.group_size=1", "train.dynamic_sampling=false"],
            ["nothing that train.advantage 'grpo' could compare", "reinforce, reinforce_baseline"],
        ),
        (["rollout.max_steps_by_difficulty={3: 0}"], ["max_steps_by_difficulty.3", "0", "greater than or equal to 1"]),
        (["env.difficulty_sampling={0: 1}"], ["env.difficulty_sampling", "0", "greater than or equal to 1"]),
        (["rollout.sampling.logit_bias={7: 1.5}"], ["rollout.sampling", "learner scores responses without"]),
        (["rollout.sampling.seed=3"], ["rollout.sampling", "episodes of a group alike"]),
        (["rollout.sampling.temperature=0"], ["rollout.sampling", "episodes of a group alike"]),
        (["evaluate.sampling.max_tokens=2048"], ["evaluate.sampling.max_tokens 2048", "max_context_tokens, 2048"]),
        (["train.adam_betas=[0.9, 1]"], ["train.adam_betas", "less than 1"]),
        (["train.lr=.inf"], ["train.lr", "finite"]),
        (["train.recency_bias_power=1000"], ["train.recency_bias_power", "1000"]),
        (["env.layout=huge"], ["env.layout", "'huge'", "'compact'"]),
        (["env.perturbations=4"], ["env.perturbations", "4", "0, 1, 2 or 3"]),
        (["env.kindz=[shop]"], ["unknown key 'env.kindz'", "did you mean 'env.kinds'"]),
        (["engine={name: vllm, replica: 2}"], ["unknown key 'engine.replica'", "did you mean 'engine.replicas'"]),
        (["engine.name=vlm"], ["unknown engine 'vlm'", "did you mean 'vllm'"]),
        (["env=3"], ["env = 3", "dictionary"]),
        (["env=dojoo"], ["unknown environment 'dojoo'", "did you mean 'dojo'"]),
        (["env=dojo", "env.kindz=[shop]"], ["unknown key 'env.kindz'", "did you mean 'env.kinds'"]),
        (
            ["engine={name: chat, api_key_env: sk-0123456789}"],
            ["engine.api_key_env", "must name an environment variable"],
        ),
        (["train.lr=0", "train.clip_low=-1"], ["train.lr", "train.clip_low"]),
    ],
)
def test_a_wrong_override_is_one_line_that_names_key_and_value(overrides, words):
    with pytest.raises(ConfigError) as caught:
        load_recipe("quickstart", overrides)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_an_unknown_recipe_names_the_nearest_and_all_others():
    with pytest.raises(ConfigError, match="unknown recipe 'quikstart'; did you mean 'quickstart'") as caught:
        load_recipe("quikstart")
    assert "openwebrl" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [unclosed\n", "not valid YAML"),
        ("- a\n- b\n", "must be a mapping of sections, but is a list"),
        ("seed: 1\n", "missing key 'name'"),
        ("", "missing key 'name'"),
        ("name: x\ntrain: fast\n", "train = 'fast'"),
        ("name: x\ntrian: {}\n", "unknown key 'trian'.*did you mean 'train'"),
    ],
)
def test_a_wrong_file_says_what_is_wrong_and_which_file(tmp_path: Path, text, message):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_recipe(str(file))
    assert "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_does_not_exist():
    with pytest.raises(ConfigError, match=r"'nowhere/mine.yaml' does not exist"):
        load_recipe("nowhere/mine.yaml")


def test_the_resolved_recipe_shows_every_key():
    resolved = yaml.safe_load(dump_recipe(load_recipe("quickstart")))
    assert set(resolved) == set(Recipe.model_fields)
    assert set(resolved["train"]) == set(Recipe.model_fields["train"].default.model_dump())


def test_keys_that_do_not_fit_together_are_named_without_the_whole_section():
    with pytest.raises(ConfigError) as caught:
        load_recipe("quickstart", ["train.policy_loss=decoupled"])
    assert str(caught.value) == (
        "train in 'quickstart': policy_loss 'decoupled' needs a π_prox: set old_logprobs: learner or loglinear"
    )


def test_an_unknown_key_of_a_stage_is_named() -> None:
    with pytest.raises(ConfigError, match=r"unknown key .*did you mean 'train\.stages\.0\.max_steps'"):
        load_recipe("quickstart", ["train.stages=[{iterations: 1, max_step: 9}]"])


def test_a_key_that_may_be_the_key_itself_is_not_repeated():
    with pytest.raises(ConfigError) as caught:
        load_recipe("quickstart", ["engine={name: chat, api_key_env: sk-0123456789}"])
    assert "sk-0123456789" not in str(caught.value)


# --- recipes of version 0.1 -------------------------------------------------------------------


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_key_names_the_new_one(old):
    value = {"model.vllm": "{replicas: 2}", "endpoint": "{model: m}"}.get(old, "1")
    with pytest.raises(ConfigError) as caught:
        load_recipe("quickstart", [f"{old}={value}"])
    assert f"unknown key {old!r} in 'quickstart'; it is {MOVED[old]!r} now" in str(caught.value)


def test_an_old_key_inside_an_old_section_names_the_new_section():
    with pytest.raises(ConfigError, match=r"unknown key 'model\.vllm' .* it is 'engine' now"):
        load_recipe("quickstart", ["model.vllm.replicas=2"])


def test_a_key_that_is_gone_is_one_line_and_is_left_out_of_older_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(GONE, "browser.serve", {"old_slots", "max_sessions"})
    monkeypatch.setitem(GONE, "train", {"old_dtype", "lr"})
    data = yaml.safe_load(dump_recipe(load_recipe("quickstart", ["train.lr=0.5", "browser.serve.max_sessions=3"])))
    data["browser"]["serve"]["old_slots"] = 7
    data["train"]["old_dtype"] = "auto"
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(ConfigError) as caught:
        load_recipe(str(file))
    for key in ("browser.serve.old_slots", "train.old_dtype"):
        assert f"unknown key {key!r} in {str(file)!r}; it is gone, and what was its default always holds" in str(
            caught.value
        )
    recipe = load_recipe(str(file), migrate=True)
    assert (recipe.train.lr, recipe.browser.serve.max_sessions) == (0.5, 3), "keys that there are stay"
    with pytest.raises(ConfigError, match=r"'train\.old_dtype'.* it is gone"):
        load_recipe(str(file), ["train.old_dtype=auto"], migrate=True)


def test_a_chance_of_tasks_that_taught_nothing_is_a_sampler_now(tmp_path):
    (tmp_path / "old.yaml").write_text("name: old\ntasks: {settled_chance: 0.3}\n")
    sampler = load_recipe(str(tmp_path / "old.yaml"), migrate=True).tasks.sampler
    task = Task(id="t", instruction="", start_url="http://a/", website="a")
    ends = {"solved": [(1, 1)], "failed": [(0, 1), (0, 0)], "mixed": [(0, 0), (0, 1)], "new": []}
    found = sampler.chances({name: Stratum([task], [*groups]) for name, groups in ends.items()})
    assert found == {"solved": 0.3, "failed": 0.3, "mixed": 1, "new": 1}
    assert sampler.key(task) == ("t",)


def test_the_quickstart_that_version_0_1_wrote_is_todays():
    old = str(DATA / "quickstart-0.1.yaml")
    with pytest.raises(ConfigError, match=r"unknown key 'tasks\.kinds' .*it is 'env\.kinds' now"):
        load_recipe(old)
    assert load_recipe(
        old,
        ["sft.demos=300", "train.iterations=11", "train.ppo_epochs=4", "train.lr=7e-4", "train.schedule=cosine"],
        migrate=True,
    ) == load_recipe("quickstart")


def test_values_of_version_0_1_stay_what_they_were(tmp_path):
    data = yaml.safe_load((DATA / "quickstart-0.1.yaml").read_text())
    data["tasks"] |= {
        "weather": 2,
        "weather_impassable": True,
        "kinds": ["mail"],
        "train_sites": 7,
        "blocklist": "b.db",
    }
    data["browser"] |= {"sites_host": "0.0.0.0", "sites_port": 4000, "locale": "de-DE"}
    data["model"] |= {"engine": "vllm", "vllm": {"replicas": 2, "gpus": [1, 2]}}
    data["endpoint"] |= {"base_url": "http://a/v1", "model": "m"}
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(data))
    recipe = load_recipe(str(file), ["env.heldout_sites=9"], migrate=True)
    assert isinstance(recipe.env, Dojo)
    assert (recipe.env.perturbations, recipe.env.permanent_failures, recipe.env.kinds) == (2, True, ["mail"])
    assert (recipe.env.train_sites, recipe.env.heldout_sites, recipe.tasks.blocklist) == (7, 9, "b.db")
    assert (recipe.env.host, recipe.env.port, recipe.browser.locale) == ("0.0.0.0", 4000, "de-DE")
    assert isinstance(recipe.engine, VLLMConfig)
    assert (recipe.engine.replicas, recipe.engine.gpus) == (2, [1, 2])
    assert (recipe.reward.name, recipe.harness.name) == ("env", "openwebrl")


def test_a_run_whose_memory_was_a_delta_goes_on_with_one(tmp_path):
    data = yaml.safe_load(dump_recipe(load_recipe("webgym")))
    del data["harness"]["memory_delta"]
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(data))
    harness = load_recipe(str(file), migrate=True).harness
    assert isinstance(harness, WebGymConfig)
    assert harness.memory_delta


@pytest.mark.parametrize("name", ["openwebrl", "webgym"])
def test_todays_recipes_are_read_alike_with_and_without_migration(tmp_path, name):
    copy = tmp_path / "copy.yaml"
    copy.write_text(dump_recipe(load_recipe(name)))
    assert load_recipe(str(copy), migrate=True) == load_recipe(name)
