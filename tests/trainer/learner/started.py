"""What the processes run that `test_nodes` starts, as torchrun would."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

from tests.trainer.learner.test_driver import Counter
from webdojo.errors import RankLost
from webdojo.trainer.learner.driver import lead
from webdojo.trainer.learner.torchrun import Started, run
from webdojo.world import world


def count() -> None:
    """One learner loses its follower, the next one works."""
    started = world()
    assert started is not None
    with closing(lead(Counter, 2, "cpu", Started(started))) as counter:
        os.kill(counter.pids()[1], signal.SIGKILL)
        try:
            counter.add(1.0)
        except RankLost as error:
            print(error, flush=True)
    with closing(lead(Counter, 2, "cpu", Started(started))) as counter:
        print(counter.add(1.0), flush=True)


def learn() -> None:
    """Two ranks take a step, and print what they measured."""
    # Followers import this module, and need none of these.
    from tests.trainer.learner.test_ranks import StoredImages, recipe_of, three_samples
    from webdojo.loops.models import make_learner

    model, images, checkpoint = map(Path, sys.argv[2:])
    stored = StoredImages(images)
    with closing(make_learner(recipe_of(model, 2), stored.store, str(model))) as learner:
        metrics = learner.train_policy(three_samples(learner.processor, stored), 0.8)
        learner.save(checkpoint)
    print(json.dumps(metrics), flush=True)


if __name__ == "__main__":
    mine = world()
    assert mine is not None
    run(mine, {"count": count, "learn": learn}[sys.argv[1]])
