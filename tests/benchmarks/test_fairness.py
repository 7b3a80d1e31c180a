"""The benchmark of fair verdicts: its classes apply, its routes show what they claim, and a home page shows nothing."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.benchmarks.conftest import Script
from webdojo.sites.serving.server import SiteServer

SORTS = ("routes", "words", "wrong", "closed_book")
ATTEMPTS = 300


@pytest.fixture(scope="module")
def fairness(script: Script) -> ModuleType:
    return script("fairness")


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer() as running:
        yield running


@pytest.fixture(scope="module")
def cases(fairness: ModuleType) -> list[Any]:
    """Of many tasks on few sites, for making a site costs more than drawing a task."""
    return [fairness.case_of(task) for task in fairness.drawn(5000, 1, [], sites=6)]


def test_it_tries_all_sorts_of_both_halves_and_keeps_one_to_itself(fairness: ModuleType, server: SiteServer) -> None:
    bench = fairness.Bench(server, fairness.HALVES)
    for task in fairness.drawn(30, 0, []):
        bench.run(task, random.Random(task.id))
    assert not bench.unplayed
    for half in fairness.HALVES:
        for sort in SORTS:
            assert any(each.half == half and each.sort == sort for each in bench.tries)
    figures = fairness.headline(bench.tries, fairness.HALVES)
    assert figures["tried_routes"] > 0 and figures["open_tried_words"] > 0
    rows = fairness.rows_of(bench.tries, reveal=False)
    assert sum(row["tried"] for row in rows) == len(bench.tries)
    assert all(("name" in row) == (row["half"] == "open") for row in rows)
    assert all("name" in row for row in fairness.rows_of(bench.tries, reveal=True))


def test_verdicts_are_fair_to_the_open_half(fairness: ModuleType, server: SiteServer) -> None:
    bench = fairness.Bench(server, ("open",))
    for task in fairness.drawn(120, 4, []):
        bench.run(task, random.Random(task.id))
    assert len(bench.tries) > 500
    assert [(each.sort, each.name, each.case.task.id) for each in bench.tries if each.failed] == []


def test_about_half_of_each_sort_is_held_back(fairness: ModuleType) -> None:
    for classes in (fairness.ROUTES, fairness.WORDINGS, [*fairness.WRONG_ANSWERS, *fairness.WRONG_SESSIONS]):
        held_back = sum(each.half == "held_back" for each in classes)
        assert 0.4 < held_back / len(classes) < 0.6
        assert len({each.name for each in classes}) == len(classes)
        assert all(each.says.endswith(".") for each in classes)


def test_every_wording_and_wrong_answer_applies_somewhere(fairness: ModuleType, cases: list[Any]) -> None:
    rng = random.Random(0)
    answers = [(case, fairness.answer_of(case)) for case in cases if case.family not in fairness.DO]
    for each in fairness.WORDINGS:
        assert any(each.fits(said.sort) and each.run(said, rng) for _, said in answers), each.name
    for each in fairness.WRONG_ANSWERS:
        say = fairness.Say(each.half, rng)
        assert any(each.fits(said.sort) and each.run(case, said, say) for case, said in answers), each.name


def test_every_route_applies_somewhere_and_shows_what_it_claims(
    fairness: ModuleType, server: SiteServer, cases: list[Any]
) -> None:
    def goes(way: Any, case: Any) -> bool:
        with _visit(fairness, server, case, way.name) as visitor:
            return bool(fairness.go(way, case, visitor))

    for way in fairness.ROUTES:
        assert any(goes(way, case) for case in _fitting(way, cases)), way.name


def test_every_wrong_session_applies_somewhere(fairness: ModuleType, server: SiteServer, cases: list[Any]) -> None:
    def applies(way: Any, case: Any) -> bool:
        with _visit(fairness, server, case, way.name) as visitor:
            try:
                way.run(case, visitor, random.Random(0))
            except fairness.CannotGoError:
                return False
        return True

    for way in fairness.WRONG_SESSIONS:
        assert any(applies(way, case) for case in _fitting(way, cases)), way.name


def test_a_home_page_is_not_enough_to_answer(fairness: ModuleType, server: SiteServer, cases: list[Any]) -> None:
    for case in [case for case in cases if case.family in ("count", "compare", "missing", "across")][:40]:
        with _visit(fairness, server, case, "home") as visitor:
            assert not fairness.Evidence(case, visitor).enough()


def test_what_follows_from_a_description_need_not_be_looked_at(
    fairness: ModuleType, server: SiteServer, cases: list[Any]
) -> None:
    def enough(case: Any, target: Any) -> bool:
        with _visit(fairness, server, case, "one") as visitor:
            visitor.search(target.entity.name)
            visitor.open_path(target.path)
            return bool(fairness.Evidence(case, visitor).enough())

    def follows(case: Any) -> bool:
        lowest = case.loser.described
        return lowest is not None and not lowest.constraints and lowest.sort == case.attribute.key

    compared = [case for case in cases if case.family == "compare" and case.winner.described is None]
    inferred = [case for case in compared if follows(case)]
    assert inferred and all(enough(case, case.winner) for case in inferred)
    assert not any(enough(case, case.loser) for case in inferred)
    assert not any(enough(case, case.winner) for case in compared if case.loser.described and not follows(case))


def test_places_in_an_ordered_list_tell_which_of_two_is_lower(
    fairness: ModuleType, server: SiteServer, cases: list[Any]
) -> None:
    def enough(case: Any, *, ordered: bool) -> bool:
        moves = sys.modules["fairness_classes.moves"]
        with _visit(fairness, server, case, f"ordered-{ordered}") as visitor:
            moves.start_list(visitor, moves.whole(case.target))
            if ordered:
                visitor.narrow("sort", case.attribute.key)
            moves.to_the_end(visitor)
            return bool(fairness.Evidence(case, visitor).enough())

    def only_ordered(case: Any) -> bool:
        named = all(target.described is None for target in case.targets)
        return named and case.attribute.sort and not case.attribute.listed and not case.compact

    found = [case for case in cases if case.family == "compare" and only_ordered(case)][:3]
    assert found and all(enough(case, ordered=True) for case in found)
    assert not any(enough(case, ordered=False) for case in found)


def test_the_very_answer_is_not_tried_as_a_wrong_one(fairness: ModuleType, cases: list[Any]) -> None:
    case = next(case for case in cases if case.family == "read")
    said = fairness.answer_of(case)
    assert fairness.is_right(f"{said.value}.", said)
    assert not fairness.is_right(f"It is not {said.value}.", said)


def test_a_name_says_what_all_names_of_its_list_say(fairness: ModuleType, cases: list[Any]) -> None:
    flights = next(case.site.main for case in cases if case.site.main.slug == "flights")
    evidence = sys.modules[fairness.Evidence.__module__]
    assert evidence.said_by_names(flights) == {"airline"}


def _fitting(way: Any, cases: list[Any]) -> list[Any]:
    found = [case for case in cases if way.fits(case.family)]
    return random.Random(way.name).sample(found, min(len(found), ATTEMPTS))


def _visit(fairness: ModuleType, server: SiteServer, case: Any, name: str) -> Any:
    return fairness.Visitor(server, f"{name}-{case.task.id}", case.layout, case.task.start_url)
