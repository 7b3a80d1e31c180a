"""Sources of tasks by name, and the tasks that a run draws from.

A source is a function that gives tasks; its parameters are the options that it takes, those without a default it needs.
One with a parameter `split` is named with its split, after a colon: `dojo:train`.
"""

from __future__ import annotations

import difflib
import inspect
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webdojo.errors import TaskError
from webdojo.plugins import ImportedLater, Registry, one_line_errors
from webdojo.types import Task

if TYPE_CHECKING:
    from webdojo.envs.env import Environment, Split
    from webdojo.envs.registry import TasksConfig

SOURCES: Registry[Callable[..., Iterable[Task]]] = Registry(
    "webdojo.tasks",
    "task set",
    callable,
    "a function that gives tasks",
    ImportedLater(
        {
            "dojo": "webdojo.sites.taskgen:stream",
            "miniwob": "webdojo.tasks.miniwob:load",
            "records": "webdojo.tasks.records:load",
            "webarena": "webdojo.envs.web:load",
            "webvoyager": "webdojo.tasks.sources.webvoyager:load",
            "online_mind2web": "webdojo.tasks.sources.online_mind2web:load",
            "openwebvoyager": "webdojo.tasks.sources.openwebvoyager:load",
            "deepshop": "webdojo.tasks.sources.deepshop:load",
            "webgym": "webdojo.tasks.sources.webgym:load",
        }
    ),
)
"""All sources of tasks by name."""


def load_tasks(name: str, **options: Any) -> Iterable[Task]:
    """Load a task set.

    Examples:
        >>> import itertools, webdojo
        >>> tasks = webdojo.load_tasks("dojo:train", kinds=["shop"])
        >>> [task.kind for task in itertools.islice(tasks, 3)]
        ['shop', 'shop', 'shop']

    Args:
        name: `dojo:train` or another split of the embedded web (`sites.taskgen`), which is a stream without end;
            `miniwob` (MiniWoB++, pages of the package of that name) or `webarena` (a WebArena config file), which are
            lists; the files of `webvoyager`, `openwebvoyager`, `online_mind2web`, `deepshop` and `webgym`, or `records`
            (`Task` records), which are read while one goes through them; or a source of your own.
        options: parameters of the source: `path` of those that read a file; `sites` of `webarena`; `seeds` of
            `miniwob`; `seed`, `kinds`, `difficulties` and `layout` of `dojo`.

    Raises:
        ConfigError: unknown name.
        TaskError: an option that the source lacks or does not take, or, while it is read, a file that cannot be.
    """
    base, split = name, ""
    if not name.partition(":")[0].endswith(".py") and name.partition(":")[0] in SOURCES:
        base, _, split = name.partition(":")
    source = SOURCES.get(base)
    takes = inspect.signature(source).parameters
    if ("split" in takes) != bool(split):
        raise TaskError(
            f"task set {base!r} needs a split, as in '{base}:train'"
            if "split" in takes
            else f"task set {base!r} has no splits; leave ':{split}' out"
        )
    given = {"split": split, **options} if split else options
    for key, parameter in takes.items():
        if parameter.default is parameter.empty and key not in given:
            raise TaskError(f"task set {name!r} needs {key}=…; see webdojo.load_tasks")
    for key in given:
        if key not in takes:
            raise TaskError(f"task set {name!r} takes no {key}; leave it out")
    return source(**given)


def tasks_of(env: Environment, config: TasksConfig, split: Split, n: int, seed: int) -> Sequence[Task]:
    """At most `n` tasks of a run: those of the file that the recipe names, else those of its environment.

    Of a file with more than `n` tasks, `seed` chooses which; dates in them move where `tasks.shift_dates` asks for it.
    Raises TaskError if there are none.
    """
    path = config.path if split == "train" else config.eval_path or config.path
    if not path:
        return own_tasks(env, env.tasks, split, n, seed)
    key = "tasks.path" if path == config.path else "tasks.eval_path"
    if config.source in SOURCES.built_in and not Path(path).exists():
        place = "" if Path(path).is_absolute() else f" in {Path.cwd()}, nor beside the recipe"
        raise TaskError(f"{key}: task file {path!r} does not exist{place}")
    tasks = list(load_tasks(config.source, path=path))
    if not tasks:
        raise TaskError(f"task file {path!r} holds no tasks ({key})")
    for number, task in enumerate(tasks, 1):
        if wrong := _why_not(task):
            raise TaskError(f"task {number} of {path!r} ({key}), {task.id!r}: {wrong}")
    if config.shift_dates is not None:
        from webdojo.tasks.dates import shifted

        tasks = [shifted(task, config.shift_dates) for task in tasks]
    if len(tasks) <= n:
        return tasks
    chosen = sorted(random.Random(f"{seed}/{split}").sample(range(len(tasks)), n))
    return [tasks[index] for index in chosen]


def _why_not(task: Task) -> str:
    """Why nobody could begin a task of a file; empty where one can."""
    if not task.instruction.strip():
        return "instruction is empty: say what is to be done"
    if not task.start_url.startswith(("http://", "https://")):
        return f"start_url {task.start_url!r} begins with neither http:// nor https://"
    return ""


def own_tasks(
    env: Environment, give: Callable[[Split, int, int], Sequence[Task]], split: Split, n: int, seed: int
) -> Sequence[Task]:
    """What `give`, the `tasks` or the `samples` of an environment, gives.

    Raises:
        TaskError: there are none, or they are no tasks.
        ConfigError: the environment's code fails.
    """
    with one_line_errors(env, "environment"):
        tasks = give(split, n, seed)
        wrong = next((each for each in tasks if not isinstance(each, Task)), None)
    if wrong is not None:
        raise TaskError(
            f"environment {env.name!r}: tasks must give webdojo.Task records, and gave a {type(wrong).__name__}: "
            f"{str(wrong)[:80]}"
        )
    if not tasks:
        raise TaskError(f"the environment {env.name!r} has no tasks to {split}")
    return tasks


def task_named(id: str, tasks: Mapping[str, Task]) -> Task:
    """The task of an id; a TaskError for another one says which is spelled almost alike."""
    if id in tasks:
        return tasks[id]
    near = difflib.get_close_matches(str(id), tasks, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the first is {next(iter(tasks))!r}"
    raise TaskError(f"the environment has no task {id!r} among its {len(tasks)}; {hint}")
