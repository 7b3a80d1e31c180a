"""Samplers: which chance each gives to tasks by what is known of them, and what a recipe may say of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from webdojo.errors import ConfigError
from webdojo.recipe import load_recipe
from webdojo.tasks.samplers.difficulty_guided import DifficultyGuided
from webdojo.tasks.samplers.difficulty_ratio import DifficultyRatio
from webdojo.tasks.samplers.learning_progress import LearningProgress
from webdojo.tasks.samplers.mixed_outcomes import MixedOutcomes
from webdojo.tasks.samplers.outcomes import OutcomeSampler
from webdojo.tasks.samplers.registry import SAMPLERS
from webdojo.tasks.samplers.sampler import Sampler, Stratum, relative
from webdojo.tasks.samplers.site_cap import SiteCap
from webdojo.tasks.samplers.success_window import SuccessWindow
from webdojo.tasks.samplers.uniform import Uniform
from webdojo.types import Task

PAGE = (Path(__file__).parent.parent.parent / "docs" / "sampling.md").read_text()
SOLVED, FAILED, MIXED = (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)


def task(number: int = 0, difficulty: int = 1, site: str = "a") -> Task:
    return Task(
        id=f"t{number}",
        instruction="Do it",
        start_url=f"http://{site}/",
        website=site,
        kind="shop",
        difficulty=difficulty,
        metadata={"goal": "open"},
    )


def chances(sampler: Sampler, *seen: Sequence[Sequence[float]]) -> list[float]:
    """The chances of keys with one task each, by the rewards of their groups."""
    return list(sampler.chances({n: Stratum([task(n)], list(groups)) for n, groups in enumerate(seen)}).values())


TABLES = [
    (Uniform(), [[SOLVED] * 9, [FAILED] * 9, []], [1, 1, 1]),
    # 40 % of the groups need a success; the prior counts as one group with and one without.
    (DifficultyGuided(), [[], [FAILED] * 2, [MIXED] * 9, [FAILED] * 3 + [SOLVED] * 2], [1 / 3, 1, 1 / 3, 1 / 3]),
    (DifficultyGuided(times=2, below=0.6), [[], [FAILED] * 2, [MIXED] * 9], [1, 1, 1 / 2]),
    (DifficultyGuided(prior=0, window=1), [[FAILED, SOLVED], [SOLVED, FAILED]], [1 / 3, 1]),
    # Rates 0.5, 1/22, 21/22, 0.5 and, with the two -1 as 0, 1/3.
    (SuccessWindow(), [[], [FAILED] * 10, [SOLVED] * 10, [MIXED] * 10, [(-1.0, -1.0, 0.0, 1.0)]], [1, 0.1, 0.1, 1, 1]),
    (SuccessWindow(window=1, prior=0, floor=0.3), [[MIXED, SOLVED], [SOLVED, MIXED], []], [0.3, 1, 1]),
    (SuccessWindow(prior=0), [[SOLVED], [FAILED]], [1, 1]),
    # Shares 1/2, 1/4, 3/4.
    (MixedOutcomes(), [[], [SOLVED, FAILED], [MIXED, MIXED]], [2 / 3, 1 / 3, 1]),
    (MixedOutcomes(window=1, prior=2), [[SOLVED, MIXED], [MIXED, SOLVED]], [1, 1 / 2]),
    # From 1/4 to 3/4; from 3/4 to 1/4; none; too few groups.
    (LearningProgress(window=2), [[FAILED, SOLVED], [SOLVED, FAILED], [MIXED, MIXED]], [1, 1, 0.1]),
    (LearningProgress(window=2), [[FAILED, SOLVED], [SOLVED]], [0.5, 1]),
    (LearningProgress(window=2, prior=0), [[FAILED, FAILED, SOLVED], [FAILED, SOLVED, SOLVED]], [1, 0.05]),
]


@pytest.mark.parametrize(("sampler", "seen", "expected"), TABLES)
def test_chances_follow_from_the_rewards_of_groups(
    sampler: Sampler, seen: list[list[Sequence[float]]], expected: list[float]
) -> None:
    assert chances(sampler, *seen) == pytest.approx(expected)


def test_difficulties_come_in_the_ratio_whatever_the_list_has() -> None:
    seen = {
        level: Stratum([task(n, level) for n in range(count)], []) for level, count in {1: 30, 2: 10, 5: 10}.items()
    }
    found = DifficultyRatio(ratio={1: 2, 2: 2}).chances(seen)
    assert found == {1: pytest.approx(1 / 3), 2: 1, 5: 0.5}
    drawn = {level: chance * len(seen[level].tasks) for level, chance in found.items()}
    assert drawn[1] == pytest.approx(drawn[2]) == 2 * drawn[5]


def test_a_site_with_more_tasks_than_the_cap_comes_as_often_as_one_that_has_so_many() -> None:
    seen = {
        site: Stratum([task(n, site=site) for n in range(count)], []) for site, count in {"a": 200, "b": 20}.items()
    }
    assert SiteCap(most=50).chances(seen) == {"a": 0.25, "b": 1}
    assert SiteCap(most=10).chances(seen) == {"a": pytest.approx(0.1), "b": 1}, "both as often"


@pytest.mark.parametrize("name", [*SAMPLERS])
def test_no_evidence_takes_a_task_out_for_good(name: str) -> None:
    sampler = SAMPLERS.get(name)()
    worst = chances(sampler, *([group] * 500 for group in (SOLVED, FAILED, (-1.0, -1.0))), [MIXED], [])
    assert 0.001 < min(worst) <= max(worst) == 1
    if "floor" in type(sampler).model_fields:
        assert min(worst) >= sampler.floor  # type: ignore[attr-defined]


def test_where_no_task_is_wanted_all_come_alike() -> None:
    assert relative({"a": 0.0, "b": 0.0}) == {"a": 1, "b": 1}
    assert relative({}) == {}


@pytest.mark.parametrize(
    ("by", "key"),
    [
        (["task"], ("t7",)),
        (["website"], ("a",)),
        (["kind", "difficulty"], ("shop", "3")),
        (["metadata.goal", "metadata.domain"], ("open", "")),
    ],
)
def test_tasks_pool_their_outcomes_by_what_they_have_in_common(by: list[str], key: tuple[str, ...]) -> None:
    assert MixedOutcomes(by=by).key(task(7, 3)) == key


def test_by_default_sites_are_guided_by_site_and_all_else_pools_by_kind_and_difficulty() -> None:
    pooled = {name: plug().by for name, plug in SAMPLERS.built_in.items() if issubclass(plug, OutcomeSampler)}
    assert pooled.pop("difficulty_guided") == ["website"]
    assert set(map(tuple, pooled.values())) == {("kind", "difficulty")}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("sucess_window", "unknown sampler 'sucess_window'; did you mean 'success_window'"),
        ("{name: uniform, floor: 0.2}", "unknown key 'tasks.sampler.floor'"),
        (
            "{name: success_window, flor: 0.2}",
            r"unknown key 'tasks.sampler.flor' .* did you mean 'tasks.sampler.floor'",
        ),
        ("{name: success_window, floor: 0}", r"tasks.sampler.floor = 0 .* greater than 0"),
        ("{name: mixed_outcomes, by: [kinds]}", r"tasks.sampler.by.0 = 'kinds' .* pattern"),
        ("{name: mixed_outcomes, by: []}", r"tasks.sampler.by = \[\] .* at least 1"),
        ("{name: difficulty_ratio, ratio: {1: 0}}", r"tasks.sampler.ratio.1 = 0 .* greater than 0"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_said_in_one_line(given: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_recipe("quickstart", [f"tasks.sampler={given}"])


def test_the_page_names_every_sampler_and_its_own_one_works(tmp_path: Path) -> None:
    assert [name for name in SAMPLERS.built_in if f"| `{name}` |" not in PAGE] == []
    (block,) = [each for each in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class Hard" in each]
    (tmp_path / "hard.py").write_text(block)
    sampler = load_recipe("quickstart", [f"tasks.sampler={tmp_path}/hard.py:Hard"]).tasks.sampler
    strata = {sampler.key(each): Stratum([each], []) for each in (task(0, 1), task(1, 4))}
    assert sampler.chances(strata) == {1: 0.25, 4: 1}
    (command,) = re.findall(r'webdojo train quickstart "(tasks\.sampler=.*)"', PAGE)
    by_goal = SuccessWindow(by=["kind", "difficulty", "metadata.goal"])
    assert load_recipe("quickstart", [command]).tasks.sampler == by_goal
