"""The tables of `webdojo judge`, from the JSON objects that `loops.judging` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from webdojo.progress import duration
from webdojo.reward.registry import JUDGE
from webdojo.view.tables import new_table

SHARES = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1", "tnr": "TNR"}
"""Figures of an agreement, and their headings."""
CAUSES = 5
"""The most reasons of invalid verdicts that a table has; a report has all."""


def audit_tables(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The judge against the truth: the figures with their intervals, split in four ways, and the gap over training."""
    overall = report["overall"]
    yield from _figures(f"{report['judge']['name']} against the truth", overall)
    if report["invalid"]:
        rows = [(why, str(number)) for why, number in list(report["invalid"].items())[:CAUSES]]
        yield new_table("", ["why verdicts are invalid"], ["verdicts"], rows)
    for title, parts in report["by"].items():
        table = new_table(f"by {title}", [title], ["episodes", "invalid", *SHARES.values()])
        for key, each in parts.items():
            cells = [_percent(each, name) for name in SHARES]
            table.add_row(key.replace("_", " "), str(each["n"]), str(each["counts"]["invalid"]), *cells)
        yield table
    if report["gap"]:
        several = len(report["runs"]) > 1
        table = new_table(
            "reward-hacking gap: success by the judge less true success",
            ["run"] if several else [],
            ["iteration", "episodes", "invalid", "judged", "true", "gap", "95 % interval"],
        )
        for each in report["gap"]:
            low, high = each["gap"]["ci95"]
            row = [str(each["iteration"]), str(each["n"]), str(each["invalid"])]
            row += [f"{each['judged']:.1%}", f"{each['true']:.1%}", f"{each['gap']['value']:+.1%}"]
            table.add_row(*([each["run"]] if several else []), *row, f"{low:+.1%} .. {high:+.1%}")
        yield table


def replay_tables(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The number of an evaluation as it was, and by judging it again; then the episodes whose verdict has changed."""
    table = new_table(report["judge"]["name"], ["judged"], ["success", "95 % interval", "episodes", "valid"])
    for name, each in (("first", report["was"]), ("again", report["again"])):
        low, high = each["ci95"]
        row = (f"{each['rate']:.1%}", f"{low:.1%} .. {high:.1%}", str(each["n"]), str(each["valid_n"]))
        table.add_row(name, *row)
    yield table
    if not report["same_judge"]:
        yield "the judge, its options or its code are not those that judged first"
    if changed := report["changed"]:
        rows = [(each["task"], _verdict(each["was"]), _verdict(each["again"])) for each in changed]
        yield new_table("verdicts that changed", ["task", "first", "again"], [], rows)
    else:
        yield "every verdict is the same"


def _verdict(told: Mapping[str, Any]) -> str:
    return ("success" if told["success"] else "failure") if told["valid"] else f"invalid ({told['cause']})"


def stress_tables(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """False accepts by kind of corruption, and false rejects of the controls."""
    for title, heading, share, labels in (
        ("must not be accepted", "false accepts", "accepted", ("failure", "invalid")),
        ("controls, which must be accepted", "false rejects", "rejected", ("success",)),
    ):
        table = new_table(title, ["made by", "truth"], ["episodes", "invalid", heading, "95 % interval"])
        for kind, each in report["kinds"].items():
            if each["label"] in labels:
                wrong = [f"{each[share]['rate']:.1%}", _interval(each[share])] if each[share]["n"] else ["", ""]
                table.add_row(
                    kind.replace("_", " "), each["label"], str(each["episodes"]), str(each["invalid"]), *wrong
                )
        total = report["false_accepts" if share == "accepted" else "false_rejects"]
        if total["n"]:
            table.add_section()
            table.add_row("all", "", str(total["n"]), "", f"{total['rate']:.1%}", _interval(total))
        yield table


def comparison_tables(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """How many episodes each judge accepts, and how far each two of them agree: how many both accept or one alone, the
    share of equal verdicts, Cohen's κ, McNemar's p."""
    table = new_table("verdicts", ["judge"], ["episodes", "invalid", "accepted"])
    for name, each in report["rates"].items():
        accepted = f"{each['accepted'] / each['valid']:.1%}" if each["valid"] else ""
        table.add_row(name, str(each["episodes"]), str(each["episodes"] - each["valid"]), accepted)
    yield table
    table = new_table(
        "agreement, two judges at a time", ["judges"], ["both", "1st only", "2nd only", "agree", "κ", "p"]
    )
    for pair in report["pairs"]:
        counts, kappa = pair["counts"], pair["kappa"]
        cells = [str(counts[name]) for name in ("tp", "fn", "fp")]
        shown = "" if kappa is None else f"{kappa['value']:.2f} ({kappa['ci95'][0]:.2f} .. {kappa['ci95'][1]:.2f})"
        judges = f"{pair['first']}, {pair['second']}"
        table.add_row(judges, *cells, _percent(pair, "accuracy"), shown, f"{pair['mcnemar_p']:.2g}")
    yield table


def error_tables(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """How many failed episodes a model sorts into each category, with an example of each."""
    sorted_ = report["episodes"] - report["invalid"]
    table = new_table(f"why episodes failed, as {report['judge']['name']} says", ["category"], ["episodes", "share"])
    for category, number in report["categories"].items():
        table.add_row(category, str(number), f"{number / sorted_:.1%}" if sorted_ else "")
    yield table
    if report["invalid"]:
        yield f"{report['invalid']} of {report['episodes']} answers could not be read or did not come"
    rows = [(category, each["episode"], each["reason"]) for category, each in report["examples"].items()]
    if rows:
        yield new_table("an example of each", ["category", "episode", "what went wrong"], [], rows)


def distillation_tables(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """What the student is worth where the judge that it learnt from is believed, on sites that it has not seen."""
    examples, sft = report["examples"], report["sft"]
    yield (
        f"{examples['trajectories']} examples, {examples['successes']} of them successes, {sft['epoch']:.0f} times: "
        f"loss {sft['loss']:.4f} in {duration(sft['seconds'])}\n"
    )
    yield from _figures(f"the student against {report['judge']['name']}, on held-out sites", report["heldout"])
    yield f"as a reward: reward=distilled reward.path={report['path']}"
    yield f"as a judge of these commands: --judge {report['path']}/{JUDGE}"


def _figures(title: str, each: Mapping[str, Any]) -> Iterator[RenderableType]:
    counts = each["counts"]
    table = new_table(title, ["figure"], ["value", "95 % interval", "of"])
    for name, heading in SHARES.items():
        of = str(each[name]["n"]) if "n" in each[name] else ""
        table.add_row(heading, _percent(each, name), _interval(each[name]) if each["n"] else "", of)
    if each["kappa"] is not None:
        low, high = each["kappa"]["ci95"]
        table.add_row("Cohen's κ", f"{each['kappa']['value']:.2f}", f"{low:.2f} .. {high:.2f}", str(each["n"]))
    yield table
    yield (
        f"{counts['tp']} right accepts, {counts['fp']} false accepts, {counts['fn']} false rejects, "
        f"{counts['tn']} right rejects, {counts['invalid']} invalid\n"
    )


def _percent(each: Mapping[str, Any], name: str) -> str:
    """A share or F1; empty where it is of nothing."""
    figure = each[name]
    if not figure.get("n", each["n"]):
        return ""
    return f"{figure.get('rate', figure.get('value')):.1%}"


def _interval(figure: Mapping[str, Any]) -> str:
    return "{:.1%} .. {:.1%}".format(*figure["ci95"])
