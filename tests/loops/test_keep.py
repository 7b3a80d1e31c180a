"""Which checkpoints stay, in a run folder that is opened again and again."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rollout.records import task, trajectory
from webdojo.loops.keep import best, remove_surplus, staying
from webdojo.loops.run_folder import EVALUATION
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.run import RunStore


@pytest.mark.parametrize(
    ("saved", "best", "every", "limit", "stay"),
    [
        ([1], None, 5, 0, [1]),
        ([1, 2], 1, 5, 0, [1, 2]),
        ([5, 6, 7], 6, 5, 0, [5, 6, 7]),
        ([5, 6, 7], 5, 5, 0, [5, 7]),
        ([2, 5, 10, 12, 13], 2, 5, 0, [2, 5, 10, 13]),
        ([2, 5, 10, 12, 13], 2, 5, 3, [2, 10, 13]),
        ([2, 5, 10, 12, 13], 10, 5, 3, [5, 10, 13]),
        ([2, 5, 10, 12, 13], 2, 5, 1, [2, 13]),
        ([2, 5, 10, 12, 13], 13, 5, 1, [13]),
    ],
)
def test_the_latest_the_best_and_the_last_few_stay(saved, best, every, limit, stay):
    assert sorted(staying(saved, best, every, limit, max_staleness=0)) == stay


def test_those_stay_whose_episodes_have_not_all_ended():
    assert sorted(staying([2, 5, 10, 12, 13], 2, 5, 3, max_staleness=1)) == [2, 12, 13]
    assert sorted(staying([1], None, 5, 3, max_staleness=2)) == [1]


def keeping(every: int, limit: int, max_staleness: int) -> Recipe:
    """A recipe that says what stays."""
    train = [f"train.save_every={every}", f"train.save_total_limit={limit}"]
    return load_recipe("quickstart", [*train, f"rollout.max_staleness={max_staleness}"])


def weights(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "weights").write_text(text)

    return write


def roll_out(store: RunStore, iteration: int, success: float, n: int = 20) -> None:
    """Training episodes that begin in an iteration, so under the policy of the one before."""
    for member in range(n):
        name = f"of-{iteration}-{len(store.rows('rl'))}"
        found = trajectory(task("t"), float(member < round(success * n)), trajectory_id=name)
        store.add_trajectory(found, "rl", iteration)


def save(store: RunStore, iteration: int) -> None:
    """The checkpoint that ends an iteration."""
    store.checkpoints.save(f"rl-{iteration:04d}", weights(str(iteration)), {"phase": "rl", "iteration": iteration})


def test_the_best_policy_stays_whatever_happens_in_between(tmp_path: Path) -> None:
    rng = random.Random(0)
    success = {iteration: rng.randrange(20) / 20 for iteration in range(1, 31)}
    success[8] = 1.0  # of the policy that iteration 7 made
    RunStore.create(tmp_path / "run", "", {}).close()
    for iteration in range(1, 31):
        with RunStore.open(tmp_path / "run") as store:  # as if killed after every iteration
            if iteration == 1:
                store.checkpoints.save("sft", weights("sft"), {"phase": "sft"})
            if iteration != 20:
                roll_out(store, iteration, success[iteration])
            save(store, iteration)
            if iteration % 7 == 3:  # killed before anything was removed
                continue
            remove_surplus(store, keeping(every=4, limit=4, max_staleness=0))
            found = best(store)
            # The first policy that rolled out is that of the warm start, which is not of this phase.
            known = {i - 1: s for i, s in success.items() if 1 < i <= iteration and i != 20}
            assert (found is None) == (not known)
            if found is not None:
                assert found.success == max(known.values())
                assert known[found.checkpoint.meta["iteration"]] == found.success
    folder = tmp_path / "run" / "checkpoints"
    (folder / "rl-0007").rename(folder / "rl-0007.old")  # killed while it was replaced
    (folder / "rl-0003.tmp").mkdir()  # killed while it was removed
    with RunStore.open(tmp_path / "run") as store:
        assert {c.name for c in store.checkpoints.all()} == {"sft", "rl-0007", "rl-0024", "rl-0028", "rl-0030"}
        found = best(store)
        assert found is not None
        assert (found.checkpoint.path / "weights").read_text() == "7"


def test_where_updates_overlap_a_policy_has_the_episodes_that_began_under_it(tmp_path: Path) -> None:
    """Those of version 3 end while versions 4 and 5 are made, which are worse; few have begun under 6, all won."""
    with RunStore.create(tmp_path / "run", "", {}) as store:
        for iteration in range(1, 9):
            if iteration == 6:
                roll_out(store, 4, 0.9)
            roll_out(store, iteration, {1: 0.6, 4: 0.0, 7: 1.0}.get(iteration, 0.3), n={4: 1, 7: 2}.get(iteration, 20))
            save(store, iteration)
            remove_surplus(store, keeping(every=100, limit=0, max_staleness=2))
            there = {c.meta["iteration"] for c in store.checkpoints.all()}
            assert there >= set(range(max(1, iteration - 2), iteration + 1))
        found = best(store)
        assert found is not None
        assert (found.checkpoint.name, found.success) == ("rl-0003", 18 / 21)


def test_of_equals_the_later_is_the_best(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", "", {}) as store:
        assert best(store) is None
        for iteration, success in ((1, 0.1), (2, 0.5), (3, 0.5), (4, 0.2)):
            roll_out(store, iteration, success)
            save(store, iteration)
        found = best(store)
    assert found is not None
    assert found.checkpoint.name == "rl-0002"


def test_success_on_held_out_tasks_decides_once_there_is_any(tmp_path: Path) -> None:
    measured = {3: 0.4, 6: 0.6, 9: 0.5}
    with RunStore.create(tmp_path / "run", "", {}) as store:
        store.add_metrics(EVALUATION, 0, {"success": 0.9})  # of the warm start, which is not of this phase
        for iteration in range(1, 11):
            roll_out(store, iteration, {2: 0.95}.get(iteration, 0.7))
            save(store, iteration)
            remove_surplus(store, keeping(every=100, limit=0, max_staleness=0))
            found = best(store)
            assert found is None or found.heldout == (iteration > 3)
            if iteration in measured:  # while it is the latest
                store.add_metrics(EVALUATION, iteration, {"success": measured[iteration]})
        assert found is not None
        assert (found.checkpoint.name, found.success) == ("rl-0006", 0.6)
        assert {c.name for c in store.checkpoints.all()} == {"rl-0006", "rl-0010"}
