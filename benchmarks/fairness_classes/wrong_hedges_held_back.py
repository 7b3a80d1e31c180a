"""The half of the classes of `wrong_hedges.py` that is held back."""

from __future__ import annotations

import json

from fairness_classes.asked import SAID, Answer
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import sentence, short, within


def _others(case: Case, said: Answer, say: Say) -> list[str]:
    """Two other answers of the same sort, which are wrong; empty where there are none."""
    if said.number is not None and said.sort in ("value", "count"):
        return [
            short(said).replace(str(said.number), str(said.number + more), 1) for more in say.rng.sample((2, 3, 5), 2)
        ]
    if case.attribute is None or said.sort != "value":
        return []
    key = case.attribute.key
    values = {each.values[key] for each in case.target.collection.entities if each.values.get(key, "") != ""}
    shown = sorted({case.attribute.show(value) for value in values} - {said.value})
    return say.rng.sample(shown, 2) if len(shown) > 1 else []


@wrong_answer("value", "count")
def candidates_as_json(case: Case, said: Answer, say: Say) -> str | None:
    """A list of candidates, none of which is chosen."""
    others = _others(case, said, say)
    return json.dumps({"answer": say.rng.sample([short(said), *others], 3)}, ensure_ascii=False) if others else None


@wrong_answer("value", "count")
def options_without_a_choice(case: Case, said: Answer, say: Say) -> str | None:
    """Three options with letters, and no choice."""
    others = _others(case, said, say)
    options = say.rng.sample([short(said), *others], 1 + len(others))
    return "\n".join(f"{letter}) {each}" for letter, each in zip("ABC", options, strict=True)) if others else None


@wrong_answer("value", "count")
def unless_it_is_another(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer, unless it is another one."""
    others = _others(case, said, say)
    return f"{short(said)}, unless it is {others[0]}." if others else None


@wrong_answer("value", "count")
def one_or_if_not_the_other(case: Case, said: Answer, say: Say) -> str | None:
    """A first and a second choice."""
    others = _others(case, said, say)
    return f"First choice: {short(said)}. Second choice: {others[0]}." if others else None


@wrong_answer("value", "count")
def asks_which_of_two(case: Case, said: Answer, say: Say) -> str | None:
    """Asks which of two answers is wanted."""
    others = _others(case, said, say)
    return f"Do you want me to answer {short(said)} or {others[0]}?" if others else None


@wrong_answer(*SAID)
def says_it_and_denies_it(case: Case, said: Answer, say: Say) -> str:
    """The answer, and that it is wrong."""
    return say.rng.choice(
        (f"{sentence(said)}. No, that is wrong.", f"It says {short(said)}, but that is not the answer.")
    )


@wrong_answer(*SAID)
def not_verified(case: Case, said: Answer, say: Say) -> str:
    """That one could not verify it."""
    return f"I could not verify this, but it should be {short(said)}."


@wrong_answer(*SAID)
def asks_for_help(case: Case, said: Answer, say: Say) -> str:
    """A question to whoever asked."""
    return say.rng.choice(
        (
            "Could you tell me which page to look at?",
            "What exactly do you mean by that?",
            "Can you log in for me?",
        )
    )


@wrong_answer(*SAID)
def nothing_at_all(case: Case, said: Answer, say: Say) -> str:
    """Signs without a meaning."""
    return say.rng.choice(("...", "—", "?", " ", "{}"))


@wrong_answer(*SAID)
def a_placeholder(case: Case, said: Answer, say: Say) -> str:
    """A template that was not filled in."""
    return say.rng.choice(("<answer>", "[your answer here]", '{"answer": null}', "The answer is {answer}.", "TODO"))


@wrong_answer(*SAID)
def breaks_off(case: Case, said: Answer, say: Say) -> str:
    """Thoughts that end before the answer."""
    return f"<think>Let me see. I have to find out: {said.restated} {said.steps}, and now I have to"


@wrong_answer(*SAID)
def the_address_of_the_site(case: Case, said: Answer, say: Say) -> str:
    """Where the answer stands."""
    return say.rng.choice((case.site.url(), f"You can find the answer at {case.site.url()}."))


@wrong_answer(*SAID)
def an_excuse(case: Case, said: Answer, say: Say) -> str:
    """That one cannot use a browser."""
    return say.rng.choice(
        (
            "As an AI language model, I cannot browse websites.",
            "The page did not load in time.",
            "I ran out of steps before I could finish.",
        )
    )


@wrong_answer(*SAID)
def no_longer_so(case: Case, said: Answer, say: Say) -> str:
    """That it was so in the past."""
    return f"It used to be {short(said)}, but that is no longer so."


@wrong_answer(*SAID)
def so_in_the_future(case: Case, said: Answer, say: Say) -> str:
    """That it is not so yet, but will be."""
    return f"It is not so yet, but from next month on it will be {short(said)}."


@wrong_answer(*SAID)
def expected_from_other_pages(case: Case, said: Answer, say: Say) -> str:
    """That one has not seen it, and what one expects after having seen other pages."""
    return f"I have not seen it myself. Going by other pages, I would expect that {within(sentence(said))}."


@wrong_answer(*SAID)
def somebody_claims_it(case: Case, said: Answer, say: Say) -> str:
    """That somebody claims it, and that the site says otherwise."""
    return f"Somebody claims in a comment that {within(sentence(said))}, but the site itself says otherwise."
