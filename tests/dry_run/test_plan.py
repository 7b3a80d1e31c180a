"""The plan of learner and engine together, disk and hours, on a machine without a GPU."""

from __future__ import annotations

import re

import pytest

from webdojo.dry_run.memory import GB, Machine, plan_memory
from webdojo.dry_run.plan import advice, combined, disk, fits, hours, plan_lines, together
from webdojo.errors import ConfigError
from webdojo.loops.models import estimates, machine_of
from webdojo.policy.model.loading import skeleton
from webdojo.recipe import Recipe, load_recipe

H100 = Machine(cuda=True, memory=80 * GB)
TWO_CORES = Machine(cuda=False, cores=2)


def planned(recipe: Recipe, machine: Machine) -> tuple[float, float]:
    """GB while the learner steps, and while the engine samples."""
    needed = together(skeleton(recipe.model.path), recipe, machine)
    return needed.step / GB, needed.rollout / GB


@pytest.mark.parametrize(("name", "gb"), [("openwebrl-80gb", 80), ("openwebrl-24gb", 24)])
def test_a_recipe_for_one_gpu_fits_into_it_with_room(name: str, gb: int) -> None:
    recipe = load_recipe(name)
    machine = machine_of(recipe.model)
    assert machine.cuda
    assert machine.memory in (gb * GB, machine_of(load_recipe("quickstart", ["model.device=cuda"]).model).memory)
    step, rollout = planned(recipe, Machine(cuda=True, memory=gb * GB))
    assert max(step, rollout) < 0.95 * gb
    longest = load_recipe(name, [f"train.micro_batch_tokens={recipe.rollout.max_context_tokens}"])
    assert planned(longest, Machine(cuda=True, memory=gb * GB))[0] < 0.95 * gb


def test_an_engine_counts_where_it_shares_the_learners_gpu() -> None:
    base = ["model.device=cuda", "engine={name: vllm, gpu_memory_utilization: 0.5}"]
    learner = plan_memory(skeleton("tiny"), load_recipe("quickstart", base), H100)
    lasting = sum(learner.lasting.values()) / GB

    def of(*overrides: str) -> tuple[float, float]:
        return planned(load_recipe("quickstart", [*base, *overrides]), H100)

    assert of() == pytest.approx((learner.peak / GB + 40, lasting + 40))
    assert of("engine.enable_sleep_mode=true") == pytest.approx((learner.peak / GB + 2, lasting + 40))
    assert of("engine.gpus=[1]") == pytest.approx((learner.peak / GB, lasting))
    assert of("engine.gpus=[0]") == of()
    assert of("engine={name: vllm, urls: [http://10.0.0.7:8000]}") == pytest.approx((learner.peak / GB, lasting))


ON_CLUSTER = ["model.device=cuda", "engine={name: vllm, gpu_memory_utilization: 0.3}", "cluster.address=auto"]


def test_on_a_cluster_an_engine_counts_where_the_plan_puts_it() -> None:
    def of(*overrides: str) -> Recipe:
        return load_recipe("quickstart", [*ON_CLUSTER, *overrides])

    own = ["cluster.ranks.num_gpus=1", "cluster.engines.num_gpus=1"]
    model, learner = skeleton("tiny"), plan_memory(skeleton("tiny"), of(), H100)
    lasting = sum(learner.lasting.values()) / GB
    assert planned(of(*own), H100) == pytest.approx((learner.peak / GB, lasting))
    shares = ["cluster.ranks.num_gpus=0.4", "cluster.engines.num_gpus=0.3", "cluster.engines.replicas=2"]
    assert planned(of(*shares), H100) == pytest.approx((learner.peak / GB + 48, lasting + 48))
    lines = plan_lines(model, of(*own), H100)
    at = lines.index(f"the learner on a GPU of its own, in GB: {learner.peak / GB:.2f} while it steps")
    assert lines[at + 1 : at + 4] == ["fits in 80.0 GB", "the engine on a GPU, in GB: 24.00", "fits in 80.0 GB"]


def test_changes_are_combined_until_the_recipe_fits() -> None:
    recipe = load_recipe("openwebrl")
    model = skeleton(recipe.model.path)
    changes, needed = combined(model, recipe, H100)
    assert changes[:2] == ["train.gradient_checkpointing=true", "train.optimizer_offload=true"]
    assert fits(recipe, H100, needed)
    overrides = [override for change in changes for override in change.split()]
    changed = load_recipe("openwebrl", overrides)
    assert together(model, changed, H100) == needed, "the line that is printed gives what it says"
    assert advice(model, recipe, H100).endswith(" ".join(changes))
    assert advice(model, recipe, Machine(cuda=True, memory=8 * GB)).startswith("not even with ")


def test_an_engine_that_sleeps_already_takes_a_smaller_share() -> None:
    recipe, machine = load_recipe("openwebrl-80gb"), Machine(cuda=True, memory=48 * GB)
    changes, needed = combined(skeleton(recipe.model.path), recipe, machine)
    assert fits(recipe, machine, needed)
    assert any(change.startswith("engine.gpu_memory_utilization=") for change in changes)


def test_where_nothing_helps_the_advice_names_nothing() -> None:
    recipe = load_recipe("openwebrl-24gb")
    advised = advice(skeleton(recipe.model.path), recipe, Machine(cuda=True, memory=4 * GB))
    assert "not even with ," not in advised and "take a smaller model" in advised


def test_the_longest_turn_is_told_where_it_alone_does_not_fit() -> None:
    saving = ["train.optimizer=adamw_8bit", "engine.gpu_memory_utilization=0.6"]
    recipe, machine = load_recipe("openwebrl-80gb", saving), Machine(cuda=True, memory=48 * GB)
    lines = "\n".join(plan_lines(skeleton(recipe.model.path), recipe, machine))
    assert re.search(
        r"^fits in 48\.0 GB\n  but not a turn of all 32,768 tokens, which needs 6\d\.\d\d: lower rollout\.max_",
        lines,
        re.M,
    )
    saved = re.search(r"lower rollout.max_context_tokens, or set (.+)$", lines, re.M)
    assert saved is not None
    whole = load_recipe("openwebrl-80gb", [*saving, "train.micro_batch_tokens=32768", *saved[1].split()])
    assert fits(whole, machine, together(skeleton(recipe.model.path), whole, machine))


def test_a_plan_needs_neither_the_gpu_nor_a_network() -> None:
    lines = "\n".join(estimates(load_recipe("openwebrl-80gb")))
    assert re.search(r"^learner and engine together on a GPU, in GB: .* while the learner steps, ", lines, re.MULTILINE)
    assert re.search(r"^fits in \d+\.\d GB$", lines, re.MULTILINE)
    assert re.search(
        r"^disk, in GB: .* of the screenshots of these turns, .* of checkpoints \(train\.save_total_limit=\d+\)$",
        lines,
        re.MULTILINE,
    )
    assert re.search(r"^hours, roughly: \d+ to \d+, on a GPU that sustains", lines, re.MULTILINE)


def test_a_short_run_is_planned_in_minutes() -> None:
    lines = "\n".join(estimates(load_recipe("quickstart")))
    assert re.search(r"^minutes, roughly: [1-9]\d* to [1-9]\d*, on \d+ cores", lines, re.MULTILINE)


def test_disk_holds_screenshots_and_the_checkpoints_that_stay() -> None:
    model = skeleton("tiny")
    recipe = load_recipe("quickstart", ["train.iterations=2"])
    parameters = sum(p.numel() for p in model.parameters())
    assert disk(model, recipe)[1] > 4 * 4 * parameters, "of two iterations, the warm start, and the one being written"
    more = load_recipe("quickstart", ["train.iterations=2", "browser.viewport_px=[640, 640]"])
    assert disk(model, more)[0] == pytest.approx(4 * disk(model, recipe)[0])


def test_the_quickstarts_hours_are_those_that_it_takes() -> None:
    low, high = hours(skeleton("tiny"), load_recipe("quickstart"), TWO_CORES)
    assert low < 0.45 < high, (low, high)


def test_a_server_that_is_there_is_only_told_to_sleep() -> None:
    recipe = load_recipe("openwebrl", ["model.device=cuda", "engine={name: vllm, max_model_len: 20000}"])
    model, machine = skeleton(recipe.model.path), Machine(cuda=True, memory=80 * GB)
    changes, needed = combined(model, recipe, machine)
    assert any(change.startswith("engine.enable_sleep_mode=true") for change in changes)
    assert not any("engine.name" in change for change in changes)
    overrides = [override for change in changes for override in change.split()]
    given = ["model.device=cuda", "engine={name: vllm, max_model_len: 20000}", *overrides]
    assert together(model, load_recipe("openwebrl", given), machine) == needed


BESIDE = ["model.device=cuda", "train.ranks=1", "engine={name: vllm, replicas: 2, gpus: [1, 2]}"]


def hours_of(*overrides: str, cores: int = 10_000) -> float:
    """The longest that a recipe takes, on so many cores that pages take no time."""
    recipe = load_recipe("openwebrl", [*BESIDE, "evaluate.tasks=1", *overrides])
    return hours(skeleton(recipe.model.path), recipe, Machine(cuda=True, memory=80 * GB, cores=cores))[1]


def test_engines_share_the_sampling_and_work_while_the_learner_steps() -> None:
    in_turns = hours_of()
    more = hours_of("engine.replicas=8", "engine.gpus=[1, 2, 3, 4, 5, 6, 7, 8]")
    learning = (4 * more - in_turns) / 3  # in turns the hours are learning + sampling / engines
    sampling = in_turns - learning
    assert min(learning, sampling) > 0
    overlapped = hours_of("rollout.max_staleness=1")
    assert overlapped == pytest.approx(max(learning, sampling), rel=0.02)
    shared = ["engine.gpus=[]", "engine.replicas=1", "rollout.max_staleness=1"]
    assert hours_of(*shared) == pytest.approx(learning + 2 * sampling, rel=0.02), "one GPU does one after the other"


def test_the_hours_say_which_cores_they_assume() -> None:
    tiny = load_recipe("quickstart", ["model.device=cuda"])
    one, two = (hours(skeleton("tiny"), tiny, Machine(cuda=True, cores=cores))[1] for cores in (1, 2))
    assert one > 1.9 * two, "pages take longer than such a model"
    (said,) = [line for line in estimates(load_recipe("openwebrl", BESIDE), cores=12) if line.startswith("hours")]
    assert "GPUs that sustain 200 TFLOP/s each (1 for the learner, 2 for the engine) and 12 cores for pages" in said


def test_a_recipe_that_trains_nothing_has_no_learner() -> None:
    lines = "\n".join(estimates(load_recipe("webvoyager", ["model.device=cuda", "model.gpu_memory_gb=80"])))
    assert "learner" not in lines and "checkpoints" not in lines
    assert re.search(r"^the engine on a GPU, in GB: \d+\.\d\d\ndoes not fit in 80.0 GB$", lines, re.M)


def test_what_has_no_effect_is_noted() -> None:
    def notes(name: str, *overrides: str) -> list[str]:
        return [line for line in estimates(load_recipe(name, list(overrides))) if line.startswith("note: ")]

    (loss,) = notes("quickstart", "train.policy_loss=bc", "train.advantage=rloo")
    assert "train.advantage 'rloo' has no effect" in loss
    (steps,) = notes("openwebrl", "rollout.max_steps=5")
    assert "train.stages, up to 15 and then 30 turns" in steps
    assert notes("openwebrl") == notes("quickstart") == []


def test_gpus_that_cannot_share_the_heads_are_refused() -> None:
    with pytest.raises(ConfigError, match="tensor_parallel_size 3 does not divide the 32 attention heads"):
        estimates(load_recipe("openwebrl-80gb", ["engine.tensor_parallel_size=3"]))
