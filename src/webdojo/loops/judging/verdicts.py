"""Verdicts of a judge on stored episodes, each asked for once.

Invariants: a run's own rewards are never changed. A verdict is in its log before anyone counts it, so a call that was
interrupted goes on with what is left; a verdict that failed (`Failure.REWARD_FAILED`) is not in it and is asked for
again.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from webdojo.errors import ConfigError, Failure, RewardError
from webdojo.gather import gather_or_cancel
from webdojo.recipe import Recipe, load_recipe, recipe_names
from webdojo.recipe_paths import folderless
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.reward.registry import REWARDS
from webdojo.store.files import writing
from webdojo.types import ImageSource, Reward, Trajectory

FOLDER = "judgements"
"""Where a run folder keeps what judges said afterwards."""
FAILURES_IN_A_ROW = 8
"""Where so many verdicts fail one after the other, the judge is dead."""
_LOG = re.compile(r"(.+-[0-9a-f]{8})(?:-(errors))?-verdicts\.jsonl")
"""A log without a purpose, one of `webdojo judge errors`, or one of a replay (`log_path`)."""
ERRORS = "errors"
"""The purpose of a log in which a model sorts failed episodes."""
_REPLAY = re.compile(r"-replay-[0-9a-f]{8}$")
_LIMITS = {"max_concurrency", "timeout_s"}
"""Options that change no verdict."""


def names_recipe(name: str) -> bool:
    """Whether a judge's name is that of a recipe, whose reward section it then stands for."""
    return name.endswith((".yaml", ".yml")) or (name in recipe_names() and name not in REWARDS)


def named_judge(name: str, overrides: list[str], own: Recipe) -> RewardFunction:
    """The judge that a name (`rules`, `./mine.py:MyJudge`) or the reward section of a recipe stands for.

    `overrides` are keys of that section, such as `reward.timeout_s=60`; `own` is the recipe of the run, whose
    environment answers for `env`.

    Raises:
        ConfigError: there is no such judge, or an override is of another section.
    """
    if other := next((each for each in overrides if not each.startswith("reward.")), None):
        raise ConfigError(f"judging uses the section `reward` alone, so {other!r} would do nothing: leave it out")
    is_recipe = names_recipe(name)
    if not is_recipe:
        overrides = [f"reward.name={json.dumps(name)}", *overrides]
    recipe = load_recipe(name if is_recipe else "quickstart", overrides)
    judge = recipe.reward.resolved(own.env.reward, own.env.name)
    judge.check_setup()
    return judge


def fingerprint(function: RewardFunction) -> str:
    """What changes with every option that could change a verdict, and with the code of a judge from a file, wherever
    that lies."""
    options = function.model_copy(update={"name": folderless(function.name)}).model_dump_json(exclude=_LIMITS)
    code = Path(inspect.getfile(type(function))).read_bytes() if ".py:" in function.name else b""
    return hashlib.sha256(options.encode() + code).hexdigest()[:8]


def code_hash(function: RewardFunction) -> str:
    """SHA-256 of the files in which the judge's class, and those that it derives from, stand with their prompts."""
    kinds = [kind for kind in type(function).__mro__ if issubclass(kind, RewardFunction)]
    code = hashlib.sha256()
    for file in dict.fromkeys(inspect.getfile(kind) for kind in kinds):
        code.update(Path(file).read_bytes())
    return code.hexdigest()


def log_path(run: Path, function: RewardFunction, purpose: str = "") -> Path:
    """The log of a judge's verdicts in a run folder."""
    parts = (file_name(folderless(function.name)), fingerprint(function), purpose, "verdicts.jsonl")
    return run / FOLDER / "-".join(filter(None, parts))


def file_name(judge: str) -> str:
    return re.sub(r"[^a-zA-Z0-9]+", "-", judge).strip("-")


def logs_of(run: Path, purpose: str = "") -> dict[str, Path]:
    """The logs of judges that judged the episodes of a run as they are, by the judge's name and fingerprint.

    `purpose` is empty for verdicts of success, and `errors` for categories of failures.
    """
    files = sorted((run / FOLDER).glob("*"))
    found = {match[1]: file for file in files if (match := _LOG.fullmatch(file.name)) and (match[2] or "") == purpose}
    return {judge: file for judge, file in found.items() if not _REPLAY.search(judge)}


def read_verdicts(log: Path) -> Iterator[tuple[str, Reward]]:
    """The verdicts in a log with the id of their episode, also while a process writes it."""
    with log.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                found = json.loads(line)
                yield found["id"], Reward.model_validate(found["reward"])


class VerdictLog:
    """Verdicts by the id of their episode, in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, Reward] = {}
        if path.is_file():
            lines = path.read_bytes().splitlines(keepends=True)
            if lines and not lines[-1].endswith(b"\n"):  # a process was killed as it wrote
                with writing(path):
                    path.write_bytes(b"".join(lines := lines[:-1]))
            self._found = dict(read_verdicts(path))

    def __contains__(self, id: str) -> bool:
        return id in self._found

    def __getitem__(self, id: str) -> Reward:
        return self._found[id]

    def add(self, id: str, reward: Reward) -> None:
        line = json.dumps({"id": id, "reward": reward.model_dump(mode="json")}, ensure_ascii=False)
        with writing(self.path), self.path.open("ab") as file:
            file.write(f"{line}\n".encode())
        self._found[id] = reward


async def judge_all(
    function: RewardFunction,
    images: ImageSource,
    trajectories: Iterable[Trajectory],
    log: VerdictLog,
    on_verdict: Callable[[], None] = lambda: None,
) -> dict[str, Reward]:
    """The verdicts on these episodes by id, behind the gate; those of the log are not asked for again.

    The episodes are read as they are needed, and their `reward` is replaced. `on_verdict` is called after each.

    Raises:
        RewardError: the judge fails again and again.
    """
    left: Iterator[Trajectory] = iter(trajectories)
    found: dict[str, Reward] = {}
    failed: list[str] = []

    async def work(scorer: Scorer) -> None:
        for trajectory in left:
            if trajectory.id in log:
                found[trajectory.id] = log[trajectory.id]
            else:
                found[trajectory.id] = await ask(scorer, trajectory)
            on_verdict()

    async def ask(scorer: Scorer, trajectory: Trajectory) -> Reward:
        if trajectory.failure == Failure.REWARD_FAILED:  # of the judge before
            trajectory.failure, trajectory.error = "", ""
        trajectory.reward = None
        await scorer.score(trajectory)
        reward = trajectory.reward
        assert reward is not None
        if trajectory.failure == Failure.REWARD_FAILED:
            failed.append(trajectory.error)
            if len(failed) >= FAILURES_IN_A_ROW:
                raise RewardError(
                    f"{len(failed)} verdicts of {function.name!r} failed one after the other, the last by "
                    f"{trajectory.error}; what was judged before is kept in {log.path}"
                )
        else:
            failed.clear()
            log.add(trajectory.id, reward)
        return reward

    with writing(log.path):
        log.path.parent.mkdir(parents=True, exist_ok=True)  # the judge keeps its account there, too
    async with Scorer(function, images, log.path.parent) as scorer:
        await gather_or_cancel(work(scorer) for _ in range(function.max_concurrency))
    return found


def described(function: RewardFunction) -> dict[str, Any]:
    """The judge as reports name it."""
    options = function.model_dump(mode="json") | {"name": folderless(function.name)}
    return {"fingerprint": fingerprint(function), **options}
