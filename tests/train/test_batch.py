import math
import random

import pytest
import torch

from tests.train.records import prompt, response, trajectory, turn
from webdojo.config import TrainConfig
from webdojo.errors import TrainError
from webdojo.train.batch import Sample, micro_batches, mini_batches, samples_from_groups, sft_samples
from webdojo.train.loss import clipped_policy_loss
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
    for group in groups:
        valid = [t.reward.value for t in group if t.reward is not None and t.reward.valid]
        mean = sum(valid) / len(valid)
        std = math.sqrt(sum((r - mean) ** 2 for r in valid) / len(valid))
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
                of_group += of_turn / (len(t.response.ids) if normalizer == "openwebrl" else k)
        total += of_group / len(group)
    return -total / len(groups)


@pytest.mark.parametrize("normalizer", ["openwebrl", "asyncwebrl"])
@pytest.mark.parametrize("ratio", [1.0, 1.4, 0.7])
def test_samples_sum_to_the_objective_of_the_paper(normalizer: str, ratio: float) -> None:
    groups = random_groups(3)
    config = TrainConfig.model_validate({"normalizer": normalizer, "normalizer_k": 10})
    samples = samples_from_groups(groups, config)
    old = torch.tensor([lp for s in samples for lp in s.old_logprobs])
    loss, _ = clipped_policy_loss(
        old + math.log(ratio),
        old,
        torch.tensor([s.advantage for s in samples for _ in s.response_ids]),
        torch.tensor([w for s in samples for w in s.weights]),
        clip_low=0.2,
        clip_high=0.28,
    )
    assert float(loss) == pytest.approx(naive_objective(groups, normalizer, 10, ratio), abs=1e-5)


def test_samples_keep_the_sampled_ids_and_versions_and_leave_invalid_members_out() -> None:
    groups = random_groups(5)
    samples = samples_from_groups(groups, TrainConfig())
    kept = [t for group in groups for member in group[:3] for t in member.turns]
    assert [s.response_ids for s in samples] == [t.response.ids for t in kept]
    assert [s.old_logprobs for s in samples] == [t.response.logprobs for t in kept]
    assert [s.versions for s in samples] == [t.response.versions for t in kept]
    assert max(abs(s.advantage) for s in samples) < 3, "the invalid member's reward of 1e6 leaked into the statistics"


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
    assert [w for s in sft_samples([demo]) for w in s.weights] == pytest.approx([1 / 4] * 4)


def test_mini_batches_cover_everything_once_in_even_seeded_batches() -> None:
    def draw(seed: int) -> list[list[int]]:
        return mini_batches(21, 8, torch.Generator().manual_seed(seed))

    assert sorted(i for batch in draw(1) for i in batch) == list(range(21))
    assert sorted(len(batch) for batch in draw(1)) == [7, 7, 7]
    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_micro_batches_stay_within_the_padded_budget() -> None:
    rng = random.Random(0)
    samples = [
        Sample(prompt([1] * rng.randint(1, 30)), [5] * n, [0.0] * n, 1.0, [1.0] * n, [0] * n)
        for n in (rng.randint(1, 20) for _ in range(40))
    ]
    batches = micro_batches(samples, 200)
    assert sorted(map(id, samples)) == sorted(id(s) for batch in batches for s in batch)
    assert all(len(batch) * max(map(len, batch)) <= 200 for batch in batches)
    assert len(batches) <= 1.5 * sum(map(len, samples)) / 200 + 1, "short samples were padded to long ones"
    assert [len(batch) for batch in micro_batches(samples, 1)] == [1] * 40
