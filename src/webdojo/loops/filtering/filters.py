"""The filters of a task set (OpenWebRL §4.2), and the registry in which a pipeline's file finds them by name."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from webdojo.browser.network.blocklist import Blocklist
from webdojo.config import Section
from webdojo.envs.task_sets import load_tasks
from webdojo.errors import TaskError
from webdojo.plugins import Plug, Registry, derived_from, plug_field
from webdojo.store.run import RunStore
from webdojo.tasks.decompose import PARENT
from webdojo.tasks.dedup import near_duplicates
from webdojo.tasks.embeddings.embedding import Embedding
from webdojo.tasks.embeddings.registry import EMBEDDINGS
from webdojo.tasks.lint import BY_TEXT, Rule, lint
from webdojo.tasks.overlap import near_by_text, near_by_vector
from webdojo.tasks.rubric import rubric_of, same
from webdojo.types import Task, Termination


class Filter(Plug):
    """A step of a pipeline that drops tasks from a set; its fields are its keys in the pipeline's file."""

    @abstractmethod
    def dropped(self, tasks: Sequence[Task], folder: Path) -> Mapping[str, str]:
        """The ids of the tasks that go, each with the reason: its kind, by which it is counted, and after a colon more.

        Args:
            tasks: the set as the step before has left it, in its order.
            folder: what is dear to compute may be kept there, so that a pipeline that was stopped goes on with it.
        """


class Lint(Filter):
    """Drops tasks in which a rule of `webdojo tasks lint` finds something wrong."""

    name: str = "lint"
    rules: list[Rule] = Field(default=["empty", "non_http", "past_dated", "log_in", "unsafe", "leaking"], min_length=1)
    """Which of them; those that ask the site or a model are not among them."""
    today: date | None = None
    """The day before which dates have passed; not set, the day on which the pipeline runs."""

    @field_validator("rules")
    @classmethod
    def _by_text(cls, rules: list[Rule]) -> list[Rule]:
        if other := [rule for rule in rules if rule not in BY_TEXT]:
            raise ValueError(f"{other[0]!r} asks the site or a model: use `webdojo tasks lint` for it")
        return rules

    def dropped(self, tasks: Sequence[Task], folder: Path) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for finding in lint(tasks, self.today or date.today()):
            if finding.rule in self.rules:
                found.setdefault(finding.id, f"{finding.rule}: {finding.why}")
        return found


class Decomposed(Filter):
    """Drops the parts of other tasks: those that name a task of the set as the one that they are a part of, and those
    whose facts are some of the facts of another task of the same web site (WebGym §3.2)."""

    name: str = "decomposed"

    def dropped(self, tasks: Sequence[Task], folder: Path) -> Mapping[str, str]:
        ids = {task.id for task in tasks}
        facts = {
            task.id: frozenset(map(same, rubric.facts)) if (rubric := rubric_of(task)) else frozenset()
            for task in tasks
        }
        with_fact = defaultdict[tuple[str, str], set[str]](set)
        for task in tasks:
            for fact in facts[task.id]:
                with_fact[task.website, fact].add(task.id)
        found = {}
        for task in tasks:
            parent = task.metadata.get(PARENT)
            if parent in ids and parent != task.id:
                found[task.id] = f"a part of another: {parent}"
            elif facts[task.id]:
                sharing = set.intersection(*(with_fact[task.website, fact] for fact in facts[task.id]))
                wholes = [other for other in sharing if len(facts[other]) > len(facts[task.id])]
                found |= {task.id: f"a part of another: {min(wholes)}"} if wholes else {}
        return found


class Hosts(Filter):
    """Drops all tasks of web sites that fail often or have few tasks."""

    name: str = "hosts"
    min_tasks: int = Field(default=1, ge=1)
    """Tasks that a site must have at least; fewer are the long tail."""
    blocklist: str = ""
    """A file of sites that keep failing, as `tasks.blocklist` of a recipe names it; empty: none."""
    runs: list[str] = Field(default_factory=list)
    """Run folders whose episodes say how often a site fails: it could not be opened, or turned the agent away."""
    min_episodes: int = Field(default=5, ge=1)
    """Episodes of a site that these runs must have, all together, to say anything about it."""
    max_failure_rate: float = Field(default=0.5, ge=0, le=1)
    """Share of its episodes that may fail so."""

    def dropped(self, tasks: Sequence[Task], folder: Path) -> Mapping[str, str]:
        sites = Counter(task.website for task in tasks)
        reasons = {site: f"long tail: its site has {n} tasks" for site, n in sites.items() if n < self.min_tasks}
        reasons |= self._failing()
        if self.blocklist:
            if not Path(self.blocklist).exists():
                raise TaskError(f"blocklist {self.blocklist!r} is not there (filter hosts, key blocklist)")
            with closing(Blocklist(Path(self.blocklist))) as blocklist:
                reasons |= {site: f"blocked: {why}" for site, why in blocklist.blocked().items()}
        return {task.id: reasons[task.website] for task in tasks if task.website in reasons}

    def _failing(self) -> dict[str, str]:
        episodes, failed = Counter[str](), Counter[str]()
        for run in self.runs:
            with RunStore.open(Path(run), readonly=True) as store:
                for row, trajectory in store.stream():
                    blocked = trajectory.final is not None and bool(trajectory.final.blocked)
                    episodes[row.website] += 1
                    failed[row.website] += blocked or trajectory.termination is Termination.START_ERROR
        return {
            site: f"unstable: {failed[site]} of {n} episodes failed at its site"
            for site, n in episodes.items()
            if n >= self.min_episodes and failed[site] > self.max_failure_rate * n
        }


class Benchmark(Section):
    """A task file that stays held out."""

    source: str
    """Whose rows it has, such as `online_mind2web`; as `tasks.source` of a recipe."""
    path: str


class BenchmarkOverlap(Filter):
    """Drops tasks that a benchmark has too, in the same words or in nearly the same, and on request those that mean the
    same, and those on its web sites."""

    name: str = "benchmark_overlap"
    benchmarks: list[Benchmark] = Field(min_length=1)
    sites: bool = False
    """Drop all tasks on web sites that a benchmark has tasks on."""
    text_threshold: float = Field(default=0.5, gt=0, le=1)
    """Jaccard similarity of word triples from which two texts are the same task."""
    embedding: Annotated[Embedding, *plug_field(EMBEDDINGS, "ngrams")] | None = None
    """What makes vectors of the texts; not set, they are not compared by meaning."""
    embedding_threshold: float = Field(default=0.9, gt=0, le=1)
    """Cosine similarity of these vectors from which two texts are the same task."""

    def dropped(self, tasks: Sequence[Task], folder: Path) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for benchmark in self.benchmarks:
            theirs = list(load_tasks(benchmark.source, path=benchmark.path))
            for near in near_by_text(tasks, theirs, self.text_threshold):
                found.setdefault(near.task.id, f"text of a benchmark: {near.benchmark.id} ({near.similarity:.2f})")
            if self.embedding is not None:
                texts = [task.instruction for task in (*tasks, *theirs)]
                vectors = self.embedding.embed(texts, folder / "vectors.sqlite")
                for near in near_by_vector(tasks, theirs, vectors, self.embedding_threshold):
                    found.setdefault(
                        near.task.id, f"meaning of a benchmark: {near.benchmark.id} ({near.similarity:.2f})"
                    )
            if self.sites:
                held_out = {task.website for task in theirs}
                for task in tasks:
                    if task.website in held_out:
                        found.setdefault(task.id, f"site of a benchmark: {task.website} ({benchmark.source})")
        return found


class NearDuplicates(Filter):
    """Drops tasks whose text means the same as that of an earlier task (OpenWebRL §4.2: 0.99 for a warm start, 0.95 for
    RL)."""

    name: str = "near_duplicates"
    threshold: float = Field(default=0.95, gt=0, le=1)
    """Cosine similarity of two texts' vectors from which they are the same task."""
    embedding: Annotated[Embedding, *plug_field(EMBEDDINGS, "ngrams")]
    """What makes vectors of the texts: `sentence_transformers` or `endpoint` for meaning, `ngrams` for words alone."""

    def dropped(self, tasks: Sequence[Task], folder: Path) -> Mapping[str, str]:
        vectors = self.embedding.embed([task.instruction for task in tasks], folder / "vectors.sqlite")
        found = near_duplicates(vectors, [self.threshold], part=folder / "pairs.jsonl")[self.threshold]
        return {tasks[each.row].id: f"near-duplicate: {tasks[each.kept].id} ({each.similarity:.3f})" for each in found}


FILTERS: Registry[type[Filter]] = Registry(
    "webdojo.task_filters",
    "task filter",
    *derived_from(Filter),
    {
        "lint": Lint,
        "decomposed": Decomposed,
        "hosts": Hosts,
        "benchmark_overlap": BenchmarkOverlap,
        "near_duplicates": NearDuplicates,
    },
)
"""What a step of a pipeline may be."""
