"""A writer is killed with SIGKILL at arbitrary moments; what it was told is stored must be there."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.store.fabricate import trajectory
from webdojo.store.run import RunStore

WRITER = """
import sys
from tests.store.fabricate import trajectory
from webdojo.store.run import RunStore

store = RunStore.open(sys.argv[1])
start = len(store.rows())

def write(folder):
    for part in range(40):
        (folder / f"part-{part}").write_bytes(bytes(20_000))

for n in range(start, 100_000):
    store.add_trajectory(trajectory(f"t{n}", store.images, site=n % 7), "rl", n)
    print(f"t{n}", flush=True)
    if n % 3 == 0:
        store.checkpoints.save("last", write, {"n": n})
        store.write_result({"n": n})
        print(f"c{n}", flush=True)
"""


def test_everything_committed_survives_kill_9(tmp_path):
    path = tmp_path / "run"
    RunStore.create(path, "name: x\n", {}).close()
    rng = random.Random(0)
    told: list[str] = []
    root = Path(__file__).parents[2]
    for _ in range(3):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
            assert process.stdout is not None
            told.append(process.stdout.readline().strip())
            time.sleep(rng.uniform(0.15, 0.5))
            process.send_signal(signal.SIGKILL)
            told += process.stdout.read().split()

        with RunStore.open(path) as store:
            ids = [row.id for row in store.rows()]
            assert set(ids) >= {line for line in told if line.startswith("t")}
            assert ids == [f"t{n}" for n in range(len(ids))]
            for kept in store.trajectories():
                assert kept.final is not None
                for ref in [t.observation.screenshot for t in kept.turns] + [kept.final.screenshot]:
                    assert store.images.get(ref)
            last = max((int(line[1:]) for line in told if line.startswith("c")), default=-1)
            if last >= 0:
                checkpoint = store.checkpoints.get("last")
                assert checkpoint.meta["n"] >= last
                assert len(list(checkpoint.path.glob("part-*"))) == 40
                assert store.get("result")["n"] >= last
            assert {p.name for p in (path / "checkpoints").iterdir()} <= {"last"}
    assert len(told) > 6


@pytest.mark.parametrize("repeat", [False, True])
def test_a_caller_that_is_not_sure_may_write_again(tmp_path, repeat):
    with RunStore.create(tmp_path / "run", "name: x\n", {}) as store:
        one = trajectory("a", store.images)
        for _ in range(1 + repeat):
            store.add_trajectory(one, "rl", 1)
        assert len(store.rows()) == 1
