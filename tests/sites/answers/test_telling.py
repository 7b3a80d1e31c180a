"""What an answer finally tells: without its thoughts, its questions and what it takes back."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.telling import told
from webdojo.sites.answers.values import any_order, missing, number, refused, text, winner

COLOR = "What is the color of Oak Chair?"
CHAIR = Subject(names=("Oak Chair",), asked=("Color",), rivals=("Red", "Pine Chair", "Why blue?"))
MORE = "Which has more views: Oak or Pine?"
OAK = winner([("Why oak?",), ("Pine: a story",)], 0, (9, 3))
COUNT = "How many chairs are there?"

RIGHT = [
    "<answer>Blue</answer>",
    "<think>Is it Red? I am not sure yet; less likely Red.</think>\n<answer>Blue</answer>",
    "I should look for the color first. Maybe Red.\n</think>\n\nBlue",
    "~~Red~~ Blue",
    "Red — no, wait, Blue",
    "Red. Actually, it is Blue.",
    "Red? No, Blue.",
    "It's Red, I mean Blue.",
    "Red. Correction: Blue",
    "At first I read Red, but that was a mistake. The final answer is Blue.",
    "What color is it? It is Blue.",
    "Blue. Shall I buy it for you?",
    'done(answer="Blue")',
    '{"status": "success", "answer": "Blue"}',
]
WRONG = [
    "<think>It is Blue.</think>",
    "<think>Blue",
    "<think>Blue</think> Red",
    "<answer>Blue</answer><answer>Red</answer>",
    "~~Blue~~",
    "~~Blue~~ Red",
    "Blue — no wait, Red",
    "Blue. Actually, Red.",
    "At first I read Blue, but that was a mistake. The final answer is Red.",
    "Blue. That was a mistake.",
    "Blue, but it was my mistake",
    "Blue? No.",
    "Is it Blue?",
    "Is it Blue? Please confirm.",
    "Blue, right?",
    "Blue. Or is it Red?",
    "Blue. Why blue?",
]


@pytest.mark.parametrize("answer", RIGHT)
def test_what_is_finally_claimed_counts(answer: str) -> None:
    assert says(text("Blue"), answer, COLOR, CHAIR)


@pytest.mark.parametrize("answer", WRONG)
def test_what_is_only_thought_asked_or_taken_back_does_not(answer: str) -> None:
    assert not says(text("Blue"), answer, COLOR, CHAIR)


@pytest.mark.parametrize(
    ("answer", "right"),
    [("Why oak?", True), ("Why oak? Pine: a story has 3.", True), ("Why oak??", False), ("Is it “Why oak?”?", False),
     ("Why oak? I mean Pine: a story", False), ("Why oak?. Actually, Pine: a story", False)],
)  # fmt: skip
def test_a_mark_in_a_name_neither_asks_nor_ends_a_sentence(answer: str, right: bool) -> None:
    assert says(OAK, answer, MORE) is right


def test_a_question_is_no_number() -> None:
    wanted = {**number(2), "of": "/chairs?color=blue"}
    assert says(wanted, "2", COUNT)
    assert not says(wanted, "2?", COUNT)
    assert not says(wanted, "Is it 2.0?", COUNT)


def test_paragraphs_and_dots_inside_words_are_kept() -> None:
    assert told("It is 12.50.\n\nIs it? See shop-1.localhost?sort=1", COUNT, []) == (
        "It is 12.50.\n\n See shop-1.localhost?sort=1"
    )


def test_tags_are_no_names_of_a_list() -> None:
    assert says(any_order(["Oak", "Pine"]), "<answer>\nOak, Pine\n</answer>", COUNT)


@pytest.mark.parametrize(
    "said",
    ['```json\n{{\n  "answer": "{}"\n}}\n```', "```text\n{}\n```", 'json\n{{"answer": "{}"}}',
     '{{"reasoning": "I looked for it", "answer": "{}"}}',
     '{{"thoughts": "I looked", "action": "done", "answer": "{}"}}',
     "Q: Open Tom Hill.\nA: {}", "User: Open Tom Hill.\nAssistant: {}", "Explanation: I looked for it.\n\nOutcome: {}",
     "Steps taken:\n1. Opened the website.\n2. I searched for the name.\n3. Read the page.\n\n**Answer:** {}",
     "Thought: I looked for it.\nObservation: nothing came up.\nConclusion: {}"],
)  # fmt: skip
def test_labels_and_steps_before_a_refusal_say_nothing_of_the_thing(said: str) -> None:
    assert says(missing("Tom Hill"), said.format("There is no Tom Hill"), "Open Tom Hill.")
    assert says(refused("sold out"), said.format("Tom Hill is sold out"), "Open Tom Hill.")
    assert not says(missing("Tom Hill"), said.format("Opened. Tom Hill is not missing"), "Open Tom Hill.")
    assert not says(refused("sold out"), said.format("Success: Tom Hill is sold out"), "Open Tom Hill.")


LETTERS = (
    "Dear user,\n\n{}.\n\nBest regards,\nYour assistant", "Hi there!\n\n{}.\n\nKind regards,\nSam",
    "Hello,\n{}.\nSincerely,\nyour web agent", "Dear Sir or Madam, {}. Yours sincerely", "Good morning! {}. Cheers!",
    "Hi Tom, {}. Thanks.",
)  # fmt: skip
NOTES = (
    "{}.[1]\n\n[1]: http://shop-1.localhost/a-7", "{} [1].\n\n[1] http://shop-1.localhost/a-7",
    "{}.[^1]\n\n[^1]: http://shop-1.localhost/a-7", "{}.¹\n\n¹ http://shop-1.localhost/a-7",
    "{}.*\n\n* http://shop-1.localhost/a-7", "{} (source: http://shop-1.localhost/a-7).",
    "{}.\n\nSources:\n[1]: http://shop-1.localhost/a-7\n[2]: http://shop-1.localhost/b",
    "{} ([source](http://shop-1.localhost/a-7)).", "{}.\n\nReference: [1](http://shop-1.localhost/a-7)",
)  # fmt: skip


@pytest.mark.parametrize("frame", [*LETTERS, *NOTES])
def test_letters_and_footnotes_say_nothing_of_the_value(frame: str) -> None:
    assert says(text("Blue"), frame.format("The color of Oak Chair is Blue"), COLOR, CHAIR)
    assert not says(text("Blue"), frame.format("The color of Oak Chair is Red"), COLOR, CHAIR)
    assert says(OAK, frame.format("Why oak? has more views"), MORE)
    assert not says(OAK, frame.format("Pine: a story has more views"), MORE)
    assert says(number(9), frame.format("There are 9 chairs"), COUNT)
    assert not says(number(9), frame.format("There are 8 chairs"), COUNT)


def test_a_title_that_begins_like_a_courtesy_is_no_signature() -> None:
    titles = ("Thank you for the garden party", "Recycling kickoff")
    question = "Which message is larger: “Thank you for the garden party”, or “Recycling kickoff”?"
    said = "Recycling kickoff has the larger size.\n\nThank you for the garden party"
    assert told(said, question, titles) == said
    assert told("Recycling kickoff\n\nThank you for the question", question, titles) == "Recycling kickoff"


def test_a_title_with_an_answer_ends_no_question() -> None:
    title = "A narrow answer to an old question about sleep"
    said = f"I can now answer your question:\n\n{title}"
    assert title in told(said, "Which article has more comments?", (title,))


@pytest.mark.parametrize("advice", ["Please check the spelling.", "Please check that you have the right site."])
def test_advice_says_nothing_of_the_thing(advice: str) -> None:
    said = f"There is no “Red Mug” on this site. {advice}"
    assert says(missing("Red Mug"), said, "Open the page of “Red Mug”.")
    assert not says(missing("Red Mug"), f"{advice} I opened the page.", "Open the page of “Red Mug”.")
    assert not says(missing("Red Mug"), "There is no “Red Mug”. Please check if it is there.", "Open “Red Mug”.")


def test_as_long_as_gives_a_reason() -> None:
    fancy = Subject(names=("Fancy Chair",))
    said = "As long as Fancy Chair is {}, this is not possible."
    assert says(refused("sold out"), said.format("sold out"), "Put Fancy Chair into the basket.", fancy)
    assert not says(refused("sold out"), said.format("locked"), "Put Fancy Chair into the basket.", fancy)


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("21", True),
        ("The number of chairs is 21, not to be confused with “Price”, which is $9.50.", True),
        ("21 (not to be mixed up with the 9 tables).", True),
        ("There are 9 chairs, not to be confused with “Price”, which is $21.", False),
        ("Not to be confused with 21.", False),
        ("There are 21 chairs. Please note that this may change when the site is updated.", True),
        ("Note that the site may change. There are 21 chairs", True),
        ("There are 9 chairs. Please note that this may change to 21.", False),
        ("There may be 21 chairs.", False),
        ("There are 21 chairs. Please note that this may be wrong.", False),
        ("There are 21 chairs. Please note that this may have changed.", False),
    ],
)
def test_what_an_answer_is_told_apart_from_and_that_it_may_change_is_no_part_of_it(said: str, counts: bool) -> None:
    assert says(number(21), said, COUNT) == counts


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("Roughly 1.8 thousand; the exact figure is 1838.", True),
        ("About $1.8k views (the exact number is 1,838).", True),
        ("Around 1,800, exactly 1838.", True),
        ("Around 1,900, precisely 1838.", True),
        ("Around 1,700, precisely 1838.", False),
        ("Around 1,838 — precisely 1838.", True),
        ("Roughly 2.8 thousand; the exact figure is 1838.", False),
        ("Roughly 1.8 thousand; the exact figure is 1839.", False),
        ("Roughly 1838.", False),
        ("Roughly 1838; the exact figure is unknown.", False),
    ],
)
def test_a_rounded_figure_before_the_exact_one_must_agree_with_it(said: str, counts: bool) -> None:
    assert says(number(1838), said, "How many views has “Oak”?") == counts


def test_a_rounded_weight_is_of_a_larger_unit() -> None:
    weight = number(1838, "g")
    assert says(weight, "Roughly 1.8 kg; the exact figure is 1838 g.", "What is the weight of Oak Chair?")
    assert not says(weight, "Roughly 2.8 kg; the exact figure is 1838 g.", "What is the weight of Oak Chair?")


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("Oak Chair is number 3 in the list.", False),
        ("Oak Chair is in row 3 of the list", False),
        ("Oak Chair is #3 on the page", False),
        ("Oak Chair, number 7 in the list, has 3 stars.", True),
        ("Oak Chair (in row 3 of the table) has 3 stars.", True),
        ("Oak Chair (in row 3 of the table) has 4 stars.", False),
    ],
)
def test_a_place_in_a_list_is_no_value(said: str, counts: bool) -> None:
    assert says(number(3), said, "I want to know the Stars of Oak Chair.", CHAIR) == counts


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("1955 g (about 2.0 kg)", True),
        ("1955 g, or roughly 2 kg.", True),
        ("1955 g (about 3.0 kg)", False),
        ("1955 g (about 1.7 kg)", False),
        ("1954 g (about 2.0 kg)", False),
        ("About 2.0 kg", False),
    ],
)
def test_an_exact_figure_may_be_rounded_in_a_larger_unit_behind_it(said: str, counts: bool) -> None:
    assert says(number(1955, "g"), said, "What is the weight of Oak Chair?") == counts


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("Finished after 14 steps. Oak Chair has 3 stars.", True),
        ("Oak Chair has 3 stars. (It took me 12 steps to find this.)", True),
        ("Oak Chair has 3 stars, found in 5 clicks.", True),
        ("Found after 3 steps.", False),
        ("It took me 3 steps to find Oak Chair.", False),
        ("Finished after 3 steps. Oak Chair has 4 stars.", False),
    ],
)
def test_how_long_a_run_was_is_no_value(said: str, counts: bool) -> None:
    assert says(number(3), said, "I want to know the Stars of Oak Chair.", CHAIR) == counts


def test_a_month_that_is_called_may_is_no_doubt() -> None:
    question = "Find out the number of comments of the section Local that the figures give for May 2026."
    assert says(number(316), "number of comments in May = 316", question)
    assert says(number(316), "The number of comments for May is 316", question)
    assert not says(number(316), "The number of comments may be 316", question)
