"""Turns that the tiny model learns to say are in the protocol and true of the screen."""

import random

import pytest

from webdojo.agent import toolcall
from webdojo.tiny.questions import Note, ShownTask, agent_turn, draw_note, earlier_turn
from webdojo.tiny.screens import Screen, Word
from webdojo.tiny.vocabulary import KINDS, Vocabulary


def word(text: str, column: int, row: int, element: int) -> Word:
    return Word(text, 16 * column, 32 * row - 3, 16 * (column + len(text)), 32 * row + 35, element)


SCREEN = Screen(
    words=(
        word("Search", 0, 1, 1),
        word("Rugs", 2, 3, 2),
        word("Royal", 2, 4, 3),
        word("Rug", 8, 4, 3),
        word("$95", 12, 4, 3),
        word("Buy", 2, 6, 4),
    ),
    controls=(("input", 1), ("a", 2), ("a", 3), ("button", 4)),
    url="http://shop-3.localhost/c/rugs",
    scroll_px=(0, 160),
    place="Rugs",
)
SHOWN = ShownTask("Open Royal Rug.", "Royal Rug", "Open Royal Rug.", ("Royal Rug",))
KNOWN = Vocabulary(KINDS)
TURNS = [agent_turn(SCREEN, random.Random(seed), SHOWN, KNOWN) for seed in range(400)]


def test_every_turn_is_one_that_the_harness_reads() -> None:
    for turn in TURNS:
        parsed = toolcall.parse(turn.answer)
        assert parsed.error is None, turn.answer
        assert parsed.think
    tools = {toolcall.parse(turn.answer).calls[-1].name for turn in TURNS}
    assert tools == {"click", "scroll", "press_keys", "done"}


def test_a_click_is_on_what_the_thought_names_last() -> None:
    points = {thing.name: thing.point for thing in SCREEN.targets}
    clicks = [turn for turn in TURNS if len(toolcall.parse(turn.answer).calls) == 1 and '"click"' in turn.answer]
    for turn in clicks:
        parsed = toolcall.parse(turn.answer)
        begin, end = turn.mentioned
        name = turn.answer[begin:end]
        assert parsed.think.endswith(f"{name}.")
        assert tuple(parsed.calls[0].arguments.values()) == points[name]
    assert {turn.answer[slice(*turn.mentioned)] for turn in clicks} == {"Rugs", "Royal Rug", "Buy"}


def test_digits_of_an_answer_are_read_where_they_stand() -> None:
    turn = next(turn for turn in TURNS if "Price of" in turn.answer)
    assert toolcall.parse(turn.answer).calls[0].arguments == {"answer": "95"}
    attended = ["".join(character for character, cells in zip(turn.answer, turn.answer_cells, strict=True) if cells)]
    assert attended == ["95"]
    source, copy, length = turn.copied
    assert turn.answer[source : source + length] == turn.answer[copy : copy + length] == "95"
    assert turn.answer[copy - 1] == '"'


@pytest.mark.parametrize(
    ("path", "place", "claim"),
    [
        ("/c/rugs", "Rugs", "This is Rugs."),
        ("/c/rugs?page=2", "Rugs", "This is page 2 of Rugs."),
        ("/c/rugs?color=red", "Rugs", "Rugs are Red."),
        ("/c/rugs?max=30", "Rugs", "Rugs are Under $30."),
        ("/search?q=royal+rug", "", "Results for Royal Rug."),
        ("/added/royal-rug", "", "The Basket has Royal Rug."),
    ],
)
def test_what_is_said_of_a_page_is_true(path: str, place: str, claim: str) -> None:
    screen = Screen((), (), f"http://shop-3.localhost{path}", (0, 0), place)
    said = {toolcall.parse(agent_turn(screen, random.Random(seed), SHOWN, KNOWN).answer).think for seed in range(40)}
    assert f"{SHOWN.goal} {claim} Done." in said


def test_an_earlier_turn_led_to_the_page() -> None:
    text, feedback = earlier_turn("http://shop-3.localhost/p/royal-rug", SHOWN, random.Random(0), KNOWN, None)
    assert toolcall.parse(text).error is None
    assert feedback.text.endswith("page is now http://shop-3.localhost/p/royal-rug")


@pytest.mark.parametrize(
    ("path", "claim"),
    [("/list/letters?sender=anna", "Letters are Anna."), ("/item/royal-letter/act/done", "Royal Letter is done.")],
)
def test_what_is_said_of_a_small_site_is_true(path: str, claim: str) -> None:
    screen = Screen((), (), f"http://mail-3.localhost{path}", (0, 0), "Letters")
    said = {toolcall.parse(agent_turn(screen, random.Random(seed), SHOWN, KNOWN).answer).think for seed in range(40)}
    assert f"{SHOWN.goal} {claim} Done." in said


@pytest.mark.parametrize(("before", "high"), [("120", "120"), ("95", "98"), ("7", "98")])
def test_a_number_that_was_noted_is_compared_with_one_on_the_screen(before: str, high: str) -> None:
    screen = Screen((word("Votes", 0, 3, 1), word("98", 18, 3, 2)), (), "http://tracker-3.localhost/item/royal-bug")
    note = Note("Hours", "Royal Task", before)
    turns = [agent_turn(screen, random.Random(seed), SHOWN, KNOWN, note) for seed in range(60)]
    turns = [turn for turn in turns if "is higher" in turn.answer]
    assert turns
    for turn in turns:
        parsed = toolcall.parse(turn.answer)
        assert f"{before} and 98. {high} is higher. Done." in str(parsed.think)
        assert parsed.calls[0].arguments == {"answer": high}
        source, copy, length = turn.copied
        assert turn.answer[source : source + length] == turn.answer[copy : copy + length] == high
        read = "".join(character for character, cells in zip(turn.answer, turn.answer_cells, strict=True) if cells)
        assert read == "98", "only what is on the screen is read there"


def test_a_word_that_was_noted_is_opened_where_it_stands() -> None:
    screen = Screen((word("Anna", 0, 3, 1), word("Ben", 10, 3, 2)), (("a", 1), ("a", 2)), "http://mail-3.localhost/")
    turns = [agent_turn(screen, random.Random(seed), SHOWN, KNOWN, Note("Sender", "X", "Ben")) for seed in range(200)]
    opened = [turn.answer[slice(*turn.mentioned)] for turn in turns if '"click"' in turn.answer]
    assert opened.count("Ben") > 2 * opened.count("Anna") > 0


def test_notes_are_numbers_or_words_of_links() -> None:
    notes = [draw_note(SCREEN, random.Random(seed), KNOWN) for seed in range(200)]
    assert {"Rugs"} == {note.value for note in notes if not note.value.isdigit()}
    assert str(notes[0]) in earlier_turn(SCREEN.url, SHOWN, random.Random(0), KNOWN, notes[0])[0]
