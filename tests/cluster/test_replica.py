"""The keeper of a process on a cluster, without a cluster."""

from __future__ import annotations

import asyncio

import pytest

from webdojo.cluster.replica import Replica


class Answering:
    """Stands for an actor whose every method answers at once."""

    def remote(self) -> asyncio.Future[str]:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        answer.set_result("alive")
        return answer

    ping = property(lambda self: self)


@pytest.mark.parametrize("ticks", range(6))
async def test_its_keeping_ends_where_the_process_is_lost_at_the_very_moment(ticks: int) -> None:
    async def prepare(replica: Replica) -> None:
        pass

    replica = Replica("engine 1 of 1", Answering(), prepare, 60)
    keeping = asyncio.create_task(replica.run())
    await replica.changed.wait()
    assert replica.status == "alive"
    await asyncio.sleep(0.01)
    replica._down()
    for _ in range(ticks):
        await asyncio.sleep(0)
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(keeping), 5)
    assert keeping.cancelled()
