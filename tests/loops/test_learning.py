"""A learner whose ranks die is made again, and does what it was doing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from webdojo.errors import RankLost
from webdojo.loops.online.learning import MAX_REMAKES, Learning
from webdojo.store.run import RunStore


@dataclass
class Counting:
    """A learner whose weights are the number of its updates; `dies` says at which of its calls a rank dies."""

    dies: set[int] = field(default_factory=set)
    weights: int = 0
    calls: int = 0
    closed: bool = False

    def _call(self) -> None:
        self.calls += 1
        if self.calls in self.dies:
            raise RankLost("rank 1 of the learner's 2 failed: its process was killed by SIGKILL")

    async def update(self) -> int:
        self.weights += 1  # some ranks have taken the step when another dies
        self._call()
        return self.weights

    def save(self, folder: Path) -> None:
        self._call()
        (folder / "weights").write_text(str(self.weights))

    def load(self, folder: Path) -> None:
        self.weights = int((folder / "weights").read_text())

    def close(self) -> None:
        self.closed = True


class World:
    """Learners that are made one after the other, and a loop of updates and checkpoints."""

    def __init__(self, store: RunStore, *dies: set[int]) -> None:
        self.store, self.made, self._dies = store, list[Counting](), [*dies]
        self.learning = Learning(self._make, store)

    def _make(self) -> Any:
        self.made.append(Counting(self._dies.pop(0) if self._dies else set()))
        return self.made[-1]

    async def iterations(self, n: int) -> list[int]:
        trained = []
        for iteration in range(1, n + 1):
            trained.append(await self.learning.does(_update))

            async def save(learner: Any, iteration: int = iteration) -> None:
                self.store.checkpoints.save(
                    f"rl-{iteration:04d}", learner.save, {"phase": "rl", "iteration": iteration}
                )

            await self.learning.does(save, redo=_update)
        return trained


async def _update(learner: Any) -> int:
    return await cast(Counting, learner).update()


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with RunStore.create(tmp_path / "run", "name: x\n", {}) as made:
        yield made


@pytest.mark.parametrize("dies", [{1}, {2}, {3}, {4}, {1, 2}, {6}], ids=str)
async def test_it_ends_as_one_whose_ranks_live(store: RunStore, dies: set[int]) -> None:
    world = World(store, dies)
    assert await world.iterations(3) == [1, 2, 3]
    assert (store.checkpoints.get("rl-0003").path / "weights").read_text() == "3"
    assert len(world.made) == 2
    assert world.made[0].closed
    assert not world.made[1].closed


async def test_ranks_that_die_again_and_again_end_the_run(store: RunStore) -> None:
    world = World(store, *({1} for _ in range(10)))
    with pytest.raises(RankLost, match="SIGKILL"):
        await world.iterations(1)
    assert len(world.made) == MAX_REMAKES + 1
