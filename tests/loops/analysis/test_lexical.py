"""The four families of phrases, on sentences that agents write, and their lengths over training."""

from __future__ import annotations

import time

import pytest

from tests.loops.analysis.made import asked, episode, rows, step
from webdojo.loops.analysis.lexical import BLOCKER, HISTORY, NONE, PROOF, RETRY, families, reasoning


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("I have already searched three stores for this lamp.", {HISTORY}),
        ("I’ve tried the filter twice.", {HISTORY}),
        ("We already checked the second result.", {HISTORY}),
        ("So far nothing matches.", {HISTORY}),
        ("My previous attempt opened the wrong menu.", {HISTORY}),
        ("After several failed attempts the list is still empty.", {HISTORY}),
        ("None of the sources I opened worked.", {HISTORY}),
        ("All searches have failed.", {HISTORY}),
        ("The page shows a CAPTCHA.", {BLOCKER}),
        ("Cloudflare asks me to wait.", {BLOCKER}),
        ("Access to this site is denied.", {BLOCKER}),
        ("It answers 403 Forbidden.", {BLOCKER}),
        ("A human verification stands in the way.", {BLOCKER}),
        ("It wants me to confirm that I am not a robot.", {BLOCKER}),
        ("Automated traffic was detected here.", {BLOCKER}),
        ("The website is blocking robots.", {BLOCKER}),
        ("I will try a different search.", {RETRY}),
        ("Let me reconsider.", {RETRY}),
        ("One more attempt should do.", {RETRY}),
        ("I should go back and look at the menu.", {RETRY}),
        ("I need another source for the price.", {RETRY}),
        ("Better to start over.", {RETRY}),
        ("All the requirements are met.", {PROOF}),
        ("This kettle satisfies every condition.", {PROOF}),
        ("The second criterion is the colour.", {PROOF}),
        ("It costs $45, which is under $50.", {PROOF}),
        ("The cake fits, because it is gluten-free.", {PROOF}),
        ("The hotel is within 5 miles, so it is near enough.", {PROOF}),
        ("I have tried two sites, and both show a captcha, so I need another site.", {HISTORY, BLOCKER, RETRY}),
        # and what is none of them
        ("The search field is at the top.", set()),
        ("Click the last page of the list.", set()),
        ("I used to be a page about lamps.", set()),
        ("The product costs under $50.", set()),
        ("Open the verification tab of the handbook.", set()),
        ("The road is blocked by snow, says the news.", set()),
        ("Go back to the first page.", set()),
        ("Set the filter to red.", set()),
        ("The new search button is blue.", set()),
        ("", set()),
    ],
)
def test_a_sentence_has_the_families_that_a_reader_would_say(sentence: str, found: set[str]) -> None:
    assert families(sentence) == found
    assert families(sentence.upper()) == found


def test_a_value_and_its_proof_must_stand_in_one_sentence() -> None:
    assert families("It must be under $50. The lamp matches the picture.") == set()
    assert families("At $49.90 it matches: under $50.") == {PROOF}


@pytest.mark.parametrize(
    "text", ["after several " * 20_000, "a" * 300_000, "try use need " * 20_000, "all of the " * 20_000]
)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(text: str) -> None:
    began = time.perf_counter()
    families(text)
    assert time.perf_counter() - began < 5


def test_reasoning_is_what_stands_before_the_first_call() -> None:
    assert reasoning(step("I think.")) == "I think."
    silent = step()
    silent.text = 'So far so good.<tool_call>{"name": "write", "arguments": {"text": "captcha"}}</tool_call>'
    assert reasoning(silent) == "So far so good."


def test_presence_and_length_over_training() -> None:
    found = rows(
        "lexical_proxies",
        [
            ("rl", 1, episode("a", step("So far nothing.", tokens=30), step("The field is here.", tokens=10))),
            ("rl", 1, episode("b", step("A captcha, so far.", tokens=50), step("Now click.", tokens=20))),
            ("rl", 2, episode("c", step("Here it is.", tokens=12))),
            ("rl", 2, episode("d", step("So far.", tokens=99), valid=False)),  # the web failed it
        ],
    )
    by_key = {(row["iteration"], row["family"]): row for row in found}
    history = by_key[1, HISTORY]
    assert (history["steps"], history["share"], history["response_tokens"]) == (2, 0.5, 40)
    assert by_key[1, BLOCKER]["response_tokens"] == 50
    assert (by_key[1, NONE]["share"], by_key[1, NONE]["response_tokens"]) == (0.5, 15)
    assert (by_key[2, HISTORY]["share"], by_key[2, HISTORY]["response_tokens"]) == (0, None)
    assert by_key[2, NONE]["share"] == 1


def test_agents_that_do_not_reason_have_no_row() -> None:
    silent = step()
    silent.text = '<tool_call>{"name": "click"}</tool_call>'
    assert "reasoning" in asked("lexical_proxies", [("rl", 1, episode("a", silent))]).missing
