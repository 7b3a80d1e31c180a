"""WebGym's decomposition (arXiv 2601.02439, §3.2, Algorithm 1), with the paper's own examples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import pytest

from webdojo.tasks.decompose import GROUPS, PARENT, Wording, part_task, parts
from webdojo.tasks.rubric import RUBRIC, Rubric, rubric_of, with_rubric
from webdojo.types import Task


def rubric(*sizes: int) -> Rubric:
    """Groups 1, 2, … with so many facts."""
    groups = [
        {"id": number, "description": f"group {number}", "facts": [f"fact {number}.{n}" for n in range(1, size + 1)]}
        for number, size in enumerate(sizes, 1)
    ]
    return Rubric.model_validate({"groups": groups})


def ids(found: Sequence[Rubric]) -> list[list[int]]:
    return [[group.id for group in part.groups] for part in found]


EXAMPLES = {
    "the concert of §3.2: 2, 3 and 4 facts": ((2, 3, 4), [[2], [3], [1, 2], [1, 3], [2, 3]], [3, 4, 5, 6, 7]),
    "the cart of §3.2: 3 facts and 1": ((3, 1), [[1]], [3]),
    "one group, however large": ((9,), [], []),
    "no large group": ((2, 2, 2), [], []),
    "2 facts are not large": ((2, 1), [], []),
    "3 facts are": ((1, 3), [[2]], [3]),
    "two large ones": ((3, 3), [[1], [2]], [3, 3]),
    "one large of four": (
        (1, 3, 1, 1),
        [[2], [1, 2], [2, 3], [2, 4], [1, 2, 3], [1, 2, 4], [2, 3, 4]],
        [3, 4, 4, 4, 5, 5, 5],
    ),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(example: str) -> None:
    sizes, expected, difficulties = EXAMPLES[example]
    found = parts(rubric(*sizes))
    assert ids(found) == expected
    assert [part.difficulty for part in found] == difficulties


@pytest.mark.parametrize("sizes", [each for n in range(1, 5) for each in product((1, 2, 3, 4), repeat=n)])
def test_parts_are_all_proper_subsets_with_a_large_group(sizes: tuple[int, ...]) -> None:
    whole = rubric(*sizes)
    numbers = range(1, len(sizes) + 1)
    subsets = {frozenset(each) for n in range(1, len(sizes)) for each in combinations(numbers, n)}
    expected = {subset for subset in subsets if any(sizes[number - 1] >= 3 for number in subset)}
    found = [frozenset(each) for each in ids(parts(whole))]
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert all(part.difficulty < whole.difficulty for part in parts(whole))


def test_a_part_decomposes_into_parts_of_the_whole() -> None:
    whole = rubric(2, 3, 4, 1)
    known = {tuple(each) for each in ids(parts(whole))}
    again = {tuple(each) for part in parts(whole) for each in ids(parts(part))}
    assert again
    assert again <= known


WHOLE = with_rubric(
    Task(
        id="webgym:7",
        instruction="Find a concert with its pianist and details.",
        start_url="https://music.example/",
        website="music.example",
        storage_state="me.json",
        evaluator={"definite_answer": "12 May"},
        metadata={"domain": "Entertainment", "subdomain": "Music", "level": "hard", "past_dated": ["2024-05-12"]},
    ),
    rubric(2, 3, 4),
)


def test_a_part_is_a_task_of_its_own() -> None:
    part = parts(rubric(2, 3, 4))[3]
    task = part_task(WHOLE, part, "Find a concert with its details.")
    assert task.difficulty == 6
    assert rubric_of(task) == Rubric(
        groups=[each.model_copy(update={"id": n}) for n, each in enumerate(part.groups, 1)]
    )
    assert [group["id"] for group in task.evaluator[RUBRIC]] == [1, 3]
    assert list(task.evaluator) == [RUBRIC], "the answer of the whole is not that of a part"
    assert task.metadata == {"domain": "Entertainment", "subdomain": "Music", PARENT: "webgym:7", GROUPS: [1, 3]}
    assert (task.start_url, task.website, task.storage_state) == (WHOLE.start_url, WHOLE.website, "me.json")


def test_the_id_of_a_part_says_which_one_and_changes_with_it() -> None:
    first, second = parts(rubric(3, 3))
    one, two, other = part_task(WHOLE, first, "A."), part_task(WHOLE, second, "A."), part_task(WHOLE, first, "B.")
    assert one.id.startswith("webgym:7/1-")
    assert two.id.startswith("webgym:7/2-")
    assert len({one.id, two.id, other.id}) == 3
    assert part_task(WHOLE, first, "A.").id == one.id


PART = rubric(2, 3)


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        (["Find", "two", "of", "the  LISTS", "today"], True),
        (["Find", "two", "of", "the lists"], False),
        (["Find", "two", "of", "the lists", "today", "today"], False),
        (["Find", "two", "of", "the lists", "tomorrow"], False),
    ],
)
def test_a_text_must_have_words_for_every_fact(words: list[str], asks: bool) -> None:
    assert Wording(task="Find two of the lists today.", words=words).asks_for(PART) is asks
