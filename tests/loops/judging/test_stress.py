"""Real episodes, tampered with: the rules see through every way, and a judge that believes the agent through none."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.loops.judging.known import RECIPE, known
from tests.loops.judging.oracle_run import make_oracle_run
from webdojo.errors import StoreError
from webdojo.loops.judging.audit import Choice, audit
from webdojo.loops.judging.corruptions import CORRUPTIONS
from webdojo.loops.judging.stress import Overlay, stress
from webdojo.store.images import MemoryImages
from webdojo.store.run import RunStore

CREDULOUS = "tests.loops.judging.known:Credulous"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("oracle") / "run"
    make_oracle_run(folder, 20, 5)
    return folder


def silent(total: int) -> Any:
    return lambda: None


def held(run: Path) -> tuple[Any, list[str]]:
    """What the run itself holds."""
    with RunStore.open(run, readonly=True) as store:
        records = [hashlib.sha256(each.model_dump_json().encode()).hexdigest() for each in store.trajectories()]
        return (store.rows(), records), sorted(str(file) for file in store.images.files())


async def test_the_rules_accept_no_corrupted_episode_and_every_control(run: Path) -> None:
    before = held(run)
    report = await stress(run, "rules", [], Choice(), silent)
    assert report["sources"] == {"succeeded": 20, "failed": 5}
    assert report["kinds"].keys() == CORRUPTIONS.keys(), "a way was never taken"
    for kind, each in report["kinds"].items():
        right = {"failure": "rejected", "success": "accepted"}.get(each["label"])
        assert each["invalid"] == (each["episodes"] if right is None else 0), kind
        assert right is None or each[right]["successes"] == each["episodes"], kind
    assert (report["false_accepts"]["successes"], report["false_rejects"]["successes"]) == (0, 0)
    assert report["false_accepts"]["n"] > 150 and report["false_rejects"]["n"] == 60
    assert held(run) == before, "the run changed"


async def test_a_judge_that_believes_the_agent_accepts_nearly_all(run: Path) -> None:
    told: list[int] = []
    report = await stress(run, CREDULOUS, [], Choice(limit=8), lambda total: lambda: told.append(total))
    kinds = report["kinds"]
    assert kinds["judge_addressed"]["accepted"]["rate"] == kinds["blocked_page"]["accepted"]["rate"] == 1
    assert kinds.get("answer_empty", {"accepted": {"rate": 0}})["accepted"]["rate"] == 0, "the gate asks nobody"
    assert report["false_accepts"]["rate"] > 0.8 and report["false_rejects"]["rate"] == 0
    assert len(told) == told[0] == sum(each["episodes"] for each in kinds.values())
    again = await stress(run, CREDULOUS, [], Choice(limit=8), silent)
    assert again == report
    (log,) = (run / "judgements").glob("*Credulous*stress*.jsonl")
    assert len(log.read_text().splitlines()) == told[0], "a verdict was asked for twice"


async def test_an_audit_of_real_episodes_agrees_with_the_rewards_that_were_stored(run: Path) -> None:
    report = await audit(run, "env", [], Choice(), silent)
    assert (report["overall"]["counts"]["tp"], report["overall"]["counts"]["tn"]) == (20, 5)
    assert len(report["by"]["kind"]) == 5 and len(report["gap"]) == 3


async def test_a_run_without_a_success_has_nothing_to_corrupt(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", RECIPE, {}) as store:
        store.add_trajectory(known("e", store.images, False), "rl", 1)
    with pytest.raises(StoreError, match="nothing to corrupt"):
        await stress(tmp_path / "run", "rules", [], Choice(), silent)


def test_the_screen_of_a_blocked_site_is_a_picture_of_the_episodes_size(run: Path) -> None:
    with RunStore.open(run, readonly=True) as store:
        episode = store.trajectories()[0]
        images = Overlay(store.images)
        drawn = images.blocked_screen(episode)
        picture = Image.open(io.BytesIO(images.get(drawn)))
        assert (*picture.size,) == (drawn.width, drawn.height) == (800, 640)
        assert len(picture.getcolors(100_000) or []) > 2, "nothing is written on it"
        own = episode.turns[0].observation.screenshot
        assert images.get(own) == store.images.get(own)
        assert drawn == Overlay(MemoryImages()).blocked_screen(episode)
