"""Instructions are plain English: they have one reading, and no grammar that a careful reader would stop at."""

import random
import re
from collections.abc import Iterator

import pytest

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity
from webdojo.sites.catalog_goals import asked_for, draw_goal
from webdojo.sites.content.people import FIRST_NAMES
from webdojo.sites.goal import Goal
from webdojo.sites.instructions.phrasing import phrase
from webdojo.sites.instructions.references import Reference, joined, named
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.pages import CatalogSite

SEEDS = range(3)
THING = Collection("things", "Things", "thing", "things", (), (Entity("cup", "Cup", {}),))
KIND_NAMES = list(KINDS)


def constraint(phrase: str, value: str = "", control: str = "") -> Constraint:
    return Constraint(Attribute(f"{phrase}-{value}", "Label", filter="is", phrase=phrase, control=control), value)


def described(collection: Collection, conditions: int) -> Reference:
    says = tuple(f"It is {i}" for i in range(conditions))
    return Reference(collection.entities[0], collection, "the long description", [], says)


def asked(action: Action, it: Reference | None, **values: str) -> tuple[str, ...]:
    """The wordings of an action, with some value in every field that is not given."""
    some = {each.key: each.options[0] if each.options else "7" for each in action.fields if each.askable}
    some |= {each.key: "2027-03-05" for each in action.fields if each.widget in ("date", "calendar")}
    return asked_for(action, {**some, **values}, it)


def goals(kind: str, name: str, count: int = 20) -> Iterator[tuple[CatalogSite, Goal]]:
    """Some goals of this name."""
    rng = random.Random(kind)
    for seed in range(100):
        site = load_site(kind, seed)
        for goal in (draw_goal(site, difficulty, rng) for difficulty in range(1, 10)):
            if goal.name == name:
                count -= 1
                yield site, goal
        if count <= 0:
            return


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ([("in {value}", "Rome")], "in Rome"),
        ([("in {value}", "Rome"), ("in {value}", "red")], "in Rome and in red"),
        ([("in {value}", "Rome"), ("in {value}", "red"), ("in {value}", "June")], "in Rome, in red and in June"),
        ([("in {value}", "Rome"), ("by {value}", "Ada")], "in Rome by Ada"),
        ([("by {value}", "Ada"), ("posted on {value}", "3 May")], "by Ada posted on 3 May"),
        ([("posted on {value}", "3 May"), ("with {value} stars", "3")], "posted on 3 May with 3 stars"),
        ([("costing {value}", "$5"), ("lasting {value}", "9 min")], "costing $5 and lasting 9 min"),
        (
            [("costing {value}", "$5"), ("lasting {value}", "9 min"), ("with {value} stars", "3")],
            "costing $5, lasting 9 min and with 3 stars",
        ),
        (
            [
                ("with {value} stars", "3"),
                ("by {value}", "Ada"),
                ("with {value} votes", "2"),
                ("with {value} wheels", "4"),
            ],
            "by Ada with 3 stars, 2 votes and 4 wheels",
        ),
    ],
)
def test_conditions_are_told_apart(filters: list[tuple[str, str]], said: str) -> None:
    assert joined([constraint(*each) for each in filters]) == said


def test_a_condition_without_a_value_is_no_part_of_the_value_before_it() -> None:
    stock = constraint("in stock", control="In stock")
    made = constraint("made by {value}", "Delta")
    assert joined([constraint("in size {value}", "Small"), stock, made]) == "in size Small made by Delta and in stock"


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_what_is_done_cannot_be_read_as_a_part_of_a_long_description(kind: str) -> None:
    site = load_site(kind, 3)
    for action in (each for each in (*site.actions, *site.menu) if each.collection):
        for core in asked(action, described(site.collections[action.collection], 3)):
            after = core.partition("the long description")[2]
            assert not after or after[0] in ",:;", core


@pytest.mark.parametrize(
    ("it", "said"),
    [
        (named(THING, THING.entities[0]), "put Cup away"),
        (described(THING, 1), "put the long description away"),
        (described(THING, 2), "find the long description, then put the thing away"),
    ],
)
def test_only_a_long_description_comes_first(it: Reference, said: str) -> None:
    assert asked_for(Action("put", "Put", "", ("put {name} away",), "things"), {}, it) == (said,)


@pytest.mark.parametrize(
    ("also", "said"),
    [
        ({"a": ", with {a}"}, "go, with 1"),
        ({"a": ", with {a}", "b": ", by {b}"}, "go, with 1 and by 2"),
        ({"a": ", with {a}", "b": ", by {b}", "c": ", on {c}"}, "go, with 1, by 2 and on 3"),
        ({"a": ", and say {a}", "b": ", by {b}"}, "go, by 2, and say 1"),
        ({"a": ", and say {a}", "b": ", by {b}", "c": ", on {c}"}, "go, by 2, on 3, and say 1"),
    ],
)
def test_what_is_asked_besides_is_an_enumeration(also: dict[str, str], said: str) -> None:
    fields = tuple(Field(key, key) for key in also)
    action = Action("go", "Go", "").asked("go", **also).with_fields(*fields)
    assert asked_for(action, dict(zip(also, "123", strict=False)), None) == (said,)


def test_several_options_are_an_enumeration() -> None:
    rights = Field("rights", "Rights", "checks", ("Read", "Write", "Share"))
    assert [rights.show(value) for value in ("Read", "Read, Write", "Read, Write, Share")] == [
        "Read",
        "Read and Write",
        "Read, Write and Share",
    ]


@pytest.mark.parametrize(
    ("core", "said"),
    [
        ("write “Hello.”", "Please write “Hello.”"),
        ("open “Who pays?”", "Please open “Who pays?”"),
        ("open “A cup”", "Please open “A cup”."),
    ],
)
def test_a_sentence_ends_once(core: str, said: str) -> None:
    goal = Goal("any", "", {}, (), [], cores=(core,))
    assert said in {phrase(goal, random.Random(seed), "train")[0] for seed in range(99)}


def test_nothing_follows_a_list_that_could_be_a_part_of_it() -> None:
    goal = Goal("any", "", {}, (), [], cores=("the number of cups with 3 stars and a lid",), form="ask")
    said = {phrase(goal, random.Random(seed), "heldout")[0] for seed in range(99)}
    assert "Answer with nothing but the number of cups with 3 stars and a lid." in said
    assert not [each for each in said if "lid," in each]


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_clauses_have_the_right_article_and_name_no_control(kind: str) -> None:
    for site in (load_site(kind, seed) for seed in SEEDS):
        for action in (*site.actions, *site.menu):
            it = described(site.collections[action.collection], 1) if action.collection else None
            widgets = {each.key: each.options for each in action.fields if each.widget in ("radio", "select")}
            values = [{key: option} for key, options in widgets.items() for option in options] or [{}]
            for core in (core for each in values for core in asked(action, it, **each)):
                assert not re.search(r"\ba [AEIOaeio]", core), core
                assert "button" not in core, core
                assert not re.search(r"^rate .* with ", core), core


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_questions_for_people_ask_who_they_are(kind: str) -> None:
    first = frozenset(FIRST_NAMES)
    for collection in load_site(kind, 3).collections.values():
        for attribute in (each for each in collection.attributes if each.asked and each.type == "choice"):
            values = [str(entity.values.get(attribute.key, "")).split() for entity in collection.entities]
            people = sum(len(each) == 2 and each[0] in first for each in values)
            assert attribute.person == (people > len([each for each in values if each]) / 3), attribute.key
    goal = Goal("any", "", {}, (), [], cores=("the author of it",), form="ask", asks="Who is")
    assert "Who is the author of it?" in {phrase(goal, random.Random(seed), "train")[0] for seed in range(99)}


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_a_question_is_asked_as_its_value_needs(kind: str) -> None:
    for site, goal in goals(kind, "read"):
        key = goal.facts[-1]["answer"]["attribute"]
        thing = goal.facts[-1]["answer"]["thing"].split("/")[1]
        assert goal.asks == ("Who is" if site.collections[thing].by_key[key].person else "What is"), goal.cores


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_several_names_are_asked_for_in_the_plural(kind: str) -> None:
    for site, goal in goals(kind, "names", 5):
        shown = goal.facts[-1]["answer"]["of"].partition("?")[0]
        title = site.collections[shown[1:]].title
        assert goal.asks == "What are"
        assert all(core.startswith(f"the {title}s of ") for core in goal.cores), goal.cores


@pytest.mark.parametrize(
    ("kind", "title"), [("mail", "subject"), ("forum", "title"), ("news", "title"), ("tracker", "title")]
)
def test_what_has_no_name_is_asked_for_by_its_title(kind: str, title: str) -> None:
    found = [goal.cores for _, goal in goals(kind, "across", 5)]
    assert found and all(core.startswith(f"the {title} of ") for cores in found for core in cores)


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_where_a_thing_is_stands_before_its_description(kind: str) -> None:
    for _, goal in goals(kind, "across", 5):
        for core in goal.cores:
            assert re.search(rf": on this site .+, or on {kind}-\d+\.localhost .+", core), core
            assert "on this site, or" not in core, core


@pytest.mark.parametrize("kind", ["admin", "forum", "mail", "news", "tracker"])
def test_people_are_not_opened_but_their_pages(kind: str) -> None:
    site = load_site(kind, 3)
    assert [each.slug for each in site.collections.values() if each.people]
    for site, goal in goals(kind, "open"):
        if site.collections[goal.facts[-1]["url"]["path"].split("/")[1]].people:
            assert all("the page of" in core for core in goal.cores), goal.cores


@pytest.mark.parametrize(
    ("kind", "key", "said"),
    [
        ("wiki", "length", "the greater length"),
        ("wiki", "height", "the higher height"),
        ("wiki", "rooms", "the higher number of rooms"),
        ("shop", "stock", "the larger stock"),
        ("shop", "weight", "the greater weight"),
        ("travel", "stars", "the higher number of stars"),
    ],
)
def test_more_of_something_is_said_as_one_says_it(kind: str, key: str, said: str) -> None:
    rng = random.Random(0)
    sites = [load_site(kind, seed) for seed in range(40)]
    drawn = (draw_goal(site, 3, rng) for _ in range(40) for site in sites)
    for goal in drawn:
        if goal.name in ("compare", "across") and goal.facts[-1]["answer"]["attribute"] == key:
            assert all(f"{said}:" in core for core in goal.cores), goal.cores
            return
    raise AssertionError(f"no goal compares {key}")


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_what_stands_in_quotes_stands_on_the_page(kind: str) -> None:
    for collection in load_site(kind, 3).collections.values():
        for attribute in collection.attributes:
            quoted = re.findall("“(.*?)”", f"{attribute.noun} {attribute.phrase}")
            assert set(quoted) <= {attribute.label, "{value}"}, attribute


def test_a_vote_is_asked_for_by_the_question_that_the_page_asks() -> None:
    for site in (load_site("news", seed) for seed in SEEDS):
        poll = next(action for action in site.actions if action.key == "poll")
        assert all(f"“{poll.fields[0].label}”" in core for core in asked(poll, None))


def test_reports_are_called_as_the_site_calls_them() -> None:
    for site, goal in goals("admin", "report"):
        assert f"that the {site.ways['/reports'][1].lower()} give for" in goal.cores[1]


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_what_is_to_be_done_says_neither_me_nor_you(kind: str) -> None:
    """A template may say that somebody else has asked for it: `My colleague asked me to show me …`."""
    rng = random.Random(kind)
    drawn = [draw_goal(load_site(kind, seed), difficulty, rng) for seed in range(8) for difficulty in range(1, 10)]
    cores = [re.sub("“.*?”", "", core) for goal in drawn if goal.form == "do" for core in goal.cores]
    assert cores and not [core for core in cores if re.search(r"\b(me|you)\b", core)]
