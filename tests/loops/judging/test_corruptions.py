"""Corrupted episodes: what each way leaves of an episode, and that it leaves the episode itself alone."""

from __future__ import annotations

import re
from datetime import date as Date

import pytest

from tests.loops.judging.known import RIGHT, known
from webdojo.loops.judging.corruptions import CORRUPTIONS, ORDER, corrupted, kind_of
from webdojo.reward.rules import Rules
from webdojo.sites.answers.values import date, number, text
from webdojo.sites.goal import fact, place
from webdojo.store.images import MemoryImages
from webdojo.types import ImageRef, Trajectory

BLOCKED = ImageRef(sha="b" * 64, width=320, height=256, mime="image/png")
IMAGES = MemoryImages()


def made(source: Trajectory, kind: str, others: list[Trajectory] | None = None, seed: int = 0) -> Trajectory:
    found = corrupted(source, kind, others or [], BLOCKED, seed)
    assert found is not None
    return found


def donor(id: str = "other", answer: str = RIGHT) -> Trajectory:
    other = known(id, IMAGES, site=8, answer=answer)
    other.state["shop-8.localhost"]["visited"].append("/theirs")
    return other


def seen(episode: Trajectory) -> list[str]:
    """The screens in order, the final one included."""
    assert episode.final is not None
    return [*(turn.observation.screenshot.sha for turn in episode.turns), episode.final.screenshot.sha]


def test_there_are_more_than_eight_ways_and_three_controls() -> None:
    labels = [each.label for each in CORRUPTIONS.values()]
    assert (labels.count("failure"), labels.count("invalid"), labels.count("success")) == (12, 1, 3)


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_the_episode_itself_never_changes_and_a_seed_makes_the_same(kind: str) -> None:
    success = not CORRUPTIONS[kind].of_failures
    source, other = known("e", IMAGES, success), donor()
    if kind == "screens_reversed":
        source.task.evaluator = {"facts": [fact("It is shown", visited=[place("/end")])]}
    before = (source.model_dump_json(), other.model_dump_json())
    one, two = (made(source, kind, [other]) for _ in range(2))
    assert one == two
    assert kind_of(one.id) == kind and one.id.startswith("e~") and one.reward is None
    assert (source.model_dump_json(), other.model_dump_json()) == before
    assert Trajectory.model_validate_json(one.model_dump_json()) == one
    if one.answer is not None and kind not in ("screens_reversed", "ending_cut", "fact_undone", "other_ending"):
        (said,) = one.turns[-1].parsed.calls[-1:]
        assert kind in ("unchanged", "waited") or said.arguments == {"answer": one.answer}


@pytest.mark.parametrize("kind", CORRUPTIONS)
async def test_the_rules_find_the_truth_that_each_is_labelled_with(kind: str) -> None:
    source = known("e", IMAGES, not CORRUPTIONS[kind].of_failures)
    found = corrupted(source, kind, [donor()], BLOCKED, 0)
    if found is None:
        assert kind == "screens_reversed", "the task has a question"
        return
    reward = await Rules().score(found, IMAGES)
    assert ("success" if reward.success else "failure" if reward.valid else "invalid") == CORRUPTIONS[kind].label


def test_a_cut_ending_leaves_the_action_and_takes_its_screen() -> None:
    source = known("e", IMAGES)
    cut = made(source, "ending_cut")
    assert [turn.parsed.calls for turn in cut.turns] == [turn.parsed.calls for turn in source.turns]
    assert seen(source)[-1] not in seen(cut) and seen(cut)[:-2] == seen(source)[:-2]


@pytest.mark.parametrize("seed", range(6))
def test_a_success_claimed_early_lacks_half_of_the_actions(seed: int) -> None:
    source = known("e", IMAGES)
    early = made(source, "claimed_early", seed=seed)
    assert 1 <= len(early.turns) <= 1 + 3 // 2
    assert seen(early)[:-1] == seen(source)[: len(early.turns)] and seen(early)[-1] == seen(early)[-2]
    assert ORDER in (made(source, "judge_addressed", seed=seed).answer or "")


def test_an_episode_whose_end_was_seen_before_shows_no_failure_when_it_is_cut() -> None:
    source = known("e", IMAGES)
    source.turns[0] = source.turns[0].model_copy(update={"observation": source.turns[-1].observation})
    for kind in ("ending_cut", "claimed_early", "judge_addressed", "closed_book", "fact_undone"):
        assert corrupted(source, kind, [], BLOCKED, 0) is None
    at_once = known("f", IMAGES)
    at_once.turns = at_once.turns[-1:]
    for kind in ("ending_cut", "closed_book", "other_ending", "blocked_page"):
        assert corrupted(at_once, kind, [donor()], BLOCKED, 0) is None


@pytest.mark.parametrize(
    ("wanted", "answer", "pattern"),
    [
        (number(42), "42", r"4[^2]"),
        (number(1204, "$"), "It costs $1,204.", r"It costs \$\d,20[^4]\."),
        (number(7), "seven", None),
        (text("South"), "South", "West"),
        (text("South"), "far South", "West"),
    ],
)
def test_a_wrong_answer_has_the_same_form(wanted: dict[str, object], answer: str, pattern: str | None) -> None:
    source, other, akin = known("e", IMAGES, answer=answer), donor("o", "West"), donor("p", "South")
    source.task.evaluator = {"facts": [fact("It is so", answer=wanted)]}
    for each in (other, akin):
        each.task.evaluator = {"facts": [fact("It is so", answer=text(each.answer or ""))]}
    found = corrupted(source, "answer_changed", [other, akin], BLOCKED, 0)
    if pattern is None:
        assert found is None
        return
    assert found is not None and re.fullmatch(pattern, found.answer or "") and found.answer != answer
    hedged = made(source, "answer_hedged", [other, akin]).answer or ""
    assert hedged.startswith(f"{answer} or ") and hedged.endswith("not sure which.")


def test_every_number_of_a_wrong_date_is_another_one() -> None:
    source = known("e", IMAGES, answer="26 March 2027")
    source.task.evaluator = {"facts": [fact("It is so", answer=date(Date(2027, 3, 26)))]}
    day, month, year = (made(source, "answer_changed").answer or "").split()
    assert (month, len(day), len(year)) == ("March", 2, 4) and day != "26" and year != "2027"


def test_an_undone_fact_is_missing_and_the_others_hold() -> None:
    source = known("e", IMAGES)
    site = source.task.website
    kept = fact("The cart holds it", state={"cart": ["kettle"]})
    source.task.evaluator = {"facts": [fact("It was seen", seen=["kettle.Price"]), kept], "state": {"cart": ["kettle"]}}
    source.state[site] |= {"state": {"cart": ["kettle"]}, "seen": ["kettle.Price"]}
    undone = made(source, "fact_undone")
    assert undone.state[site]["state"] == {} and undone.state[site]["seen"] == ["kettle.Price"]
    assert source.state[site]["state"] == {"cart": ["kettle"]}
    assert len(undone.turns) == len(source.turns) - 1


def test_another_tasks_ending_is_of_another_site_of_the_same_kind() -> None:
    source, other = known("e", IMAGES), donor()
    ended = made(source, "other_ending", [known("twin", IMAGES), known("w", IMAGES, kind="wiki", site=9), other])
    assert (ended.final, ended.answer) == (other.final, other.answer)
    assert ended.state[source.task.website]["visited"] == ["/"]
    assert corrupted(source, "other_ending", [known("twin", IMAGES)], BLOCKED, 0) is None


def test_a_blocked_site_is_told_by_screen_status_and_state() -> None:
    blocked = made(known("e", IMAGES), "blocked_page")
    assert blocked.final is not None
    assert (blocked.final.screenshot, blocked.final.blocked) == (BLOCKED, "HTTP 403")
    assert blocked.turns[-1].observation == blocked.final


def test_without_acting_the_right_answer_is_closed_book() -> None:
    source = known("e", IMAGES)
    closed = made(source, "closed_book")
    assert closed.answer == RIGHT and len(set(seen(closed))) == 1
    assert {call.name for turn in closed.turns for call in turn.parsed.calls} == {"wait", "done"}
