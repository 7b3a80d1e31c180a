"""`webdojo tasks make`, `show`, `stats`, `lint`, `convert` and `split`: task sets as data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from webdojo.cli.app import AsJson, Endpoint, group
from webdojo.errors import ConfigError, TaskError

if TYPE_CHECKING:
    from webdojo.loops.reading.reader import Reader
    from webdojo.tasks.lint import Finding
    from webdojo.types import Task

tasks_app = group("tasks", "Task sets.")

ANSWERS = "runs/{}.answers.sqlite"
"""Keeps what a model said of tasks, so that none is asked about twice, unless `engine.cache` names another file."""
OF_MODEL = ("engine", "model", "sampling")
"""Sections of the options that are of the model; the others are of the source."""

TaskSet = Annotated[
    str,
    typer.Argument(
        metavar="SET", help="A file or folder of tasks; or a set that needs none, such as miniwob or dojo:test."
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KEY=VALUE]...", help="Options of the source, such as 'sites={__MAP__: http://…}'."),
]
Source = Annotated[
    str,
    typer.Option(help="How SET is read, as tasks.source of a recipe: webvoyager, webgym, …", show_default="records"),
]
Asked = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KEY=VALUE]...",
        help="Options of the source, and, as in a recipe, of the model: engine.api_key_env=OPENAI_API_KEY.",
    ),
]
DomainModel = Annotated[
    str,
    typer.Option("--model", help="A model says the domain of tasks where nothing else does: its name at --endpoint."),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="The first N alone.", show_default="all")]


@tasks_app.command("make")
def make_tasks(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write them: .jsonl, .parquet, or a folder.")],
    split: Annotated[str, typer.Option(help="train, valid, test, test_phrasings or test_kinds.")] = "train",
    n: Annotated[int, typer.Option(min=1, help="How many.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    kind: Annotated[
        list[str] | None, typer.Option(help="Kind of site; may be given several times. All if absent.")
    ] = None,
    difficulty: Annotated[
        list[int] | None, typer.Option(min=1, help="Number of facts; may be given several times. All if absent.")
    ] = None,
) -> None:
    """Draw tasks of the embedded web into a file."""
    from webdojo.envs.task_sets import load_tasks

    tasks = load_tasks(f"dojo:{split}", seed=seed, kinds=kind or (), difficulties=difficulty or ())
    _write(islice(tasks, n), out, n)


@tasks_app.command()
def show(
    tasks: TaskSet,
    options: Options = None,
    source: Source = "",
    id: Annotated[list[str] | None, typer.Option(metavar="ID", help="This one; may be given several times.")] = None,
    n: Annotated[int, typer.Option(min=1, help="How many, without --id.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show a few tasks, the first or those of some ids."""
    found = _tasks(tasks, source, options, None)
    if id:
        shown = list(islice((task for task in found if task.id in id), len(set(id))))
        if missing := set(id) - {task.id for task in shown}:
            raise TaskError(
                f"{tasks!r} has no task {sorted(missing)[0]!r}; `webdojo tasks show {tasks}` shows some ids"
            )
    else:
        shown = list(islice(found, n))
    rows = [task.model_dump(mode="json", exclude_defaults=True) for task in shown]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for task, row in zip(shown, rows, strict=True):
        typer.echo(f"{task.id}  (difficulty {task.difficulty})\n  {task.instruction}\n  {task.start_url}")
        for name in ("storage_state", "kind", "evaluator", "metadata"):
            if name in row:
                typer.echo(f"  {name}: {json.dumps(row[name], ensure_ascii=False)}")


@tasks_app.command("stats")
def count(
    tasks: TaskSet,
    options: Asked = None,
    source: Source = "",
    limit: Limit = None,
    model: DomainModel = "",
    endpoint: Endpoint = "",
    as_json: AsJson = False,
) -> None:
    """Count a set: sites, domains, difficulties, lengths, dates that have passed."""
    from webdojo.tasks.stats import stats

    of_source, of_model = _apart(options)
    counted = _with_domains(_tasks(tasks, source, of_source, limit), model, endpoint, of_model)
    found = stats(counted, date.today())
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{found['tasks']} tasks on {len(found['sites'])} sites")
    for name in ("sites", "domains", "subdomains", "difficulties", "kinds"):
        shown = [f"{key} {number}" for key, number in islice(found[name].items(), 12)]
        more = len(found[name]) - len(shown)
        if shown:
            typer.echo(f"{name}: {', '.join(shown)}{f', and {more} more' if more else ''}")
    typer.echo(f"words: {', '.join(f'{name} {number}' for name, number in found['words'].items())}")
    typer.echo(f"with a date that has passed: {found['past_dated']}, of which {found['past_plans']} plan ahead")
    typer.echo(f"with a log-in: {found['logged_in']}; with something for the reward: {found['with_evaluator']}")


@tasks_app.command("lint")
def find_faults(
    tasks: TaskSet,
    options: Asked = None,
    source: Source = "",
    limit: Limit = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULE", help="Do not tell; may be repeated.")] = None,
    online: Annotated[bool, typer.Option("--online", help="Ask each start page whether it is there.")] = False,
    per_minute: Annotated[float, typer.Option(min=0, help="With --online: requests at one host; 0: no limit.")] = 30,
    model: Annotated[str, typer.Option(help="A model reads the tasks too: its name at --endpoint.")] = "",
    endpoint: Endpoint = "",
    as_json: AsJson = False,
) -> None:
    """Find tasks that are empty, dead, past, doubled, unsafe, or tell their answer; exit code 1 for errors."""
    from webdojo.tasks.lint import RULES, lint

    for rule in ignore or []:
        if rule not in RULES:
            raise typer.BadParameter(f"there is no rule {rule!r}; there are {', '.join(RULES)}", param_hint="--ignore")
    of_source, of_model = _apart(options)
    found_tasks = _tasks(tasks, source, of_source, limit)
    found: Iterable[Finding]
    if online or model or endpoint or of_model:
        held = list(found_tasks)
        more = _asked(held, per_minute if online else None, model, endpoint, of_model)
        found = sorted([*lint(held, date.today()), *more], key=lambda finding: finding.row)
    else:
        found = lint(found_tasks, date.today())
    told = [finding for finding in found if finding.rule not in (ignore or [])]
    counts = Counter(finding.rule for finding in told)
    errors = sum(finding.level == "error" for finding in told)
    if as_json:
        rows = [finding.model_dump(mode="json") for finding in told]
        typer.echo(json.dumps({"findings": rows, "counts": counts, "errors": errors}, indent=2, ensure_ascii=False))
    else:
        for finding in told:
            typer.echo(f"row {finding.row}  {finding.id}  {finding.level}  {finding.rule}: {finding.why}")
        listed = ", ".join(f"{rule} {number}" for rule, number in counts.most_common())
        typer.echo(f"{errors} errors, {len(told) - errors} warnings{f': {listed}' if listed else ''}")
    if errors:
        raise typer.Exit(1)


def _asked(tasks: list[Task], per_minute: float | None, model: str, endpoint: str, options: list[str]) -> list[Finding]:
    """What the sites say, asked so often a minute, unless that is None; and the model, if one is named."""
    import asyncio

    from webdojo.loops.reading.lint import SiteCheck, ask_model, ask_sites

    reader = _reader("lint", model, endpoint, options) if model or endpoint or options else None
    found = []
    if per_minute is not None:
        found += asyncio.run(ask_sites(tasks, SiteCheck(requests_per_minute=per_minute)))
    if reader is not None:
        found += asyncio.run(ask_model(tasks, reader))
    return found


def _with_domains(tasks: Iterable[Task], model: str, endpoint: str, options: list[str]) -> Iterable[Task]:
    """The tasks; with the domains that the model says, if one is named."""
    if not (model or endpoint or options):
        return tasks
    import asyncio

    from webdojo.loops.reading.domains import with_domains

    reader = _reader("domains", model, endpoint, options)
    return asyncio.run(with_domains(list(tasks), reader))


def _apart(options: list[str] | None) -> tuple[list[str], list[str]]:
    """The options of the source, and those of the model."""
    given = options or []
    of_model = [option for option in given if option.partition(".")[0] in OF_MODEL]
    return [option for option in given if option not in of_model], of_model


def _reader(answers: str, model: str, endpoint: str, options: list[str]) -> Reader:
    """The model that is named, whose answers are kept under the name `answers`."""
    from pydantic import ValidationError

    from webdojo.loops.reading.reader import Reader

    cache = Path(ANSWERS.format(answers))
    given = {"engine.base_url": endpoint, "engine.model": model, "engine.cache": str(cache)}
    data: dict[str, Any] = {}
    for key, value in ({key: value for key, value in given.items() if value} | _values(options)).items():
        section, _, name = key.partition(".")
        data.setdefault(section, {})[name] = value
    try:
        reader = Reader.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
    reader.engine.check_messages()
    cache.parent.mkdir(exist_ok=True)
    return reader


@tasks_app.command()
def convert(
    tasks: TaskSet,
    out: Annotated[Path, typer.Argument(metavar="OUT", help=".jsonl, .parquet, or a folder of `datasets`.")],
    options: Asked = None,
    source: Source = "",
    limit: Limit = None,
    split: Annotated[Path | None, typer.Option(help="A split file: write --part of it alone.")] = None,
    part: Annotated[str, typer.Option(help="With --split.")] = "train",
    model: DomainModel = "",
    endpoint: Endpoint = "",
) -> None:
    """Write a set in another format, one task after another, all columns kept."""
    of_source, of_model = _apart(options)
    found = _tasks(tasks, source, of_source, limit)
    if split is not None:
        from webdojo.tasks.split import in_part, read_split

        found = in_part(found, read_split(split), part)
    _write(_with_domains(found, model, endpoint, of_model), out, None)


@tasks_app.command("split")
def split_sites(
    tasks: TaskSet,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The split file, such as split.json.")],
    options: Options = None,
    source: Source = "",
    hold_out: Annotated[
        list[str] | None,
        typer.Option(metavar="PART=SIZE", help="A share such as test=0.1, or a number; may be repeated."),
    ] = None,
    by: Annotated[str, typer.Option(help="What sizes are of: task or site.")] = "task",
    seed: Annotated[int, typer.Option(help="Of the order of sites.")] = 0,
    check: Annotated[bool, typer.Option("--check", help="Say whether FILE is a split of SET.")] = False,
) -> None:
    """Hold web sites out, so that no two parts share one, and write which part has which."""
    from webdojo.tasks import split as splitting

    if by not in ("task", "site"):
        raise typer.BadParameter(f"{by!r} is neither task nor site", param_hint="--by")
    of = splitting.census(_tasks(tasks, source, options, None))
    if check:
        made = splitting.read_split(file)
        splitting.check(made, of, file)
    else:
        sizes = _sizes(hold_out or ["test=0.1"])
        made = splitting.split(of, sizes, seed, "task" if by == "task" else "site")
        splitting.write_split(made, file)
    for name, each in made.parts.items():
        asked = f" (asked: {made.held_out[name]:g})" if name in made.held_out else ""
        typer.echo(f"{name}: {each.tasks} tasks on {len(each.sites)} sites{asked}")
    typer.echo(f"{'fits' if check else 'written'}: {file}, of sha256 {of.sha256[:12]}…, seed {made.seed}")


def _sizes(given: list[str]) -> dict[str, float | int]:
    sizes: dict[str, float | int] = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            size = float(value)
        except ValueError:
            size = 0
        if not name or name in ("train", *sizes) or size <= 0 or (size >= 1 and size != int(size)):
            raise typer.BadParameter(
                f"{text!r} must be a new part but train, and its size, such as test=0.1 or test=100",
                param_hint="--hold-out",
            )
        sizes[name] = size if size < 1 else int(size)
    return sizes


def _tasks(name: str, source: str, options: list[str] | None, limit: int | None) -> Iterable[Task]:
    """The tasks of a set as the commands name it."""
    import inspect

    from webdojo.envs.task_sets import SOURCES, load_tasks

    base = name.partition(":")[0]
    given = _values(options or [])
    if (
        source
        or Path(name).exists()
        or base not in SOURCES
        or "path" in inspect.signature(SOURCES.get(base)).parameters
    ):
        found = load_tasks(source or "records", path=name, **given)
    elif ":" in name and limit is None:
        raise TaskError(
            f"{name} has no end: write a part of it into a file first, `webdojo tasks make`, or give --limit"
        )
    else:
        found = load_tasks(name, **given)
    return islice(found, limit) if limit is not None else found


def _values(options: list[str]) -> dict[str, Any]:
    import yaml

    values = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise ConfigError(f"option {option!r} must look like key=value")
        try:
            values[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ConfigError(f"option {option!r}: {value!r} is not a YAML value") from None
    return values


def _write(tasks: Iterable[Task], out: Path, total: int | None) -> None:
    from webdojo.progress import progress
    from webdojo.tasks.files import write_tasks

    with progress("tasks", total) as bar:

        def counted() -> Iterable[Task]:
            for task in tasks:
                yield task
                bar.advance(1)

        count = write_tasks(counted(), out)
    Console().print(f"{count} tasks in {out}", highlight=False, soft_wrap=True)
