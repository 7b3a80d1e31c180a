"""What an episode teaches: its advantage, and the weight of each of its response tokens.

An advantage is one number per trajectory, against the group (GRPO and its kin), the whole update (REINFORCE++) or
nothing (REINFORCE). Invariant: invalid members (infrastructure failures) move no statistics and get no advantage of
their own; theirs is exactly 0.

A token's weight carries the normalizer of the algorithm and the mean over groups; what may not train becomes no
sample at all. Invariant: summed over every sample of an update, weight times token loss is the
algorithm's whole objective; nothing is divided again later.

A new one is a line in its registry, or a file of your own that the recipe names. Nothing here imports torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from webdojo.errors import ConfigError, TrainError
from webdojo.plugins import Registry, instance_of
from webdojo.types import Reward

STD_EPS = 1e-6
"""Added to standard deviations, so that equal rewards have advantage 0."""

Groups = Sequence[Sequence[Reward]]


@dataclass(frozen=True)
class Advantage:
    """An advantage, as `train.advantage` of a recipe names it."""

    function: Callable[[Groups], list[list[float]]]
    """Takes all groups of an update, since some normalise over all of them, and gives one number per member."""
    formula: str
    """A_i as `webdojo explain` prints it."""
    group_relative: bool = False
    """It compares the members of a group, so that a group of one has advantage 0."""


def by_group(groups: Groups, of_valid: Callable[[list[float]], Sequence[float]], least: int) -> list[list[float]]:
    """Advantages of the valid members by `of_valid`; 0 for the others, and for groups with fewer than `least`."""
    out: list[list[float]] = []
    for group in groups:
        values = valid_rewards([group])
        advantages = iter(of_valid(values) if len(values) >= least else [0.0] * len(values))
        out.append([next(advantages) if reward.valid else 0.0 for reward in group])
    return out


def valid_rewards(groups: Groups) -> list[float]:
    """Rewards of all valid members; a TrainError where one of them is not finite."""
    values = [reward.value for group in groups for reward in group if reward.valid]
    for value in values:
        if not math.isfinite(value):
            raise TrainError(f"reward {value} of a valid trajectory is not finite; mark it invalid instead")
    return values


def centred(values: Sequence[float], by: Sequence[float]) -> list[float]:
    """Values minus the mean of `by`."""
    centre = fmean(by)
    return [value - centre for value in values]


def scaled(values: Sequence[float], by: Sequence[float]) -> list[float]:
    """Values divided by the sample deviation of `by`, which divides by n - 1, and is 0 for fewer than two values."""
    squares = math.fsum(difference**2 for difference in centred(by, by)) if len(by) > 1 else 0.0
    scale = math.sqrt(squares / max(len(by) - 1, 1)) + STD_EPS
    return [value / scale for value in values]


def dr_grpo(groups: Groups) -> list[list[float]]:
    """A_i = R_i - mean over the valid members of the group (Dr. GRPO: no division by the deviation)."""
    return by_group(groups, lambda R: centred(R, R), least=2)


def reinforce_plus_plus_baseline(groups: Groups) -> list[list[float]]:
    """As `dr_grpo`, divided by the deviation of those over the whole update (REINFORCE++-baseline)."""
    differences = dr_grpo(groups)
    kept = [
        a for row, group in zip(differences, groups, strict=True) for a, r in zip(row, group, strict=True) if r.valid
    ]
    return [scaled(row, kept) for row in differences]


def against_update(groups: Groups, of_valid: Callable[[list[float], list[float]], list[float]]) -> list[list[float]]:
    """As `by_group`, of the rewards of a group and those of the whole update."""
    everyone = valid_rewards(groups)
    return by_group(groups, lambda R: of_valid(R, everyone), least=1)


ADVANTAGES: Registry[Advantage] = Registry(
    "webdojo.advantages",
    "advantage",
    *instance_of(Advantage),
    {
        # OpenWebRL §4.4; GRPO. The deviation divides by n - 1, as in TRL, verl and slime.
        "grpo": Advantage(
            lambda groups: by_group(groups, lambda R: scaled(centred(R, R), R), least=2),
            "(R_i - mean_group) / (std_group + 1e-6), std with n - 1",
            group_relative=True,
        ),
        "dr_grpo": Advantage(dr_grpo, "R_i - mean_group", group_relative=True),
        # The reward minus the mean of the other valid members.
        "rloo": Advantage(
            lambda groups: by_group(groups, lambda R: [len(R) / (len(R) - 1) * a for a in centred(R, R)], least=2),
            "n/(n-1) · (R_i - mean_group), n valid members",
            group_relative=True,
        ),
        # No baseline.
        "reinforce": Advantage(lambda groups: by_group(groups, lambda R: R, least=1), "R_i"),
        "reinforce_baseline": Advantage(lambda groups: against_update(groups, centred), "R_i - mean_update"),
        # Global whitening.
        "reinforce_plus_plus": Advantage(
            lambda groups: against_update(groups, lambda R, everyone: scaled(centred(R, everyone), everyone)),
            "(R_i - mean_update) / (std_update + 1e-6), std with n - 1",
        ),
        "reinforce_plus_plus_baseline": Advantage(
            reinforce_plus_plus_baseline,
            "(R_i - mean_group) / (std_update of these + 1e-6), std with n - 1",
            group_relative=True,
        ),
    },
)
"""What `train.advantage` of a recipe may be."""


def advantages(name: str, groups: Groups) -> list[list[float]]:
    """The advantages of all members by the one of that name.

    Raises:
        ConfigError: somebody's own raises, or gives other than one finite number for each member.
    """
    with ADVANTAGES.running(name):
        found = [[float(a) for a in row] for row in ADVANTAGES.get(name).function(groups)]
    wanted = [len(group) for group in groups]
    if [len(row) for row in found] != wanted or not all(math.isfinite(a) for row in found for a in row):
        raise ConfigError(
            f"advantage {name!r} gave {found} for groups of {wanted} members, and must give a list for each group with "
            "one finite number for each member"
        )
    return found


def token_weight(name: str, turn: TurnShape, k: float) -> float:
    """The weight of each token of a turn by the normalizer of that name, with `train.normalizer_k`.

    Raises:
        ConfigError: somebody's own raises, or gives other than a finite number.
    """
    with NORMALIZERS.running(name):
        found = float(NORMALIZERS.get(name).function(turn, k))
    if not math.isfinite(found):
        raise ConfigError(f"normalizer {name!r} gave {found} for {turn}, and must give a finite number")
    return found


@dataclass(frozen=True)
class TurnShape:
    """The counts that a normalizer may divide by, for turn t of trajectory i."""

    groups: int
    """Groups in the update."""
    group_size: int
    """Trajectories of the group (G), invalid ones included: they lower the group's weight."""
    turns: int
    """Turns of the trajectory (T_i)."""
    tokens: int
    """Response tokens of the turn (|y_it|), at least 1."""
    all_tokens: int
    """Response tokens of all valid trajectories of the update."""


@dataclass(frozen=True)
class Normalizer:
    """A normalizer, as `train.normalizer` of a recipe names it."""

    function: Callable[[TurnShape, float], float]
    """Takes a turn and `train.normalizer_k`, and gives the weight of each of the turn's tokens."""
    formula: str
    """The weight as `webdojo explain` prints it, with `{episodes}` for the trajectories of an update and `{k}`."""
    by_longest: bool = False
    """Its k, where the recipe has none, is the longest response that may be sampled."""


_CONSTANT = Normalizer(lambda turn, k: 1 / (turn.groups * turn.group_size * k), "1 / ({episodes} · {k:g})")
_BY_LONGEST = replace(_CONSTANT, by_longest=True)

NORMALIZERS: Registry[Normalizer] = Registry(
    "webdojo.normalizers",
    "normalizer",
    *instance_of(Normalizer),
    {
        # Mean over the tokens of a turn, sum over turns, mean over G and over groups; no 1/T (OpenWebRL §4.4).
        "openwebrl": Normalizer(
            lambda turn, k: 1 / (turn.groups * turn.group_size * turn.tokens), "1 / ({episodes} · |y_it|)"
        ),
        # Mean over the tokens of a turn and over the turns of a trajectory (M-GRPO; WebAgent-R1 §2.3).
        "webagent_r1": Normalizer(
            lambda turn, k: 1 / (turn.groups * turn.group_size * turn.tokens) / turn.turns,
            "1 / ({episodes} · T_i · |y_it|)",
        ),
        # Sum over turns and tokens, divided by a constant (AsyncWebRL, equation 1).
        "asyncwebrl": _CONSTANT,
        # What that one takes the place of: the same sum, divided by the trajectory's turns (AsyncWebRL, step 3).
        "length_norm": Normalizer(
            lambda turn, k: 1 / (turn.groups * turn.group_size * turn.turns), "1 / ({episodes} · T_i)"
        ),
        # Sum over turns and tokens, mean over trajectories (WebGym, equation 1).
        "webgym": Normalizer(lambda turn, k: 1 / (turn.groups * turn.group_size), "1 / {episodes}"),
        # Sum over turns and tokens, divided by the longest response that may be sampled (Dr. GRPO).
        "dr_grpo": _BY_LONGEST,
        # Mean over all response tokens of the update (DAPO, token-level loss).
        "dapo": Normalizer(lambda turn, k: 1 / turn.all_tokens, "1 / Σ |y| over valid trajectories"),
    },
)
"""What `train.normalizer` of a recipe may be."""
