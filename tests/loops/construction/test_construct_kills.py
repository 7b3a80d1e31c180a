"""Kill -9 of a build at random moments: it goes on, and ends with the set that it would have been without."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.loops.construction.building import build, questions
from tests.loops.construction.scripted import Scripted
from tests.policy.chat.endpoint import Endpoint
from webdojo.tasks import records

KILLS = 20
SEEDS = [f"Seed {n} with groups {' '.join(str(1 + (n + k) % 4) for k in range(1 + n % 4))}" for n in range(60)]
LIES = ("Seed 7 with", "Seed 22 shows 1.1")


def test_a_build_that_is_killed_twenty_times_ends_with_the_same_set(tmp_path: Path) -> None:
    draw = random.Random(11)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([build.__module__])
    whole, out, seeds = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl", questions(tmp_path, *SEEDS)
    with Endpoint(default=Scripted(*LIES)) as endpoint:
        expected = build(endpoint.url, seeds, whole)
        total = len(endpoint.bodies)
    held, go_on = threading.Event(), threading.Event()
    answer = Scripted(*LIES)

    def hold(http: BaseHTTPRequestHandler) -> None:
        """Answer once whoever asks is dead."""
        held.set()
        go_on.wait(60)
        answer(http)

    killed = 0
    with Endpoint() as endpoint:
        for number in range(KILLS):
            held.clear()
            go_on.clear()
            endpoint.script.clear()
            endpoint.script.extend([answer] * draw.randint(1, total // KILLS))
            endpoint.default = hold
            process = context.Process(target=build, args=(endpoint.url, seeds, out))
            process.start()
            while process.is_alive() and not held.is_set():
                time.sleep(0.005)
            time.sleep(draw.uniform(0, 0.05))
            process.kill()
            process.join()
            killed += process.exitcode != 0
            assert not out.exists(), f"a part of a set was written (kill {number})"
            go_on.set()
        endpoint.script.clear()
        endpoint.default = answer
        report = build(endpoint.url, seeds, out)
        asked = Counter(str(body["messages"]) for body in endpoint.bodies)
    assert killed == KILLS, "the build was over before it could be killed"
    assert out.read_bytes() == whole.read_bytes()
    assert len(list(records.load(out))) == report["tasks"] == expected["tasks"]
    counts = [{why: found["count"] for why, found in each["left_out"].items()} for each in (report, expected)]
    assert counts[0] == counts[1] == {"rubric: unreadable answer": 1, "text: unreadable answer": 3}
    assert report["asked"]["cached"] > len(SEEDS), "what was answered was asked for again"
    assert sum(asked.values()) < total + 40 * KILLS
