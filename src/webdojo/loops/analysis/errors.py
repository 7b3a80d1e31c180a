"""Why failed episodes failed, in the four categories of OpenWebRL, appendix E, by rules.

The first rule that holds decides, so each failed episode counts once. The paper's authors read their failures; rules
see only what the record holds, so the last category of a task is the agent's reasoning, where nothing else is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from webdojo.errors import Failure
from webdojo.loops.analysis.lexical import BLOCKER, families, reasoning
from webdojo.loops.analysis.table import (
    EPISODES,
    PHASE,
    Answer,
    Measured,
    Plot,
    Question,
    Setting,
    grouped,
    shares,
    texts,
)
from webdojo.loops.failures import short_names
from webdojo.reward.judges.error_category import ACCESS, GROUNDING, JUDGE, REASONING
from webdojo.types import Observation, Termination, Trajectory

FEWEST, SHARE = 2, 0.5
"""An episode fails by grounding where at least so many of its actions, and at least this share, did nothing."""
_UNJUDGED = {Failure.REWARD_FAILED, Failure.PAGE_UNREACHABLE, "unreadable"}
"""Causes of an invalid verdict that lie with the judge."""
_UNREADABLE = {Termination.FORMAT_ERROR, Termination.GENERATION_LENGTH, Termination.CONTEXT_LENGTH}


class Rule(NamedTuple):
    category: str
    name: str
    holds: Callable[[Trajectory, Setting], bool]


def _last(trajectory: Trajectory) -> Observation | None:
    return trajectory.final or (trajectory.turns[-1].observation if trajectory.turns else None)


def _unjudged(trajectory: Trajectory, setting: Setting) -> bool:
    reward = trajectory.reward
    return reward is not None and not reward.valid and reward.cause in _UNJUDGED


def _blocked(trajectory: Trajectory, setting: Setting) -> bool:
    last, reward = _last(trajectory), trajectory.reward
    judged = reward is not None and reward.cause == Failure.BLOCKED
    return judged or (last is not None and bool(last.blocked or last.dead))


def _failed_outside(trajectory: Trajectory, setting: Setting) -> bool:
    return trajectory.termination.is_infra or (trajectory.reward is not None and not trajectory.reward.valid)


def _names_a_blocker(trajectory: Trajectory, setting: Setting) -> bool:
    said = [trajectory.answer or "", *map(reasoning, trajectory.turns[-1:])]
    return any(BLOCKER in families(text) for text in said)


def _all_facts_hold(trajectory: Trajectory, setting: Setting) -> bool:
    reward = trajectory.reward
    done = trajectory.termination is Termination.COMPLETED
    return done and reward is not None and bool(reward.facts) and all(reward.facts)


def _another_judge_accepts(trajectory: Trajectory, setting: Setting) -> bool:
    return any(verdicts.get(trajectory.id) for verdicts in setting.verdicts.values())


def _actions_do_nothing(trajectory: Trajectory, setting: Setting) -> bool:
    acts = [turn for turn in trajectory.turns if any(call.name not in ("done", "wait") for call in turn.parsed.calls)]
    idle = sum(turn.same_screen or not all(said.ok for said in turn.feedback) for turn in acts)
    return idle >= FEWEST and idle >= SHARE * len(acts)


def _unreadable(trajectory: Trajectory, setting: Setting) -> bool:
    return trajectory.termination in _UNREADABLE


def _out_of_steps(trajectory: Trajectory, setting: Setting) -> bool:
    return trajectory.termination is Termination.MAX_STEPS


def _some_facts_hold(trajectory: Trajectory, setting: Setting) -> bool:
    return trajectory.reward is not None and any(trajectory.reward.facts)


def _no_answer(trajectory: Trajectory, setting: Setting) -> bool:
    return not (trajectory.answer or "").strip()


RULES = (
    Rule(JUDGE, "no verdict", _unjudged),
    Rule(ACCESS, "blocked or dead page", _blocked),
    Rule(ACCESS, "the web or the system failed", _failed_outside),
    Rule(JUDGE, "every fact holds", _all_facts_hold),
    Rule(JUDGE, "another judge accepts", _another_judge_accepts),
    Rule(ACCESS, "ends naming a blocker", _names_a_blocker),
    Rule(REASONING, "response cannot be read", _unreadable),
    Rule(GROUNDING, "actions do nothing", _actions_do_nothing),
    Rule(REASONING, "out of steps", _out_of_steps),
    Rule(REASONING, "some facts hold, not all", _some_facts_hold),
    Rule(REASONING, "no answer", _no_answer),
    Rule(REASONING, "wrong end", lambda trajectory, setting: True),
)
"""In their order; the last one always holds."""


def measure(trajectory: Trajectory, setting: Setting) -> tuple[str, str] | None:
    """Category and rule of a failed episode; None of another one."""
    if trajectory.reward is None or trajectory.reward.success:
        return None
    rule = next(rule for rule in RULES if rule.holds(trajectory, setting))
    return rule.category, rule.name


def summarize(measured: Sequence[Measured[tuple[str, str] | None]]) -> Answer:
    rows = []
    failed = [each for each in measured if each.fact is not None]
    names = short_names([each.row.id for each in measured])
    for phase, group in grouped(failed, lambda row: row.phase).items():
        for rule in RULES:
            of_rule = [each for each in group if each.fact == (rule.category, rule.name)]
            if of_rule:
                share = len(of_rule) / len(group)
                rows.append((phase, rule.category, rule.name, len(of_rule), share, names[of_rule[-1].row.id]))
    return Answer(rows) if rows else Answer(missing="no scored episode failed")


QUESTION = Question(
    name="errors",
    title="Failed episodes by what went wrong",
    paper="OpenWebRL E, Figure 9",
    columns=(PHASE, *texts("category", "rule"), EPISODES, *shares("share"), *texts("example")),
    plots=(Plot("share", "Share of failed episodes", "rule", ("share",), ("category",), "phase", bars=True),),
    measure=measure,
    summarize=summarize,
)
