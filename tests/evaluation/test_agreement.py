"""Figures of agreement: against hand-computed values, and against what others have published."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from webdojo.evaluation.agreement import (
    Confusion,
    agreement,
    cohens_kappa,
    f1,
    mcnemar,
    paired_difference,
    success_by_agent,
)

LABELS = json.loads((Path(__file__).parent.parent / "data" / "judge_labels.json").read_text())
SOURCE = Path(__file__).parents[2] / ".." / "shared" / "data" / "judges"


def test_pairs_are_counted_and_invalid_verdicts_apart() -> None:
    pairs = [(True, True)] * 4 + [(False, True)] * 2 + [(True, False)] + [(False, False)] * 3
    counts = Confusion.of([*pairs, (True, None), (False, None), (False, None)])
    assert counts == Confusion(tp=4, fp=2, fn=1, tn=3, invalid=3)
    assert counts.n == 10


def test_every_share_is_as_by_hand_and_has_wilsons_interval() -> None:
    found = agreement(Confusion(tp=8, fp=2, fn=4, tn=6, invalid=5))
    assert found.n == 20
    assert (found.accuracy.rate, found.accuracy.n) == (0.7, 20)
    assert (found.precision.rate, found.precision.n) == (0.8, 10)
    assert found.recall.rate == pytest.approx(2 / 3) and found.recall.n == 12
    assert (found.tnr.rate, found.tnr.n) == (0.75, 8)
    assert found.f1.value == pytest.approx(2 * 0.8 * (2 / 3) / (0.8 + 2 / 3))
    # Wilson by the formula, k = 8 of n = 10: statsmodels' proportion_confint(8, 10, method="wilson").
    assert found.precision.ci95 == pytest.approx((0.49016, 0.94332), abs=1e-4)
    assert found.mcnemar_p == mcnemar(2, 4) == pytest.approx(2 * (1 + 6 + 15) / 64)


@pytest.mark.parametrize("counts", [Confusion(), Confusion(invalid=7)])
def test_no_verdict_at_all_says_nothing(counts: Confusion) -> None:
    found = agreement(counts)
    assert (found.n, found.kappa, found.mcnemar_p) == (0, None, 1.0)
    for share in (found.accuracy, found.precision, found.recall, found.tnr):
        assert (share.n, share.rate, share.ci95) == (0, 0.0, (0.0, 1.0))
    assert found.f1.ci95 == (0.0, 1.0)


def test_f1_has_the_interval_of_the_share_that_it_is_a_function_of() -> None:
    found = f1(Confusion(tp=5, fp=2, fn=3, tn=90))
    assert found.value == pytest.approx(10 / 15)
    low, high = 0.23659, 0.76341  # Wilson of 5 in 10
    assert found.ci95 == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)), abs=1e-4)


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        (Confusion(tp=20, fp=5, fn=10, tn=15), 0.4),  # observed 0.7, expected 0.5
        (Confusion(tp=45, fp=25, fn=15, tn=15), 0.1304),  # Smeeton's pair of examples: observed 0.6 in both
        (Confusion(tp=25, fp=5, fn=35, tn=35), 0.2593),
        (Confusion(tp=5, tn=5), 1.0),
        (Confusion(fp=5, fn=5), -1.0),
    ],
)
def test_kappa_of_textbook_tables(counts: Confusion, kappa: float) -> None:
    found = cohens_kappa(counts)
    assert found is not None
    assert found.value == pytest.approx(kappa, abs=1e-4)
    assert -1 <= found.ci95[0] <= found.value <= found.ci95[1] <= 1


def test_kappa_is_not_defined_where_all_is_of_one_class() -> None:
    assert cohens_kappa(Confusion(tp=9)) is None
    assert cohens_kappa(Confusion(tn=9, invalid=3)) is None


@pytest.mark.parametrize("cells", [(20, 5, 10, 15), (45, 25, 15, 15), (30, 3, 1, 66)])
def test_the_interval_of_kappa_is_that_of_resampled_tables(cells: tuple[int, int, int, int]) -> None:
    tp, fp, fn, tn = cells
    found = cohens_kappa(Confusion(tp=tp, fp=fp, fn=fn, tn=tn))
    assert found is not None
    n = sum(cells)
    drawn = np.random.default_rng(0).multinomial(n, np.array(cells) / n, 20_000) / n
    observed = drawn[:, 0] + drawn[:, 3]
    judged, true = drawn[:, 0] + drawn[:, 1], drawn[:, 0] + drawn[:, 2]
    expected = judged * true + (1 - judged) * (1 - true)
    spread = np.std((observed - expected) / (1 - expected))
    assert (found.ci95[1] - found.value) / 1.96 == pytest.approx(float(spread), rel=0.08)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (1, 9, 22 / 1024), (9, 1, 22 / 1024), (0, 6, 2 / 64), (0, 1, 1.0)],
)
def test_mcnemar_is_exact(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p)
    assert 0 < mcnemar(3000, 3100) < 1, "large counts are no trouble"


@pytest.mark.parametrize(
    ("counts", "difference", "interval"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), Table II, method 10: cells 36, 12, 2, 0 and 53, 0, 0, 1.
        (Confusion(tp=36, fp=12, fn=2, tn=0), 0.2, (0.0569, 0.3404)),
        (Confusion(tp=53, fp=0, fn=1, tn=0), -1 / 54, None),
        (Confusion(tp=4, tn=6), 0.0, None),
    ],
)
def test_the_paired_difference_has_newcombes_interval(
    counts: Confusion, difference: float, interval: tuple[float, float] | None
) -> None:
    found = paired_difference(counts)
    assert found.value == pytest.approx(difference)
    assert found.ci95[0] <= found.value <= found.ci95[1]
    if interval is not None:
        assert found.ci95 == pytest.approx(interval, abs=5e-4)


def test_a_judge_without_error_on_few_episodes_may_still_have_a_gap() -> None:
    few, many = paired_difference(Confusion(tp=4, tn=6)), paired_difference(Confusion(tp=400, tn=600))
    assert few.ci95[1] > many.ci95[1] > 0
    assert paired_difference(Confusion()).ci95 == (-1.0, 1.0)


# --- the published figures of AgentRewardBench and Online-Mind2Web ----------------------------------

BENCHMARKS = ("assistantbench", "visualwebarena", "webarena", "workarena", "workarena++")
PUBLISHED = {
    "gpt-4o": ((73.7, 71.2, 85.5), (66.7, 69.8, 72.6, 92.3, 75.0)),
    "webjudge-7b": ((75.7, 58.0, 83.8), (80.0, 66.7, 77.5, 100.0, 70.0)),
    "o4-mini": ((82.0, 47.8, 83.3), (100.0, 74.5, 81.2, 100.0, 90.0)),
}
"""Precision, recall and accuracy, and the precision by benchmark (Online-Mind2Web; OpenWebRL Table 9)."""
F1 = {"gpt-4o": 72.4, "webjudge-7b": 65.6}
"""OpenWebRL Table 9 has these two."""


def judged(judge: str, *benchmarks: str) -> Confusion:
    return Confusion.of(
        (human == "1", verdict == "1")
        for name in benchmarks
        for human, verdict in zip(LABELS["human"][name], LABELS["judges"][judge][name], strict=True)
    )


@pytest.mark.parametrize("judge", PUBLISHED)
def test_the_published_figures_of_the_webjudges_are_reproduced(judge: str) -> None:
    overall, by_benchmark = PUBLISHED[judge]
    found = agreement(judged(judge, *BENCHMARKS))
    assert found.n == 1106
    figures = (found.precision.rate, found.recall.rate, found.accuracy.rate)
    assert tuple(round(100 * each, 1) for each in figures) == overall
    assert round(100 * found.f1.value, 1) == F1.get(judge, round(100 * found.f1.value, 1))
    precisions = [agreement(judged(judge, name)).precision.rate for name in BENCHMARKS]
    assert tuple(round(100 * each, 1) for each in precisions) == by_benchmark


def test_human_success_on_online_mind2web_is_reproduced_by_agent() -> None:
    """The published rates count a task that could not be carried out among the 300."""
    labels = LABELS["online_mind2web"]
    rows = [{f"{agent}_human_label": labels[agent][k] for agent in labels} for k in range(300)]
    rows[0]["confirmed_task"] = "1"
    rates = {agent: round(100 * rate.rate, 1) for agent, rate in success_by_agent(rows).items()}
    assert rates == {
        "Operator": 61.3,
        "Claude_Computer_Use_3.7": 56.3,
        "SeeAct": 30.7,
        "Browser_Use": 30.0,
        "Claude_Computer_Use_3.5": 29.0,
        "Agent-E": 28.0,
    }


@pytest.mark.skipif(not SOURCE.is_dir(), reason="the published files are not in a clone")
def test_the_packed_labels_are_the_published_ones() -> None:
    names = {"gpt-4o": "gpt4o", "webjudge-7b": "7B", "o4-mini": "o4_mini"}
    for judge, name in names.items():
        pairs = json.loads((SOURCE / f"agent_reward_bench_webjudge_{name}.json").read_text())["pairs"]
        for benchmark, agents in pairs.items():
            found = {
                who: "".join(str(x) for agent in agents.values() for x in agent[who]) for who in ("human", "judge")
            }
            assert found == {"human": LABELS["human"][benchmark], "judge": LABELS["judges"][judge][benchmark]}
    rows = json.loads((SOURCE / "online_mind2web_human_label.json").read_text())
    packed = [{f"{a}_human_label": digits[k] for a, digits in LABELS["online_mind2web"].items()} for k in range(300)]
    assert success_by_agent(rows) == success_by_agent(packed)
