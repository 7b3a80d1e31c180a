"""Each question on a few episodes whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.loops.analysis.made import CLICK, SCREEN, asked, episode, rows, step
from tests.store.fabricate import observation
from webdojo.loops.analysis.dynamics import cuts
from webdojo.loops.analysis.errors import RULES, measure
from webdojo.loops.analysis.questions import QUESTIONS
from webdojo.loops.analysis.table import Setting
from webdojo.reward.function import invalid
from webdojo.types import Termination, ToolCall, Trajectory


def test_names_are_unique_and_columns_are_there_for_every_plot() -> None:
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS)
    for question in QUESTIONS:
        names = {column.name for column in question.columns}
        for plot in question.plots:
            used = {plot.x, *plot.y, *plot.by, *(plot.interval or ()), *filter(None, [plot.panel])}
            assert used <= names, f"{question.name}: {used - names}"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_no_episode_is_no_data_and_one_that_never_began_breaks_nothing(question) -> None:
    assert asked(question.name, []).missing
    never = episode("a", valid=False, termination=Termination.START_ERROR, answer=None)
    never.turns, never.final = [], None
    unscored = episode("b")
    unscored.reward = None
    asked(question.name, [("rl", 1, never), ("eval", 0, unscored)])


def test_lengths_are_of_responses_trajectories_and_episodes() -> None:
    tokens = [[10, 20], [30], [40, 50, 60]]
    made = [("rl", 3, episode(f"{n}", *(step(tokens=each) for each in some))) for n, some in enumerate(tokens)]
    (row,) = rows("lengths", [*made, ("rl", 3, episode("x", step(tokens=900), valid=False))])
    assert (row["episodes"], row["steps"], row["response_tokens"], row["tokens"]) == (3, 2, 35, 70)
    assert row["steps_p90"] == pytest.approx(2.8)
    assert row["response_tokens_p90"] == pytest.approx(np.percentile([10, 20, 30, 40, 50, 60], 90))
    assert row["tokens_p90"] == pytest.approx(np.percentile([30, 30, 150], 90))


def test_steps_by_difficulty_and_outcome() -> None:
    made = [
        ("eval", 0, episode("a", step(), success=True)),
        ("eval", 0, episode("b", step(), step(), step(), success=False, answer=None)),
        ("eval", 0, episode("c", step(), step(), success=True, difficulty=4)),
    ]
    easy, hard = rows("difficulty", made)
    assert (easy["difficulty"], easy["episodes"], easy["success"], easy["steps"]) == (1, 2, 0.5, 2)
    assert (easy["steps_won"], easy["steps_lost"], easy["steps_answered"], easy["mode_answered"]) == (1, 3, 1, 1)
    assert (hard["difficulty"], hard["steps_won"], hard["steps_lost"]) == (4, 2, None)


def test_three_phases_are_cut_where_the_reward_bends() -> None:
    rng = np.random.default_rng(0)
    curve = np.concatenate([np.linspace(0, 0.5, 12), np.full(20, 0.5), np.linspace(0.5, 0.7, 15)])
    first, second = cuts(list(curve + rng.normal(0, 0.005, len(curve)))) or (0, 0)
    assert abs(first - 12) <= 1
    assert abs(second - 32) <= 3
    assert cuts([0.1] * 8) is None
    assert cuts([0.1] * 9) == (3, 6)


def test_each_of_three_phases_is_described() -> None:
    made = []
    for iteration in range(1, 13):
        won = 1 if iteration < 5 else 3 if iteration < 9 else 4
        made += [("rl", iteration, episode(f"{iteration}-{n}", success=n < won)) for n in range(4)]
    answer = asked("three_phases", made)
    assert [row[1] for row in answer.rows] == ["first"] * 4 + ["second"] * 4 + ["third"] * 4
    assert len(answer.notes) == 3
    assert answer.notes[0].startswith("first part, iterations 1 to 4: reward 0.25 to 0.25")
    few = asked("three_phases", made[:16])
    assert [row[1] for row in few.rows] == [None] * 4
    assert few.notes == ["three phases need 9 iterations with rewards, and there are 4"]


def test_repeated_screens_are_counted_by_step() -> None:
    (row,) = rows("repeated_screens", [("rl", 1, episode("a", step(same=True), step(), step(same=True), step()))])
    assert (row["steps"], row["repeated"], row["share"], row["steps_mean"]) == (4, 2, 0.5, 4)


MEMORIES = ('{"a": 1}', '{"a": 1, "b": 2}', '{"c": 3}')


@pytest.mark.parametrize(("delta", "keys"), [(False, [1, 2, 1]), (True, [1, 2, 3])])
def test_memory_is_whole_or_what_is_new(delta: bool, keys: list[int]) -> None:
    noting = episode("a", *(step(memory=each) for each in MEMORIES), success=True)
    other = episode("b", step(memory="{}"), step(), success=False, difficulty=2)
    found = rows("memory_keys", [("rl", 1, noting), ("rl", 1, other)], Setting(memory_delta=delta))
    won = [row for row in found if row["outcome"] == "success"]
    assert [(row["step"], row["keys"]) for row in won] == [*enumerate(keys, 1)]
    assert [(row["difficulty"], row["step"], row["keys"]) for row in found[3:]] == [(2, 1, 0)], "one cannot be read"


def test_restarts_and_what_they_are_worth() -> None:
    again = step("", ToolCall(name="goto_url", arguments={"url": "http://a.test/"}))
    made = [
        ("eval", 0, episode("a", step(), again, success=True)),
        ("eval", 0, episode("b", step(), again)),
        ("eval", 0, episode("c", step(), success=True)),
        ("eval", 0, episode("d", step())),
    ]
    (row,) = rows("restarts", made)
    assert [row[name] for name in ("restarts", "restarts_won", "won")] == [2, 1, 2]
    assert [row[name] for name in ("share", "won_of_restarts", "restarts_of_won")] == [0.5, 0.5, 0.5]
    (elsewhere,) = rows("restarts", made, Setting(restart_url="http://search.test/"))
    assert (elsewhere["restarts"], elsewhere["won_of_restarts"]) == (0, None)


def failed(**more: object) -> Trajectory:
    return episode("t", step("The field is here."), step("Done."), **more)  # type: ignore[arg-type]


def with_reward(made: Trajectory, **fields: object) -> Trajectory:
    assert made.reward is not None
    made.reward = made.reward.model_copy(update=fields)
    return made


def unjudged() -> Trajectory:
    made = failed()
    made.reward = invalid("unreadable", "nobody could say")
    return made


def blocked() -> Trajectory:
    made = failed()
    made.final = observation(SCREEN).model_copy(update={"blocked": "HTTP 403"})
    return made


@pytest.mark.parametrize(
    ("made", "category", "rule"),
    [
        (unjudged(), "task or judge", "no verdict"),
        (blocked(), "access", "blocked or dead page"),
        (failed(valid=False, termination=Termination.TIMEOUT), "access", "the web or the system failed"),
        (with_reward(failed(), facts=[True, True]), "task or judge", "every fact holds"),
        (episode("t", step("I cannot get past the captcha.")), "access", "ends naming a blocker"),
        (failed(termination=Termination.FORMAT_ERROR), "reasoning", "response cannot be read"),
        (episode("t", step(same=True), step(ok=False), step()), "grounding", "actions do nothing"),
        (failed(termination=Termination.MAX_STEPS, answer=None), "reasoning", "out of steps"),
        (with_reward(failed(), facts=[True, False]), "reasoning", "some facts hold, not all"),
        (failed(answer=" "), "reasoning", "no answer"),
        (failed(), "reasoning", "wrong end"),
    ],
)
def test_a_failed_episode_has_the_category_of_the_first_rule_that_holds(made, category, rule) -> None:
    assert measure(made, Setting()) == (category, rule)


def test_another_judge_that_accepts_makes_it_a_matter_of_the_judge() -> None:
    found = measure(failed(), Setting(verdicts={"webjudge-0a1b2c3d": {"t": True}}))
    assert found == ("task or judge", "another judge accepts")
    assert measure(failed(), Setting(verdicts={"webjudge-0a1b2c3d": {"t": False}})) == ("reasoning", "wrong end")


def test_errors_are_shares_of_the_failed_episodes_of_a_phase() -> None:
    made = [
        ("rl", 1, episode("x-1", success=True)),
        ("rl", 1, episode("x-2")),
        ("rl", 2, episode("x-3")),
        ("rl", 2, failed(termination=Termination.MAX_STEPS)),
        ("eval", 0, episode("x-4")),
    ]
    found = rows("errors", made)
    assert [(row["phase"], row["rule"], row["episodes"], row["share"]) for row in found] == [
        ("rl", "out of steps", 1, 1 / 3),
        ("rl", "wrong end", 2, 2 / 3),
        ("eval", "wrong end", 1, 1),
    ]
    assert found[1]["example"] == "3", "the shortest name that `runs film` takes"
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_success_at_smaller_limits_is_that_of_episodes_that_were_short_enough() -> None:
    made = [
        ("eval_rl", 4, episode("old", step(), success=True)),
        ("eval_rl", 8, episode("a", step(), success=True)),
        ("eval_rl", 8, episode("b", step(), step(), step(), success=True)),
        ("eval_rl", 8, episode("c", *[step()] * 4)),
        ("rl", 8, episode("d", step(), success=True)),
    ]
    found = rows("test_time_scaling", made)
    assert [(row["max_steps"], row["success"]) for row in found] == [(1, 1 / 3), (2, 1 / 3), (3, 2 / 3), (4, 2 / 3)]
    assert found[0]["ci95_low"] < 1 / 3 < found[0]["ci95_high"]


def test_web_sites_count_an_invalid_episode_as_a_failure() -> None:
    made = [
        ("eval", 0, episode("a", success=True, website="b.test", task="t1")),
        ("eval", 1, episode("b", success=False, website="b.test", task="t1")),
        ("eval", 0, episode("c", success=False, valid=False, website="b.test", task="t2")),
        ("eval", 0, episode("d", success=True, website="a.test")),
    ]
    first, second = rows("websites", made)
    assert (first["website"], first["tasks"], first["episodes"], first["invalid"]) == ("b.test", 2, 3, 1)
    assert first["success"] == pytest.approx(1 / 3)
    assert (second["website"], second["success"], second["steps"]) == ("a.test", 1, 1)


def test_judges_are_compared_on_what_both_have_judged() -> None:
    made = [("eval", 0, episode(f"{n}", step("", CLICK), success=n < 2)) for n in range(4)]
    verdicts: dict[str, dict[str, bool | None]] = {
        "a-00000000": {"0": True, "1": False, "2": True, "3": None},
        "b-00000000": {"0": True},
    }
    found = {(row["first"], row["second"]): row for row in rows("judges", made, Setting(verdicts=verdicts))}
    row = found["stored", "a-00000000"]
    names = ("episodes", "both", "only_first", "only_second", "neither", "invalid")
    assert [row[name] for name in names] == [3, 1, 1, 1, 0, 1]
    assert row["agree"] == pytest.approx(1 / 3)
    assert found["stored", "b-00000000"]["episodes"] == found["a-00000000", "b-00000000"]["episodes"] == 1
