import math
import random
from collections.abc import Iterable

import pytest
import torch

from tests.trainer.records import prompt, response, trajectory, turn
from webdojo.errors import TrainError
from webdojo.policy.model.forward import TokenScores
from webdojo.trainer.advantages import NORMALIZERS
from webdojo.trainer.batch import Sample, mini_batches, samples_from_groups, sft_samples
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.objective import objective
from webdojo.types import Response, Trajectory


def random_groups(seed: int) -> list[list[Trajectory]]:
    """Three groups of four; each with a reward spread and one invalid member of huge reward."""
    rng = random.Random(seed)
    groups = []
    for g in range(3):
        members = []
        for i in range(4):
            turns = []
            for _ in range(rng.randint(1, 5)):
                ids = [rng.randrange(100) for _ in range(rng.randint(1, 9))]
                turns.append(turn(prompt([1, 2]), response(ids, [-2 * rng.random() for _ in ids], version=g)))
            members.append(trajectory(turns, [0.0, 1.0, rng.random(), 1e6][i], valid=i != 3, id=f"{g}-{i}"))
        groups.append(members)
    return groups


def naive_objective(groups: list[list[Trajectory]], normalizer: str, k: float, ratio: float) -> float:
    """The papers' formulas as loops, with every token at the same ratio."""
    total = 0.0
    tokens = sum(len(t.response.ids) for group in groups for member in group[:3] for t in member.turns)
    for group in groups:
        valid = [t.reward.value for t in group if t.reward is not None and t.reward.valid]
        mean = sum(valid) / len(valid)
        std = math.sqrt(sum((r - mean) ** 2 for r in valid) / (len(valid) - 1))
        of_group = 0.0
        for member in group:
            assert member.reward is not None
            if not member.reward.valid:
                continue
            advantage = (member.reward.value - mean) / (std + 1e-6)
            for t in member.turns:
                of_turn = 0.0
                for _ in t.response.ids:
                    of_turn += min(ratio * advantage, min(max(ratio, 0.8), 1.28) * advantage)
                count = len(t.response.ids)
                of_group += (
                    of_turn
                    / {
                        "openwebrl": count,
                        "webagent_r1": count * len(member.turns),
                        "asyncwebrl": k,
                        "dapo": tokens / (len(group) * len(groups)),
                    }[normalizer]
                )
        total += of_group / len(group)
    return -total / len(groups)


@pytest.mark.parametrize("normalizer", ["openwebrl", "webagent_r1", "asyncwebrl", "dapo"])
@pytest.mark.parametrize("ratio", [1.0, 1.4, 0.7])
def test_samples_sum_to_the_objective_of_the_paper(normalizer: str, ratio: float) -> None:
    groups = random_groups(3)
    config = TrainConfig.model_validate({"normalizer": normalizer, "normalizer_k": 10})
    samples = samples_from_groups(groups, config)
    old = torch.tensor([lp for s in samples for lp in s.old_logprobs])
    loss, _ = objective(samples, TokenScores(old + math.log(ratio), torch.zeros_like(old)), config)
    assert float(loss) == pytest.approx(naive_objective(groups, normalizer, 10, ratio), abs=1e-5)


def test_samples_keep_the_sampled_ids_and_versions_and_leave_invalid_members_out() -> None:
    groups = random_groups(5)
    samples = samples_from_groups(groups, TrainConfig())
    kept = [t for group in groups for member in group[:3] for t in member.turns]
    assert [s.response_ids for s in samples] == [t.response.ids for t in kept]
    assert [s.old_logprobs for s in samples] == [t.response.logprobs for t in kept]
    assert [s.versions for s in samples] == [t.response.versions for t in kept]
    assert max(abs(s.advantage) for s in samples) < 3, "the invalid member's reward of 1e6 leaked into the statistics"


@pytest.mark.parametrize("normalizer", NORMALIZERS.built_in)
def test_an_empty_response_becomes_no_sample(normalizer: str) -> None:
    group = [trajectory([turn(prompt([1]), response([])), turn(prompt([1]), response([5]))], r) for r in (0.0, 1.0)]
    samples = samples_from_groups([group], TrainConfig(normalizer=normalizer))
    assert [s.response_ids for s in samples] == [[5], [5]]


def test_a_group_without_spread_pushes_nothing() -> None:
    group = [trajectory([turn(prompt([1]), response([5, 6]))], 1.0) for _ in range(3)]
    assert all(s.advantage == 0 for s in samples_from_groups([group], TrainConfig()))


def test_a_trajectory_without_reward_is_named() -> None:
    with pytest.raises(TrainError, match="'t-9' has no reward"):
        samples_from_groups([[trajectory([], None, id="t-9")]], TrainConfig())


def test_a_response_without_a_logprob_for_each_id_is_an_error() -> None:
    broken = Response(ids=[1, 2], logprobs=[-1.0], versions=[0, 0], finish_reason="stop")  # type: ignore[arg-type]
    with pytest.raises(TrainError, match="2 ids, 1 logprobs"):
        sft_samples([trajectory([turn(prompt([1]), broken)], 1.0)])


def test_sft_weights_are_equal_and_sum_to_one() -> None:
    demo = trajectory([turn(prompt([1]), response([5])), turn(prompt([1, 2]), response([6, 7, 8]))], 1.0)
    assert [w for s in sft_samples([demo]) for w in s.token_weights] == pytest.approx([1 / 4] * 4)


def of_units(units: Iterable[int]) -> list[Sample]:
    """Samples of these units, whose ids are their numbers."""
    return [Sample(prompt([]), [i], [0.0], 0.0, [1.0], [0], unit=unit) for i, unit in enumerate(units)]


def numbers(batch: list[Sample]) -> list[int]:
    return [sample.response_ids[0] for sample in batch]


def test_mini_batches_cover_everything_once_in_even_seeded_batches() -> None:
    def draw(seed: int) -> list[list[int]]:
        return [numbers(each) for each in mini_batches(of_units(range(21)), 8, torch.Generator().manual_seed(seed))]

    assert sorted(i for batch in draw(1) for i in batch) == list(range(21))
    assert sorted(len(batch) for batch in draw(1)) == [7, 7, 7]
    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_mini_batches_never_cut_a_unit() -> None:
    rng = random.Random(0)
    units = [unit for unit in range(30) for _ in range(rng.randint(1, 9))]
    batches = mini_batches(of_units(units), 40, torch.Generator().manual_seed(0))
    assert sorted(i for batch in batches for i in numbers(batch)) == list(range(len(units)))
    homes = [{sample.unit for sample in batch} for batch in batches]
    assert sum(map(len, homes)) == 30
    assert len(batches) == -(-len(units) // 40)
    assert max(map(len, batches)) - min(map(len, batches)) <= 2 * 9


@pytest.mark.parametrize("advantage", ["grpo", "reinforce", "rloo"])
@pytest.mark.parametrize("loss", ["raft", "bc"])
def test_who_learns_from_positives_imitates_no_failure(loss: str, advantage: str) -> None:
    config = TrainConfig(policy_loss=loss, advantage=advantage)
    rewards = (-1.0, 0.0, 0.0, 0.0, 0.0)
    failed = [trajectory([turn(prompt([1]), response([5]))] * 4, reward) for reward in rewards]
    assert samples_from_groups([failed], config) == [], "failed turns are imitated"
    mixed = [*failed, trajectory([turn(prompt([1]), response([6]))], 0.5)]
    mixed.append(trajectory([turn(prompt([1]), response([7]))], 1.0, valid=False))
    assert [(s.response_ids, s.advantage) for s in samples_from_groups([mixed], config)] == [([6], 1.0)]


@pytest.mark.parametrize(
    ("options", "taught"),
    [
        ({"policy_loss": "bc"}, [1.0]),
        ({"policy_loss": "raft"}, [1.0]),
        ({"advantage": "reinforce"}, [-1.0, 1.0]),
        ({"advantage": "reinforce", "kl_coef": 0.1}, [-1.0, 0.0, 1.0]),
        ({"policy_loss": "bc", "kl_coef": 0.1}, [0.0, 0.0, 1.0]),
        ({"policy_loss": "bc", "entropy_coef": 0.1}, [0.0, 0.0, 1.0]),
    ],
)
def test_a_turn_that_teaches_nothing_becomes_no_sample(options: dict[str, object], taught: list[float]) -> None:
    group = [trajectory([turn(prompt([1]), response([5]))], reward) for reward in (-1.0, 0.0, 1.0)]
    assert [s.advantage for s in samples_from_groups([group], TrainConfig.model_validate(options))] == taught


def test_a_turn_that_changed_nothing_is_not_praised() -> None:
    good, bad = (
        trajectory([turn(prompt([1]), response([5])), turn(prompt([1]), response([6]))], value) for value in (1.0, 0.0)
    )
    for member in (good, bad):
        member.turns[0].same_screen = True
    config = TrainConfig(repetition_penalty=True)
    assert [(s.response_ids, s.advantage > 0) for s in samples_from_groups([[good, bad]], config)] == [
        ([6], True),
        ([5], False),
        ([6], False),
    ]
    assert len(samples_from_groups([[good, bad]], TrainConfig())) == 4
