"""Is a verdict on an embedded task fair: does it ask what was achieved, and not by which route and in which words?

    python benchmarks/fairness.py [--tasks 2000] [--seed 0] [--half open|held_back|both] [--family read …]

| figure | what it is |
|---|---|
| `refused_routes` | honest ways other than the oracle's that were refused, in percent |
| `refused_words` | right answers in ordinary words that were refused, in percent |
| `accepted_wrong` | wrong answers and wrong sessions that were accepted, in percent |
| `closed_book` | right answers of sessions that never saw them and were accepted, in percent |

Sessions are played by real HTTP (`fairness_visitor.py`) with the classes of `fairness_classes/`. About half of the
classes of each sort are held back: the headline is about them, and what they are is not shown unless one asks for it
with `--reveal`, so that verdicts can be mended by what the open half shows and be measured by the other. A route counts
only if its session was shown all that its task asks for. Tasks that ask for no answer are tried with routes and wrong
sessions only, since their closing words do not count.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import record
from fairness_classes.asked import Answer, answer_of
from fairness_classes.case import DO, Case, case_of
from fairness_classes.evidence import Evidence
from fairness_classes.kinds_of_classes import Class, Half, Say, go
from fairness_classes.moves import play
from fairness_classes.registry import ROUTES, WORDINGS, WRONG_ANSWERS, WRONG_SESSIONS
from fairness_classes.saying import short
from fairness_visitor import CannotGoError, Visitor

from webdojo.progress import progress
from webdojo.sites import COMPACT_KINDS, HELDOUT_SEED
from webdojo.sites.kinds import KINDS
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.taskgen import make_tasks
from webdojo.sites.verdict import evaluate
from webdojo.types import Task

HALVES: tuple[Half, ...] = ("open", "held_back")
COMPACT_SHARE = 5
"""One task of so many is of the compact layout."""
MOST = {"routes": 2, "words": 5, "wrong": 5, "sessions": 2}
"""How many of each sort a task is tried with, for each half."""
ATTEMPTS = 3
"""How many classes may be found not to apply for each one that does."""
CLOSED_BOOK = "closed_book"


@dataclass(frozen=True)
class Try:
    """One session or answer."""

    sort: str
    """`routes`, `words`, `wrong` or `closed_book`."""
    half: Half
    name: str
    """Of the class."""
    case: Case
    done: str
    """The route, or what was said."""
    accepted: bool
    reason: str

    @property
    def failed(self) -> bool:
        return self.accepted != (self.sort in ("routes", "words"))


@dataclass
class Bench:
    """Tries classes on tasks, so that each class gets its share."""

    server: SiteServer
    halves: Sequence[Half]
    tries: list[Try] = field(default_factory=list)
    unplayed: list[str] = field(default_factory=list)
    """Tasks whose own plan could not be played, or was refused."""
    _weights: Counter[tuple[Half, str]] = field(default_factory=Counter)
    """By class, how often it was tried; an attempt that did not apply counts less."""

    def run(self, task: Task, rng: random.Random) -> None:
        """Try a task with some classes of each half."""
        case = case_of(task)
        self._answers(case, rng)
        for half in self.halves:
            self._routes(case, half, rng)
            self._wrong_sessions(case, half, rng)

    def _visit(self, case: Case, name: str) -> Visitor:
        return Visitor(self.server, f"{name}-{case.task.id}", case.layout, case.task.start_url)

    def _judge(self, sort: str, each: Class[Any], case: Case, visitor: Visitor, answer: str, done: str) -> None:
        verdict = evaluate(case.task, answer, visitor.url, visitor.state())
        self.tries.append(Try(sort, each.half, each.name, case, done, verdict.success, verdict.reason))
        self._weights[each.half, each.name] += 4

    def _answers(self, case: Case, rng: random.Random) -> None:
        """The oracle's own route, and after it right and wrong answers if the task asks for one."""
        with self._visit(case, "answers") as visitor:
            try:
                play(case, visitor)
            except CannotGoError as error:
                self.unplayed.append(f"{case.task.id}: {error}")
                return
            if not evaluate(case.task, case.answer, visitor.url, visitor.state()).success:
                self.unplayed.append(f"{case.task.id}: refused")
                return
            if case.family in DO:
                return
            said = answer_of(case)
            for half in self.halves:
                say = Say(half, rng)
                for wording in self._some(WORDINGS, half, said.sort, "words", rng):
                    if (text := wording.run(said, rng)) is not None:
                        self._judge("words", wording, case, visitor, text, text)
                for wrong in self._some(WRONG_ANSWERS, half, said.sort, "wrong", rng):
                    text = wrong.run(case, said, say)
                    if text is not None and not is_right(text, said):
                        self._judge("wrong", wrong, case, visitor, text, text)

    def _routes(self, case: Case, half: Half, rng: random.Random) -> None:
        done = 0
        for way in self._some(ROUTES, half, case.family, "routes", rng, ATTEMPTS):
            if done == MOST["routes"]:
                return
            with self._visit(case, way.name) as visitor:
                if go(way, case, visitor):
                    self._judge("routes", way, case, visitor, case.answer, "; ".join(visitor.log))
                    done += 1

    def _wrong_sessions(self, case: Case, half: Half, rng: random.Random) -> None:
        done = 0
        for way in self._some(WRONG_SESSIONS, half, case.family, "sessions", rng, ATTEMPTS):
            if done == MOST["sessions"]:
                return
            with self._visit(case, way.name) as visitor:
                try:
                    said = way.run(case, visitor, rng)
                except CannotGoError:
                    continue
                evidence, sort = Evidence(case, visitor), "wrong"
                if way.name.startswith(CLOSED_BOOK):
                    sort = CLOSED_BOOK
                    if not evidence.clueless():
                        continue
                elif way.name.startswith("guesses") and evidence.enough():
                    continue
                self._judge(sort, way, case, visitor, said or case.answer, "; ".join(visitor.log))
                done += 1

    def _some(
        self, classes: Iterable[Class[Any]], half: Half, kind: str, sort: str, rng: random.Random, times: int = 1
    ) -> Iterator[Class[Any]]:
        """Classes that apply, those first that were tried least."""
        fitting = [each for each in classes if each.half == half and each.fits(kind)]
        fitting.sort(key=lambda each: self._weights[each.half, each.name] + 4 * rng.random())
        for each in fitting[: times * MOST[sort]]:
            self._weights[each.half, each.name] += 1
            yield each


def is_right(text: str, said: Answer) -> bool:
    """Whether what is meant to be wrong is the very answer, as `Done.` is where a status is asked for."""
    return text.strip(" .").casefold() == short(said).casefold()


def drawn(n: int, seed: int, families: Sequence[str], sites: int = 10_000) -> list[Task]:
    """Tasks of all kinds and difficulties, one fifth of them of the compact layout, or of some families only."""
    many = 10 * n if families else n
    seeds = range(HELDOUT_SEED, HELDOUT_SEED + sites)
    compact = make_tasks(COMPACT_KINDS, seeds, max(1, many // COMPACT_SHARE), seed, layout="compact")
    full = make_tasks(list(KINDS), seeds, max(1, many - len(compact)), seed, range(1, 10))
    tasks = [task for task in [*full, *compact] if not families or task.metadata["goal"] in families]
    return random.Random(seed).sample(tasks, min(n, len(tasks)))


def share(tries: Iterable[Try]) -> float | None:
    """Failures in percent; None: nothing was tried."""
    found = [each.failed for each in tries]
    return round(100 * sum(found) / len(found), 2) if found else None


def headline(tries: list[Try], halves: Sequence[Half]) -> dict[str, float | None]:
    """The figures of the half that is held back, and those of the open half under names that begin with `open_`."""
    figures: dict[str, float | None] = {}
    for half in reversed(HALVES):
        of = {sort: [t for t in tries if t.half == half and t.sort == sort] for sort in ("routes", "words", "wrong")}
        closed = [each for each in tries if each.half == half and each.sort == CLOSED_BOOK]
        figures |= {
            f"{'open_' if half == 'open' else ''}{name}": figure
            for name, figure in (
                ("refused_routes", share(of["routes"])),
                ("refused_words", share(of["words"])),
                ("accepted_wrong", share(of["wrong"])),
                ("closed_book", share(closed)),
                ("tried_routes", len(of["routes"])),
                ("tried_words", len(of["words"])),
                ("tried_wrong", len(of["wrong"])),
                ("tried_closed_book", len(closed)),
            )
            if half in halves
        }
    return figures


def rows_of(tries: list[Try], reveal: bool) -> list[dict[str, Any]]:
    """Tried and failed by class; for the half that is held back by sort and family, unless it is to be revealed."""
    groups: dict[tuple[Half, str, str, str], list[Try]] = defaultdict(list)
    for each in tries:
        shown = each.half == "open" or reveal
        groups[each.half, each.sort, "name" if shown else "family", each.name if shown else each.case.family].append(
            each
        )
    return [
        {"half": half, "sort": sort, by: name, "tried": len(found), "failed": sum(each.failed for each in found)}
        for (half, sort, by, name), found in sorted(groups.items())
    ]


def examples(tries: list[Try], count: int, reveal: bool) -> Iterator[str]:
    """Some failures of each class of the open half."""
    groups: dict[tuple[Half, str, str], list[Try]] = defaultdict(list)
    for each in tries:
        if each.failed and (each.half == "open" or reveal):
            groups[each.half, each.sort, each.name].append(each)
    for (_, sort, name), found in sorted(groups.items()):
        yield f"\n{sort}: {name}, {len(found)} failed"
        for each in found[:count]:
            task = each.case.task
            yield f"  {task.id}\n    {task.instruction}\n    {each.done}\n    verdict: {each.reason}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--family", nargs="*", default=[], help="families of tasks (default: all)")
    parser.add_argument("--examples", type=int, default=0, help="failures of each open class to print")
    parser.add_argument("--reveal", action="store_true", help="show the classes that are held back")
    arguments = parser.parse_args()
    halves = HALVES if arguments.half == "both" else (arguments.half,)
    tasks = drawn(arguments.tasks, arguments.seed, arguments.family)
    with SiteServer() as server, progress("fairness", len(tasks)) as bar:
        bench = Bench(server, halves)
        for task in tasks:
            bench.run(task, random.Random(f"{arguments.seed}-{task.id}"))
            bar.advance(1, tries=len(bench.tries))
    for line in examples(bench.tries, arguments.examples, arguments.reveal) if arguments.examples else ():
        print(line)
    unplayed = [{"unplayed": each} for each in bench.unplayed]
    record.record("fairness", headline(bench.tries, halves), [*rows_of(bench.tries, arguments.reveal), *unplayed])


if __name__ == "__main__":
    main()
