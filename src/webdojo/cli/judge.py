"""`webdojo judge RUN`, `judge audit`, `stress`, `errors`, `replay`: verdicts on stored episodes, which change no run.

`judge distill` makes a judge of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from typer.core import TyperGroup

from webdojo.cli.app import AsJson, Overrides, RunFolder, app, interruptible
from webdojo.cli.keys import RecipeCommand, recipe_for

Report = dict[str, Any]
Begin = Callable[[int], Callable[[], None]]


class RunOrCommand(TyperGroup):
    """A group whose first argument may be a run folder: then the command is `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = {name for name, command in self.commands.items() if not command.hidden}
        if args and args[0] not in named | {"--help"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


judge_app = typer.Typer(
    cls=RunOrCommand,
    help="Judge stored episodes: `webdojo judge RUN --judge NAME`, or one of the commands below.",
    no_args_is_help=True,
)
app.add_typer(judge_app, name="judge")

JudgeName = Annotated[
    str, typer.Option(metavar="NAME", help="A reward's name, ./file.py:Name, or a recipe whose reward section it is.")
]
Phases = Annotated[
    list[str] | None, typer.Option(help="Such as rl or eval_rl; may be given several times.", show_default="all")
]
Limit = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="At most N episodes, drawn by --seed.", show_default="all")
]
Seed = Annotated[int, typer.Option(help="Of whatever is drawn.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where the report goes.", show_default="RUN/judgements/…")
]


@judge_app.command("run", hidden=True)
def run_again(
    run: RunFolder,
    overrides: Overrides = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="As in `judge audit`; two or more are compared.")
    ] = None,
    phase: Phases = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Judge a run's episodes again, and compare the verdicts with its rewards and with one another."""
    if not judge:
        raise typer.BadParameter("name at least one: --judge rules")
    from webdojo.loops.judging.audit import Choice
    from webdojo.loops.judging.compare import rejudge
    from webdojo.view.judging import comparison_tables

    choice = Choice(phase or (), limit or 0, seed)
    report = _judged(run, lambda begin: rejudge(run, judge, overrides or [], choice, begin))
    _finish(report, out or _report_path(run, "+".join(report["judges"]), "again"), comparison_tables, as_json)


@judge_app.command()
def audit(
    run: Annotated[Path, typer.Argument(metavar="RUN|FOLDER", help="Run folder, or one that holds runs.")],
    judge: JudgeName,
    overrides: Overrides = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What people say of the episodes: JSON lines with id, success.")
    ] = None,
    phase: Phases = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Hold a judge against the truth, which the embedded web knows, or against labels of your own."""
    from webdojo.loops.judging.audit import Choice
    from webdojo.loops.judging.audit import audit as audit_judge
    from webdojo.loops.judging.labels import read_labels
    from webdojo.view.judging import audit_tables

    choice = Choice(phase or (), limit or 0, seed)
    said = read_labels(labels) if labels is not None else None
    report = _judged(run, lambda begin: audit_judge(run, judge, overrides or [], choice, begin, said))
    _finish(report, out or _report_path(run, judge, "audit"), audit_tables, as_json)


@judge_app.command()
def stress(
    run: RunFolder,
    judge: JudgeName,
    overrides: Overrides = None,
    phase: Phases = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Ask a judge about episodes that were tampered with, in ways whose truth is known."""
    from webdojo.loops.judging.audit import Choice
    from webdojo.loops.judging.stress import stress as stress_judge
    from webdojo.view.judging import stress_tables

    choice = Choice(phase or (), limit or 0, seed)
    report = _judged(run, lambda begin: stress_judge(run, judge, overrides or [], choice, begin))
    _finish(report, out or _report_path(run, judge, "stress"), stress_tables, as_json)


@judge_app.command()
def errors(
    run: RunFolder,
    overrides: Overrides = None,
    phase: Phases = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Ask a model why failed episodes failed; `webdojo analyze` shows it beside what rules say."""
    from webdojo.loops.judging.audit import Choice
    from webdojo.loops.judging.errors import sort_errors
    from webdojo.view.judging import error_tables

    choice = Choice(phase or (), limit or 0, seed)
    report = _judged(run, lambda begin: sort_errors(run, overrides or [], choice, begin))
    _finish(report, out or _report_path(run, "model", "errors"), error_tables, as_json)


@judge_app.command()
def replay(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|FILE", help="Folder of a `webdojo eval`, or the evaluation.json in it.")
    ],
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Judge an evaluation again from its stored episodes, as it was judged; exit code 1 where a verdict changes."""
    from webdojo.loops.judging.replay import replay as replay_evaluation
    from webdojo.view.judging import replay_tables

    report = _judged(run, lambda begin: replay_evaluation(run, begin))
    folder = Path(report["run"])
    _finish(report, out or _report_path(folder, report["judge"]["name"], "replay"), replay_tables, as_json)
    if report["changed"]:
        raise typer.Exit(1)


@judge_app.command(cls=RecipeCommand)
def distill(
    run: Annotated[Path, typer.Argument(metavar="RUN|FOLDER", help="Run folder, or one that holds runs.")],
    judge: Annotated[
        str, typer.Option(metavar="NAME", help="The judge that is believed, as in `judge audit`; rules: the truth.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the judge goes, and all that it is made of.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="Changes to the student, such as reward=openwebrl sft.lr=1e-5."),
    ] = None,
    student: Annotated[
        str, typer.Option(metavar="RECIPE", help="What is trained: its reward is the protocol, its model the start.")
    ] = "quickstart",
    heldout: Annotated[
        float, typer.Option(min=0.01, max=0.9, metavar="SHARE", help="Of the sites, on which nothing is learnt.")
    ] = 0.2,
    phase: Phases = None,
    limit: Limit = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a small judge to say what a judge says, and measure it on other sites; call it again to go on."""
    from webdojo.loops.distillation.distill import distill as distill_judge
    from webdojo.loops.judging.audit import Choice
    from webdojo.view.judging import distillation_tables

    recipe = recipe_for("judge distill", student, overrides, [f"seed={seed}"])
    choice = Choice(phase or (), limit or 0, seed)
    report = _judged(run, lambda begin: distill_judge(run, judge, recipe, out, choice, heldout, begin))
    _finish(report, out / "result.json", distillation_tables, as_json)


def _judged(run: Path, work: Callable[[Begin], Coroutine[Any, Any, Report]]) -> Report:
    """Wait for all verdicts, with a bar."""
    import asyncio

    from webdojo.progress import progress

    with interruptible(f"; what was judged is kept in {run}: call it again for the rest"), ExitStack() as stack:

        def begin(total: int) -> Callable[[], None]:
            return stack.enter_context(progress("verdicts", total, stays=False)).advance

        return asyncio.run(work(begin))


def _report_path(run: Path, judges: str, what: str) -> Path:
    from webdojo.loops.judging.verdicts import FOLDER, file_name

    return run / FOLDER / f"{file_name(judges)}-{what}.json"


def _finish(
    report: Report, out: Path, tables: Callable[[Mapping[str, Any]], Iterator[RenderableType]], as_json: bool
) -> None:
    from webdojo.progress import plural
    from webdojo.store.files import write_atomic, writing

    text = json.dumps(report, indent=2, ensure_ascii=False)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out, f"{text}\n".encode())
    if as_json:
        typer.echo(text)
        return
    for table in tables(report):
        Console().print(table)
    if left_out := report.get("left_out"):
        typer.echo("left out: " + ", ".join(f"{plural(number, 'episode')} {why}" for why, number in left_out.items()))
    typer.echo(f"report: {out}")
