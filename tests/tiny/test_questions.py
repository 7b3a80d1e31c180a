"""What the tiny model is asked about a screen."""

import random
import re
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from webdojo.sites.kinds import load_site
from webdojo.sites.site import Overlay, Page, Request
from webdojo.tiny.questions import (
    CHARACTERS,
    NO_WORD,
    Question,
    ShownTask,
    Skill,
    dense_targets,
    draw_task,
    questions,
)
from webdojo.tiny.screens import TOKENS, Screen, Word
from webdojo.tiny.vocabulary import KINDS, Vocabulary

HEADER, LINK, FACT = 1, 2, 3
KNOWN = Vocabulary(KINDS)


def word(text: str, column: int, row: int, element: int) -> Word:
    return Word(text, 16 * column, 32 * row - 3, 16 * (column + len(text)), 32 * row + 35, element)


SCREEN = Screen(
    words=(
        word("Nova", 0, 0, HEADER),
        word("Royal", 2, 3, LINK),
        word("Rug", 8, 3, LINK),
        word("$95", 12, 3, LINK),
        word("Size", 0, 6, FACT),
        word("Large", 15, 6, FACT + 1),
    ),
    controls=(("a", LINK),),
    url="http://shop-3.localhost/p/royal-rug",
    place="Royal Rug",
)


def test_dense_targets_name_both_cells_of_every_token() -> None:
    characters, words = dense_targets(SCREEN, KNOWN)
    assert characters.shape == (TOKENS, 2)
    assert words.shape == (TOKENS,)
    token = 3 * 10 + 1  # row 3, columns 2 and 3: "Ro"
    assert characters[token].tolist() == [CHARACTERS["R"], CHARACTERS["o"]]
    assert words[token] == KNOWN.classes["royal"]
    assert characters[token + 2].tolist() == [CHARACTERS["l"], 0]  # the blank after "Royal"
    assert words[3 * 10 + 6] == NO_WORD  # "$9" is a word outside the vocabulary
    assert words[0] == KNOWN.classes["nova"]
    assert np.count_nonzero(characters) == sum(len(w.text) for w in SCREEN.words)


@pytest.mark.parametrize(
    ("skill", "text", "answer"),
    [
        ("find", "find Royal Rug", '{"x": 425, "y": 350}'),
        ("read", 'read {"x": 425, "y": 350}', "Royal Rug $95"),
        ("value", "value Royal Rug", "95"),
        ("value", "value Size", "Large"),
        ("see", "see Royal Rug", "yes"),
    ],
)
def test_each_kind_of_question_is_asked_with_its_answer(skill: Skill, text: str, answer: str) -> None:
    asked = {(q.skill, q.text): q.answer for q in questions(SCREEN, random.Random(0), 300, KNOWN)}
    assert asked[skill, text] == answer


def test_a_name_that_stands_twice_is_not_pointed_at() -> None:
    twice = Screen((*SCREEN.words, word("Royal", 2, 8, 9), word("Rug", 8, 8, 9)), (*SCREEN.controls, ("a", 9)))
    assert not [q for q in questions(twice, random.Random(0), 200, KNOWN) if q.skill == "find"]


def test_see_is_no_for_what_is_not_there() -> None:
    asked = [q for q in questions(SCREEN, random.Random(1), 400, KNOWN) if q.skill == "see"]
    names = {"Nova", "Royal Rug", "Size", "Large"}
    assert {q.answer for q in asked} == {"yes", "no"}
    assert all((q.text.removeprefix("see ") in names) == (q.answer == "yes") for q in asked)


def test_questions_about_the_shown_task_do_not_say_what_it_names() -> None:
    shown = ShownTask("Find Royal Rug and open it.", "Royal Rug", "Open Royal Rug.", ("Royal Rug",))
    asked = {q.text: q.answer for q in questions(SCREEN, random.Random(0), 300, KNOWN, shown) if q.about_task}
    assert asked == {
        "name": "Royal Rug",
        "kind": "Rugs",
        "goal": "Open Royal Rug.",
        "here": "yes",
        "see it": "yes",
        "find it": '{"x": 425, "y": 350}',
    }


def test_a_shown_task_holds_what_it_names_and_its_goal_says_it_again() -> None:
    tasks = [draw_task(SCREEN, random.Random(seed), KNOWN) for seed in range(200)]
    assert all(value in n.text for n in tasks for value in n.values)
    assert all(n.name == n.values[0] for n in tasks)
    assert sum(n.name == "Royal Rug" for n in tasks) > 40
    assert len({n.name for n in tasks}) > 40
    assert all(n.name in n.goal for n in tasks)
    assert {n.goal.split()[0] for n in tasks} >= {"Open", "Search", "What", "Buy", "Show"}


def test_a_cart_is_of_no_kind() -> None:
    shown = ShownTask("Open the Bag.", "Bag", "Open the Bag.", ("Bag",))
    asked = questions(SCREEN, random.Random(0), 300, KNOWN, shown)
    assert not [q for q in asked if q.skill == "kind"]


def test_of_a_turn_only_the_calls_are_graded_and_of_coordinates_the_first_digit() -> None:
    answer = '<think>Hi.</think><tool_call>{"name": "click", "arguments": {"x": 425, "y": 50}}</tool_call>'
    graded = Question("say", "", answer).graded()
    free = [character for character, right in zip(answer, graded, strict=True) if not right]
    assert "".join(free) == "<think>Hi.</think>25"


def test_the_higher_of_two_numbers_is_told() -> None:
    asked = [q for q in questions(SCREEN, random.Random(2), 400, KNOWN) if q.skill == "more"]
    assert len(asked) > 10
    for question in asked:
        assert question.answer == str(max(map(int, question.text.split()[1:])))


@pytest.mark.parametrize("kind", KINDS)
def test_the_vocabulary_has_every_word_of_the_pages(kind: str) -> None:
    known = {word.lower() for word in Vocabulary((kind,)).words}
    for seed in range(12):
        site = load_site(kind, seed, "grid")
        paths = list(site.paths())
        for path in {path.split("?")[0].split("/")[1] + path.split("/")[-1][:5]: path for path in paths}.values():
            parts = urlsplit(path)
            page = site.respond(Request("GET", parts.path, dict(parse_qsl(parts.query))), Overlay())
            assert isinstance(page, Page)
            rows = site.compact(page, Overlay())
            assert rows is not None
            said = " ".join(f"{cell.text} {cell.note}" for row in rows for cell in row.cells)
            assert {word.strip(".").lower() for word in re.findall(r"[A-Za-z]+\.?", said)} <= known, (path, said)
