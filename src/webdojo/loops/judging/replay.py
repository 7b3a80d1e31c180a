"""An evaluation judged again from its stored episodes, by the judge and the options that it was judged by.

It needs neither a browser nor the agent: what a verdict needs of the web was stored with the episode. By rules the
number is the same to the last digit; a judge that is a model may say something else the second time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from webdojo.errors import StoreError
from webdojo.evaluation.metrics import success
from webdojo.loops.judging.audit import run_recipe
from webdojo.loops.judging.verdicts import VerdictLog, code_hash, described, fingerprint, judge_all, log_path
from webdojo.loops.results.kit import Verdict
from webdojo.loops.run_folder import KIT
from webdojo.store.run import RunStore


async def replay(run: Path, begin: Callable[[int], Callable[[], None]]) -> dict[str, Any]:
    """Judge an evaluation again, as a JSON object; `run` is its folder, or the file `evaluation.json` in it.

    `was` and `again` are as `success_eval` in `result.json`; `changed` are the episodes whose verdict is another one.
    `begin` is called with the number of episodes and returns what is called after each verdict.

    Raises:
        StoreError: there is no evaluation, or the folder lacks episodes of it.
    """
    file = run if run.name == KIT else run / KIT
    run = file.parent
    kit = _read(file)
    told = {each["id"]: Verdict.model_validate(each) for each in kit["episodes"]}
    with RunStore.open(run, readonly=True) as store:
        lost = told.keys() - {row.id for row in store.rows()}
        if lost:
            raise StoreError(
                f"{run} lacks {len(lost)} of the {len(told)} episodes of {file.name}, such as {min(lost)!r}"
            )
        judge = run_recipe(store).reward_function
        judge.check_setup()
        code = code_hash(judge)
        log = VerdictLog(log_path(run, judge, f"replay-{code[:8]}"))
        rewards = await judge_all(judge, store.images, map(store.trajectory, told), log, begin(len(told)))
        log.path.unlink()  # one that was interrupted goes on, one that ended begins anew
        episodes = [store.trajectory(id).model_copy(update={"reward": rewards[id]}) for id in told]
    again = {episode.id: Verdict.of(episode) for episode in episodes}
    shown = {"success", "valid", "cause"}
    return {
        "run": str(run),
        "judge": described(judge),
        "same_judge": (fingerprint(judge), code) == (kit["judge"]["fingerprint"], kit["judge"]["code_sha256"]),
        "was": kit["result"],
        "again": success(episodes).model_dump(mode="json"),
        "changed": [
            {
                "id": id,
                "task": told[id].task,
                "was": told[id].model_dump(include=shown),
                "again": again[id].model_dump(include=shown),
            }
            for id in told
            if (told[id].success, told[id].valid) != (again[id].success, again[id].valid)
        ],
    }


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise StoreError(f"there is no {file}: `webdojo eval` writes it when it ends; give the folder of its run")
    kit: dict[str, Any] = json.loads(file.read_text())
    return kit
