"""Kill -9 of a training whose reward is a judge: it goes on, and every stored episode has its verdict once."""

from __future__ import annotations

import json
import multiprocessing
import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.loops.conftest import SmallRecipe
from tests.loops.crash import POINTS, trained_groups
from tests.loops.judged import attempt, judged_by, of_two_minds
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.loops.run_folder import RL
from webdojo.recipe import dump_recipe
from webdojo.store.run import RunStore
from webdojo.types import Termination

ITERATIONS = 3


def test_a_judged_training_that_is_killed_goes_on_and_judges_every_episode_once(
    tmp_path: Path, small_recipe: SmallRecipe
) -> None:
    kills, draw, folder = POINTS or 4, random.Random(5), tmp_path / "run"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([attempt.__module__])
    answer, held, go_on = replying(of_two_minds), threading.Event(), threading.Event()

    def hold(http: BaseHTTPRequestHandler) -> None:
        """Answer once whoever asks is dead."""
        held.set()
        go_on.wait(60)
        answer(http)

    killed = 0
    with Endpoint() as endpoint:
        recipe = judged_by(endpoint, small_recipe, f"train.iterations={ITERATIONS}")
        RunStore.create(folder, dump_recipe(recipe), {}).close()
        for number in range(kills):
            held.clear()
            go_on.clear()
            endpoint.script.extend([answer] * (2 + number))
            endpoint.default = hold
            process = context.Process(target=attempt, args=(recipe, folder, f"attempt {number}"))
            process.start()
            while process.is_alive() and not held.is_set():
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.3))
            process.kill()
            process.join()
            killed += process.exitcode != 0
            go_on.set()
        endpoint.default = answer
        with RunStore.open(folder, readonly=True) as store:
            waiting = sum(each.reward is None for each in store.trajectories(RL))
        assert waiting, "no verdict was under way when it was killed"
        last = context.Process(target=attempt, args=(recipe, folder, "last"))
        last.start()
        last.join()
        assert last.exitcode == 0
    assert killed > kills / 2, "the run was over before it could be killed"
    trained_groups(recipe, folder)
    with RunStore.open(folder, readonly=True) as store:
        found = store.trajectories(RL)
    finished = [each for each in found if each.termination is Termination.COMPLETED]
    assert all(each.reward is not None for each in found)
    assert all(each.reward is not None and len(each.reward.judgements) == 1 for each in finished)
    asked_for = Counter(json.dumps(body["messages"]) for body in endpoint.bodies)
    assert max(asked_for.values()) <= 1 + killed
    assert sum(asked_for.values()) - len(asked_for) <= killed * recipe.rollout.concurrency, (
        "a verdict was asked for again"
    )
    assert len(asked_for) >= len(finished)
