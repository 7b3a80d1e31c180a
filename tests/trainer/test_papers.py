"""Each paper's recipe minimises that paper's objective with its numbers, here written out as loops over tokens."""

from __future__ import annotations

import dataclasses
import math
import random
from statistics import mean, stdev
from typing import NamedTuple

import pytest
import torch

from tests.trainer.records import prompt, response, trajectory, turn
from webdojo.policy.model.forward import TokenScores
from webdojo.recipe import load_recipe
from webdojo.trainer.batch import samples_from_groups, sft_samples
from webdojo.trainer.objective import objective
from webdojo.trainer.sft import imitation
from webdojo.types import Trajectory


class Token(NamedTuple):
    """Log-probabilities of one response token."""

    new: float
    prox: float
    behave: float
    reference: float


class Member(NamedTuple):
    """One trajectory: its reward, and its turns, each with whether the screen stayed the same."""

    reward: float
    turns: list[tuple[list[Token], bool]]


Groups = list[list[Member]]


def random_groups(seed: int) -> Groups:
    """Three groups of four with successes and failures."""
    rng = random.Random(seed)

    def token() -> Token:
        new = -2 * rng.random()
        prox = new + rng.gauss(0, 0.4)
        return Token(new, prox, prox + rng.gauss(0, 0.2), new + rng.gauss(0, 0.3))

    def member(reward: float) -> Member:
        turns = [([token() for _ in range(rng.randint(1, 7))], rng.random() < 0.3) for _ in range(rng.randint(1, 5))]
        return Member(reward, turns)

    return [[member(reward) for reward in (0.0, 1.0, rng.choice([0.0, 1.0]), -1.0)] for _ in range(3)]


def clipped(ratio: float, low: float, high: float) -> float:
    return min(max(ratio, 1 - low), 1 + high)


def openwebrl(groups: Groups) -> float:
    """MM-GRPO (OpenWebRL §4.4): mean over the tokens of a turn, sum over turns."""
    total = 0.0
    for group in groups:
        rewards = [member.reward for member in group]
        for member in group:
            A = (member.reward - mean(rewards)) / (stdev(rewards) + 1e-6)
            for tokens, _ in member.turns:
                inside = 0.0
                for token in tokens:
                    ratio = math.exp(token.new - token.behave)
                    inside += min(ratio * A, clipped(ratio, 0.2, 0.28) * A)
                total += inside / max(len(tokens), 1) / len(group)
    return -total / len(groups)


def webagent_r1(groups: Groups) -> float:
    """M-GRPO (WebAgent-R1 §2.3): also the mean over turns, a symmetric clip, and KL within the token sum."""
    total = 0.0
    for group in groups:
        rewards = [member.reward for member in group]
        for member in group:
            A = (member.reward - mean(rewards)) / (stdev(rewards) + 1e-6)
            for tokens, _ in member.turns:
                inside = 0.0
                for token in tokens:
                    ratio = math.exp(token.new - token.behave)
                    away = math.exp(token.reference - token.new) - 1 - (token.reference - token.new)
                    inside += min(ratio * A, clipped(ratio, 0.2, 0.2) * A) - 0.001 * away
                total += inside / len(tokens) / len(member.turns) / len(group)
    return -total / len(groups)


def asyncwebrl(groups: Groups) -> float:
    """AsyncWebRL, equation 1: the constant 1/k in place of both means, and the decoupled loss, with one ε."""
    total = 0.0
    for group in groups:
        rewards = [member.reward for member in group]
        for member in group:
            A = (member.reward - mean(rewards)) / (stdev(rewards) + 1e-6)
            for token in (token for tokens, _ in member.turns for token in tokens):
                ratio = math.exp(token.new - token.prox)
                loss = max(-A * ratio, -A * clipped(ratio, 0.2, 0.2))
                total += math.exp(token.prox - token.behave) * loss / (len(group) * 10)
    return total / len(groups)


def webgym(groups: Groups) -> float:
    """WebGym §5.1, equation 1: Σ log π of the turns of successes, but those after which the screen is the same."""
    total = 0.0
    for group in groups:
        for member in (member for member in group if member.reward == 1):
            for tokens, same_screen in member.turns:
                if not same_screen:
                    total += sum(token.new for token in tokens) / len(group)
    return -total / len(groups)


def openwebrl_bc(groups: Groups) -> float:
    """OpenWebRL C.3: supervised updates on successes."""
    turns = [(len(g), tokens) for g in groups for m in g if m.reward == 1 for tokens, _ in m.turns]
    return -sum(sum(t.new for t in tokens) / len(tokens) / size for size, tokens in turns) / len(groups)


def asyncwebrl_raft(groups: Groups) -> float:
    """RAFT++: the ratio to the policy that sampled, clipped, of successes alone."""
    total = 0.0
    for group in groups:
        for member in (member for member in group if member.reward == 1):
            for token in (token for tokens, _ in member.turns for token in tokens):
                ratio = math.exp(token.new - token.behave)
                total += min(ratio, clipped(ratio, 0.2, 0.2)) / (len(group) * 10)
    return -total / len(groups)


OBJECTIVES = {
    "openwebrl": openwebrl,
    "webagent_r1": webagent_r1,
    "asyncwebrl": asyncwebrl,
    "webgym": webgym,
    "openwebrl_bc": openwebrl_bc,
    "asyncwebrl_raft": asyncwebrl_raft,
}


def records(groups: Groups) -> list[list[Trajectory]]:
    """The same as our records."""
    out = []
    for group in groups:
        members = []
        for member in group:
            turns = [turn(prompt([1]), response([5] * len(t), [token.behave for token in t])) for t, _ in member.turns]
            for made, (_, same_screen) in zip(turns, member.turns, strict=True):
                made.same_screen = same_screen
            members.append(trajectory(turns, member.reward))
        out.append(members)
    return out


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("paper", OBJECTIVES)
def test_a_papers_recipe_minimises_its_objective(paper: str, seed: int) -> None:
    groups = random_groups(seed)
    config = load_recipe(paper).train
    by_behave = {
        tuple(token.behave for token in tokens): tokens
        for group in groups
        for member in group
        for tokens, _ in member.turns
    }
    samples, scored = [], list[Token]()
    for sample in samples_from_groups(records(groups), config):
        tokens = by_behave[tuple(sample.old_logprobs)]
        prox = [token.prox for token in tokens] if config.old_logprobs == "learner" else []
        reference = [token.reference for token in tokens]
        samples.append(dataclasses.replace(sample, prox_logprobs=prox, reference_logprobs=reference))
        scored += tokens
    new = torch.tensor([token.new for token in scored])
    loss, _ = objective(samples, TokenScores(new, torch.zeros_like(new)), config)
    assert float(loss) == pytest.approx(OBJECTIVES[paper](groups), rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_fine_tuning_minimises_the_objective_of_openwebvoyager(seed: int) -> None:
    """Equations 6 and 7: Σ log π of all that is imitated; here divided by its number of tokens."""
    members = [member for group in random_groups(seed) for member in group]
    tokens = [token for member in members for said, _ in member.turns for token in said]
    samples = sft_samples([each for group in records([members]) for each in group])
    loss, _ = imitation(samples, TokenScores(torch.tensor([token.new for token in tokens]), torch.zeros(len(tokens))))
    assert float(loss) == pytest.approx(-sum(token.new for token in tokens) / len(tokens), rel=1e-5)
