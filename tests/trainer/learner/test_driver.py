"""The driver and its followers, without a model: calls, and clear ends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest
import torch
import torch.distributed as dist

from webdojo.errors import ModelError, RankLost, TrainError
from webdojo.trainer.learner import driver
from webdojo.trainer.learner.driver import Driver, lead
from webdojo.trainer.learner.launchers import LocalProcesses
from webdojo.trainer.learner.ranks import Ranks


class Counter:
    """A learner whose ranks add numbers up."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks

    def close(self) -> None:
        self.ranks.close()

    def add(self, value: float) -> list[float]:
        """`value` plus the rank, of all ranks, and their sum."""
        with self.ranks.doing(Counter.add, (value,), {}):
            own = torch.tensor([value + self.ranks.rank])
            found = self.ranks.gather(float(own))
            dist.all_reduce(own)
            return [*found, float(own)]

    def end_rank_1(self, how: str) -> None:
        with self.ranks.doing(Counter.end_rank_1, (how,), {}):
            if self.ranks.rank == 1:
                if how == "error":
                    raise ModelError("the weights\nare gone")
                os.kill(os.getpid(), getattr(signal, how))
            dist.all_reduce(torch.zeros(1))  # in which the others wait for it

    def pids(self) -> list[int]:
        with self.ranks.doing(Counter.pids, (), {}):
            return self.ranks.gather(os.getpid())


@pytest.fixture
def three() -> Iterator[Counter]:
    with closing(lead(Counter, 3, "cpu")) as counter:
        yield counter


def test_followers_do_each_call_and_end_with_the_learner(three: Counter) -> None:
    assert three.add(1.0) == [1.0, 2.0, 3.0, 6.0]
    time.sleep(1.5)  # they wait for the next
    assert three.add(2.0) == [2.0, 3.0, 4.0, 9.0]
    three.close()
    assert isinstance(three.ranks, Driver)
    assert not dist.is_initialized()
    with pytest.raises(TrainError, match="have ended"):
        three.add(1.0)


def test_ranks_of_this_machine_meet_where_no_other_machine_comes(three: Counter) -> None:
    assert isinstance(three.ranks, Driver)
    port = three.ranks._store.port
    listening = [each.laddr for each in psutil.Process().net_connections() if each.status == psutil.CONN_LISTEN]
    assert [address.ip for address in listening if address.port == port] == ["127.0.0.1"]


def test_the_one_that_failed_is_told_of_and_not_those_that_waited_for_it(three: Counter) -> None:
    with pytest.raises(TrainError, match="rank 1 of the learner's 3 failed: ModelError: the weights are gone; resume"):
        three.end_rank_1("error")


def test_a_follower_that_dies_between_calls_ends_the_next_one(three: Counter) -> None:
    os.kill(three.pids()[2], signal.SIGKILL)
    with pytest.raises(RankLost, match="rank 2 of the learner's 3 failed: its process was killed by SIGKILL"):
        three.add(1.0)
    with pytest.raises(TrainError, match="have ended after an earlier error"):
        three.add(1.0)


def test_a_follower_that_hangs_is_found_by_its_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "SILENCE_S", 7.0)
    with closing(lead(Counter, 2, "cpu")) as counter:
        os.kill(counter.pids()[1], signal.SIGSTOP)
        with pytest.raises(RankLost, match="rank 1 of the learner's 2 failed: it has given no sign of life for"):
            counter.pids()


class FailsToStart(LocalProcesses):
    def start(self, count: int, port: int, build: bytes, device_type: str) -> None:
        super().start(count, port, b"no pickle", device_type)


def test_a_follower_that_cannot_be_built_ends_the_start() -> None:
    with pytest.raises(TrainError, match="rank 1 of the learner's 2 failed: UnpicklingError"):
        lead(Counter, 2, "cpu", FailsToStart())
    assert not dist.is_initialized()
