"""Verdicts are asked for once, kept as they come, and never mixed up with another judge's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.loops.judging.known import Scripted, known
from webdojo.errors import ConfigError, RewardError
from webdojo.loops.judging.verdicts import VerdictLog, fingerprint, judge_all, log_path, named_judge
from webdojo.recipe import load_recipe
from webdojo.reward.rules import Rules
from webdojo.store.images import MemoryImages
from webdojo.types import Reward, Trajectory

OWN = load_recipe("quickstart")
HERE = "tests.loops.judging.known"


def episodes(n: int) -> list[Trajectory]:
    images = MemoryImages()
    return [known(f"e-{number}", images) for number in range(n)]


async def test_what_was_judged_is_not_asked_again_also_after_a_torn_write(tmp_path: Path) -> None:
    judge, path = Scripted(rejects=["e-1"]), tmp_path / "a" / "verdicts.jsonl"
    first = await judge_all(judge, MemoryImages(), episodes(3), VerdictLog(path))
    assert {id: reward.success for id, reward in first.items()} == {"e-0": True, "e-1": False, "e-2": True}
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])  # killed as it wrote the third
    torn = whole.splitlines()[-1]
    again = await judge_all(judge, MemoryImages(), episodes(5), VerdictLog(path))
    asked = json.loads(torn)["id"]
    assert sorted(judge._asked[3:]) == sorted([asked, "e-3", "e-4"])
    assert again.keys() == {f"e-{n}" for n in range(5)} and again["e-1"] == first["e-1"]
    assert len(path.read_text().splitlines()) == 5
    assert all(json.loads(line)["reward"]["reason"] == "scripted" for line in path.read_text().splitlines())


async def test_an_interruption_keeps_what_was_judged(tmp_path: Path) -> None:
    class Slow(Scripted):
        async def score(self, trajectory: Trajectory, images: object) -> Reward:
            if trajectory.id == "e-2":
                await asyncio.Event().wait()
            return await super().score(trajectory, MemoryImages())

    log = VerdictLog(tmp_path / "verdicts.jsonl")
    judging = asyncio.create_task(judge_all(Slow(max_concurrency=2), MemoryImages(), episodes(4), log))
    for _ in range(6000):
        if all(f"e-{n}" in log for n in (0, 1, 3)):
            break
        await asyncio.sleep(0.01)
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging
    kept = VerdictLog(log.path)
    assert [f"e-{n}" in kept for n in range(4)] == [True, True, False, True]


async def test_a_verdict_that_failed_is_invalid_and_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    found = await judge_all(Scripted(breaks_on=["e-1"]), MemoryImages(), episodes(3), VerdictLog(path))
    assert [found[f"e-{n}"].valid for n in range(3)] == [True, False, True]
    well = Scripted()
    again = await judge_all(well, MemoryImages(), episodes(3), VerdictLog(path))
    assert well._asked == ["e-1"] and again["e-1"].valid


async def test_a_judge_that_fails_again_and_again_is_one_error(tmp_path: Path) -> None:
    judge = Scripted(breaks_on=[f"e-{n}" for n in range(50)])
    with pytest.raises(
        RewardError, match=r"8 verdicts .* ValueError: the model is away; what was judged before is kept"
    ):
        await judge_all(judge, MemoryImages(), episodes(50), VerdictLog(tmp_path / "verdicts.jsonl"))
    assert len(judge._asked) < 50


async def test_an_episode_that_the_judge_before_failed_gets_a_verdict(tmp_path: Path) -> None:
    (episode,) = episodes(1)
    episode.failure, episode.error = "reward_failed", "the other judge was away"
    found = await judge_all(Scripted(), MemoryImages(), [episode], VerdictLog(tmp_path / "verdicts.jsonl"))
    assert found["e-0"].success and "e-0" in VerdictLog(tmp_path / "verdicts.jsonl")


def test_judges_that_could_differ_have_logs_of_their_own(tmp_path: Path) -> None:
    assert fingerprint(Scripted()) == fingerprint(Scripted(max_concurrency=2, timeout_s=3))
    assert fingerprint(Scripted()) != fingerprint(Scripted(rejects=["e-1"]))
    assert log_path(tmp_path, Rules()).parent == tmp_path / "judgements"
    assert log_path(tmp_path, Rules()) != log_path(tmp_path, Rules(), "stress")
    file = tmp_path / "mine.py"
    code = "from tests.loops.judging.known import Credulous\nclass Mine(Credulous):\n    pass\n"
    file.write_text(code)
    judge = named_judge(f"{file}:Mine", [], OWN)
    before = fingerprint(judge)
    file.write_text(f"{code}# another\n")
    assert fingerprint(judge) != before, "edited code kept its verdicts"


def test_a_judge_is_a_rewards_name_a_class_or_a_recipe(tmp_path: Path) -> None:
    assert isinstance(named_judge("rules", [], OWN), Rules)
    assert isinstance(named_judge("env", [], OWN), Rules), "the environment's own"
    scripted = named_judge(f"{HERE}:Scripted", ["reward.rejects=[x]", "reward.max_concurrency=3"], OWN)
    assert isinstance(scripted, Scripted) and (scripted.rejects, scripted.max_concurrency) == (["x"], 3)
    recipe = tmp_path / "judge.yaml"
    recipe.write_text(f"base: quickstart\nname: j\nreward:\n  name: {HERE}:Scripted\n  rejects: [y]\n")
    named = named_judge(str(recipe), ["reward.unsure=[z]"], OWN)
    assert isinstance(named, Scripted) and (named.rejects, named.unsure) == (["y"], ["z"])


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("rulez", [], "did you mean 'rules'"),
        ("rules", ["train.lr=1"], "so 'train.lr=1' would do nothing"),
        ("rules", ["reward.nope=1"], "nope"),
    ],
)
def test_what_is_no_judge_is_told(name: str, overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        named_judge(name, overrides, OWN)
