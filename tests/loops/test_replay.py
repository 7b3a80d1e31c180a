"""Replay from the run folder: what is in the buffer, and that a resumed run draws the same."""

from __future__ import annotations

from pathlib import Path

from tests.rollout.records import screen, task, trajectory
from webdojo.loops.online.loop import assemble
from webdojo.loops.resume import stored_groups
from webdojo.recipe import Recipe, load_recipe
from webdojo.rollout.groups import Group
from webdojo.store.run import RunStore
from webdojo.trainer.batch import Sample, samples_from_groups


def recipe(*overrides: str) -> Recipe:
    return load_recipe("quickstart", ["train.replay_buffer_capacity=3", *overrides])


def roll_out(store: RunStore, iteration: int, groups: int = 2) -> list[Group]:
    """Groups of one success and two failures, stored as they end: not in the order of their members."""
    made = []
    for number in range(groups):
        id = f"t{number}-{iteration}"
        rewards = {0: 1.0, 1: 0.0, 2: 0.0}
        image = screen(store.images)
        members = [trajectory(task(f"t{number}"), r, iteration, f"{id}-{n}", id, image) for n, r in rewards.items()]
        for member in (members[2], members[0], members[1]):
            store.add_trajectory(member, "rl", iteration)
        made.append(Group(id, members[0].task, members))
    return made


def iterations_of(samples: list[Sample]) -> list[int]:
    return sorted({sample.versions[0] for sample in samples})


def test_the_last_iterations_are_replayed_and_a_resumed_run_draws_the_same(tmp_path: Path) -> None:
    wanted = recipe("train.samples_per_iteration=7")
    with RunStore.create(tmp_path / "run", "", {}) as store:
        for iteration in (1, 2, 3, 4):
            groups = roll_out(store, iteration)
            drawn = assemble(groups, iteration, wanted, store)
            assert len(drawn) == min(7, 6 * iteration)
            assert set(iterations_of(drawn)) <= set(range(max(iteration - 2, 1), iteration + 1))
        everything = assemble(groups, 4, recipe("train.samples_per_iteration=1000"), store)
        assert iterations_of(everything) == [2, 3, 4]
        assert len(everything) == 18
    with RunStore.open(tmp_path / "run") as store:
        (first, second) = groups
        assert stored_groups(store, "rl", [second.id, first.id]) == [second, first]
        assert assemble(groups, 4, wanted, store) == drawn
        assert assemble(groups, 4, wanted.model_copy(update={"seed": 5}), store) != drawn


def test_an_update_draws_as_many_turns_as_its_iteration_has_brought(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", "", {}) as store:
        for iteration, groups in ((1, 5), (2, 3)):
            drawn = assemble(roll_out(store, iteration, groups), iteration, recipe(), store)
    assert len(drawn) == 9


def test_without_replay_an_update_trains_on_its_iteration(tmp_path: Path) -> None:
    off = recipe("train.replay_buffer_capacity=1")
    with RunStore.create(tmp_path / "run", "", {}) as store:
        roll_out(store, 1)
        groups = roll_out(store, 2)
        plain = samples_from_groups([group.trajectories for group in groups], off.train)
        assert assemble(groups, 2, off, store) == plain


def test_an_iteration_and_a_buffer_without_any_success_train_as_without_replay(tmp_path: Path) -> None:
    successes = recipe("train.policy_loss=bc", "train.advantage=reinforce")
    with RunStore.create(tmp_path / "run", "", {}) as store:
        members = [trajectory(task("t"), reward, 1, f"t-1-{n}", "t-1") for n, reward in enumerate((0.0, -1.0))]
        for member in members:
            store.add_trajectory(member, "rl", 1)
        samples = assemble([Group("t-1", members[0].task, members)], 1, successes, store)
    assert [sample.advantage for sample in samples] == [0.0, 0.0], "the KL term alone trains"
