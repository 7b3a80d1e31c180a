"""Rules for texts, in both dialects, repaired and as published: a row is a case, with what each of the four says."""

import pytest

from webdojo.errors import TaskError
from webdojo.reward.webarena import text
from webdojo.reward.webarena.rules import Rules
from webdojo.reward.webarena.spec import StringMatch, read_spec

MODES = {
    "webarena": Rules(),
    "webarena strict": Rules(strict_compat=True),
    "lite": Rules(dialect="webarena_lite"),
    "lite strict": Rules(dialect="webarena_lite", strict_compat=True),
}

# Check, reference, answer, and the verdicts of these modes, in order: 1, 0, or - where a dialect has no such check.
ANSWERS = [
    ("exact_match", "Quest Lumaflex™ Band", "Quest Lumaflex™ Band", "1111"),
    ("exact_match", "Quest Lumaflex™ Band", "quest lumaflex™ band", "1111"),
    ("exact_match", "Quest Lumaflex™ Band", "The Quest Lumaflex™ Band", "0000"),
    ("exact_match", "Quest Lumaflex™ Band", "Quest Lumaflex Band", "0000"),
    ("exact_match", "557m", " 557m", "1110"),
    ("exact_match", "557m", "557m\n", "1110"),
    ("exact_match", "557m", "'557m'", "1111"),
    ("exact_match", "557m", '"557m"', "1111"),
    ("exact_match", "557m", " '557m' ", "1110"),
    ("exact_match", "557m", "''557m''", "1111"),
    ("exact_match", "557m", "'557m\"", "0000"),
    ("exact_match", "557m", "557 m", "0000"),
    ("exact_match", "557m", "557m.", "0000"),
    ("exact_match", "'557m'", "557m", "1111"),
    ("exact_match", "Yes", "yes", "1111"),
    ("exact_match", "Yes", "YES", "1111"),
    ("exact_match", "Yes", "no", "0000"),
    ("exact_match", "N/A", "n/a", "1111"),
    ("exact_match", "N/A", "NA", "0000"),
    ("exact_match", "$0.00", "$0.00", "1111"),
    ("exact_match", "$0.00", "0.00", "0000"),
    ("exact_match", "65 |OR| 3", "3", "0000"),
    # A reference of one character that stands alone is a word, in both dialects.
    ("must_include", ["0"], "0", "1111"),
    ("must_include", ["0"], "10", "0000"),
    ("must_include", ["0"], "There are 0 reviews", "1111"),
    ("must_include", ["0"], "There are 10 reviews", "0000"),
    ("must_include", ["0"], "$0.00", "0000"),
    ("must_include", ["0"], "0.", "1111"),
    ("must_include", ["0"], "The score: 0. I counted them.", "1010"),
    ("must_include", ["0"], "The score: 0, I counted them.", "1111"),
    ("must_include", ["2"], "2024", "0000"),
    ("must_include", ["2"], "2,3", "0000"),
    ("must_include", ["2"], "2, 3", "1111"),
    ("must_include", ["2"], "(2)", "1111"),
    ("must_include", ["2"], "[2]", "1111"),
    ("must_include", ["2"], "2/5", "0011"),
    ("must_include", ["2"], "#2", "1111"),
    ("must_include", ["2"], "2%", "1111"),
    ("must_include", ["2"], "2:30", "0000"),
    ("must_include", ["2"], "2!", "1111"),
    ("must_include", ["2"], "two", "0000"),
    ("must_include", ["5"], "It is 5", "1111"),
    ("must_include", ["5"], "It is '5'", "1111"),
    ("must_include", ["5"], "It is 5-6", "0000"),
    ("must_include", ["5"], "It is 5—6", "1111"),
    # Two references of one character are looked for anywhere, but in WebArena-Lite.
    ("must_include", ["1", "2"], "12", "1100"),
    ("must_include", ["1", "2"], "1 and 2", "1111"),
    ("must_include", ["1", "2"], "only 1", "0000"),
    # Longer references of one word are looked for anywhere, but in WebArena-Lite.
    ("must_include", ["170"], "170", "1111"),
    ("must_include", ["170"], "000000170", "1100"),
    ("must_include", ["170"], "1703", "1100"),
    ("must_include", ["170"], "order 170.", "1111"),
    ("must_include", ["170"], "order 170. It was cancelled", "1110"),
    ("must_include", ["170"], "It was order 170, cancelled", "1111"),
    ("must_include", ["yjlou"], "yjlou", "1111"),
    ("must_include", ["yjlou"], "@yjlou", "1111"),
    ("must_include", ["yjlou"], "yjlou2", "1100"),
    ("must_include", ["yjlou"], "gitlab.com/yjlou", "1111"),
    ("must_include", ["yjlou"], "It is yjlou. He has many commits.", "1111"),
    ("must_include", ["amy"], "Amy's", "1111"),
    ("must_include", ["amy"], "amyx", "1100"),
    ("must_include", ["can"], "cannot", "1111"),
    ("must_include", ["12.99"], "$12.99", "1111"),
    ("must_include", ["12.99"], "12.990", "1100"),
    ("must_include", ["$12.99"], "It costs $12.99 now", "1111"),
    ("must_include", ["$12.99"], "It costs $ 12.99 now", "0000"),
    ("must_include", ["2.5%"], "about 2.5% more", "1111"),
    # References of several words are looked for anywhere.
    ("must_include", ["Acadia National Park"], "It is Acadia National Park, Maine", "1111"),
    ("must_include", ["Acadia National Park"], "acadia national parks", "1111"),
    ("must_include", ["Acadia National Park"], "acadia  national park", "0000"),
    ("must_include", ["Ted Baker", "Samsung"], "Samsung and Ted Baker", "1111"),
    ("must_include", ["Ted Baker", "Samsung"], "Samsung", "0000"),
    ("must_include", ["Ted Baker", "Samsung"], "", "0000"),
    ("must_include", ["'quoted words'"], "these are quoted words", "1111"),
    ("must_include", ["0 seconds"], "10 seconds", "1111"),
    # Alternatives (task 386).
    ("must_include", ["65 |OR| 3"], "3", "1011"),
    ("must_include", ["65 |OR| 3"], "65", "1011"),
    ("must_include", ["65 |OR| 3"], "65 of them", "1011"),
    ("must_include", ["65 |OR| 3"], "65 |or| 3", "1111"),
    ("must_include", ["65 |OR| 3"], "13", "0000"),
    ("must_include", ["65 |OR| 3"], "4", "0000"),
    ("must_include", ["red car |OR| blue car", "fast"], "a fast blue car", "1011"),
    ("must_include", ["red car |OR| blue car", "fast"], "a blue car", "0000"),
    ("must_include", "yjlou", "yjlou", "1111"),
    # Checks of WebArena-Lite.
    ("must_exclude", ["red"], "blue", "--11"),
    ("must_exclude", ["red"], "a red one", "--00"),
    ("must_exclude", ["red"], "reddish", "--11"),
    ("must_exclude", ["red"], "red. It was sold", "--00"),
    ("must_exclude", ["red"], "blue/red", "--11"),
    ("must_exclude", ["red car"], "two red cars", "--00"),
    ("must_exclude", ["red", "blue"], "green", "--11"),
    ("must_exclude", ["red", "blue"], "blue", "--00"),
    ("one_of", ["red", "blue"], "it is blue", "--11"),
    ("one_of", ["red", "blue"], "it is reddish", "--11"),
    ("one_of", ["red", "blue"], "green", "--00"),
    ("one_of", ["'Red'"], "RED", "--11"),
    ("required_values", [">= 300"], "300", "--11"),
    ("required_values", [">= 300"], "299", "--00"),
    ("required_values", [">= 300", "<= 400"], "350", "--11"),
    ("required_values", [">= 300", "<= 400"], "450", "--00"),
    ("required_values", ["< 700"], "700", "--01"),
    ("required_values", ["< 700"], "699", "--11"),
    ("required_values", ["> 700"], "700", "--01"),
    ("required_values", ["> 700"], "701", "--11"),
    ("required_values", ["== 12"], "12", "--11"),
    ("required_values", ["== 12"], "13", "--00"),
    ("required_values", ["== 1200"], "1,200", "--11"),
    ("required_values", ["== 12.5"], "12.5", "--10"),
    ("required_values", ["== 12"], "twelve", "--00"),
    ("required_values", ["== 12"], "12 reviews", "--00"),
    ("required_values", ["== 12 |OR| == 14"], "14", "--11"),
    ("required_values", ["== 12 |OR| == 14"], "13", "--00"),
]

# The same of a text that was found in a page.
PAGES = [
    ("exact_match", "true", "True", "1111"),
    ("exact_match", "", "", "1111"),
    ("exact_match", "Guest", "guest", "1111"),
    ("exact_match", "Guest", "Guest ", "1110"),
    ("exact_match", "Guest", "'\"Guest\"'", "0000"),
    ("exact_match", "dialog", "dialog-component", "0000"),
    ("must_include", ["0"], "10", "1100"),
    ("must_include", ["0"], "0", "1111"),
    ("must_include", ["diffusion model", "help"], "A diffusion model may help.", "1111"),
    ("must_include", ["diffusion model", "help"], "A diffusion model is helpful.", "1100"),
    ("must_include", ["diffusion model", "help"], "A diffusion model", "0000"),
    ("must_include", ["1 |OR| 2"], "2", "1111"),
    ("must_include", ["July 8th |OR| 8 July"], "on 8 July", "1111"),
    ("must_include", ["July 8th |OR| 8 July"], "on 9 July", "0000"),
    ("must_include", ["http://localhost/cloud"], "see http://localhost/cloud now", "1111"),
]


def verdicts(kind: str, value: object, given: str, answer: bool) -> str:
    said = ""
    for rules in MODES.values():
        try:
            (found,) = read_spec({"eval_types": ["string_match"], "reference_answers": {kind: value}}, rules.dialect)
        except TaskError:
            said += "-"
            continue
        assert isinstance(found, StringMatch)
        said += str(int(text.matches(found.checks[0], given, rules, answer=answer)))  # type: ignore[arg-type]
    return said


@pytest.mark.parametrize(("kind", "value", "answer", "expected"), ANSWERS)
def test_of_answers(kind: str, value: object, answer: str, expected: str) -> None:
    assert verdicts(kind, value, answer, answer=True) == expected


@pytest.mark.parametrize(("kind", "value", "found", "expected"), PAGES)
def test_of_pages(kind: str, value: object, found: str, expected: str) -> None:
    assert verdicts(kind, value, found, answer=False) == expected


def test_no_case_stands_there_twice() -> None:
    cases = [str(case[:3]) for case in ANSWERS]
    assert len(cases) == len(set(cases)) > 100


@pytest.mark.parametrize("condition", ["300", "=> 300", ">= many", ">= 3 4"])
def test_a_condition_that_is_none_is_named(condition: str) -> None:
    with pytest.raises(TaskError, match="write one such as '>= 300'"):
        text.holds(1, condition, Rules(dialect="webarena_lite"))
