"""What a task asks for, from its plan, its instruction and the content of its site; the verdict is not looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity
from webdojo.sites.content.words import single
from webdojo.sites.kinds import load_site, parse_host
from webdojo.sites.pages import CatalogSite
from webdojo.sites.sized import SizedSite
from webdojo.types import Task

DO = frozenset(
    single(
        "open narrow act menu drag partner on_map from_map corner corner_page located cart category search open_result "
        "page color under stock region cheapest oldest oldest_region add add_two add_cheapest add_cheapest_color"
    )
)
"""Families whose end is a page or a change, and that ask for no answer."""
LISTS = frozenset(("narrow", "category", "page", "color", "under", "stock", "region", "located"))
"""Families whose end is a list."""
CHANGES = frozenset(("act", "menu", "drag", "add", "add_two", "add_cheapest", "add_cheapest_color"))
"""Families that change something."""
ON_MAP = frozenset(("on_map", "from_map", "corner", "corner_page", "corner_fact", "corners"))


@dataclass(frozen=True)
class Query:
    """A list: its collection, the filters that it has, and the key that it is ordered by (empty: none)."""

    site: CatalogSite
    collection: Collection
    constraints: tuple[Constraint, ...]
    sort: str = ""
    page: int = 1

    @property
    def found(self) -> list[Entity]:
        return self.collection.find(self.constraints, self.sort)

    @property
    def values(self) -> dict[str, str]:
        """The filters as addresses write them."""
        return {key: value for each in self.constraints for key, value in each.query.items()}


@dataclass(frozen=True)
class Target:
    """A thing that a task is about: named, or described as the first of a list."""

    site: CatalogSite
    collection: Collection
    entity: Entity
    described: Query | None = None

    @property
    def path(self) -> str:
        """The address of its page in the layout of the site."""
        path = f"/{self.collection.slug}/{self.entity.slug}"
        return self.site.outward(path) if isinstance(self.site, SizedSite) else path

    def shown(self, attribute: Attribute) -> str:
        """A value of it as pages write it."""
        return attribute.show(self.entity.values[attribute.key])


@dataclass
class Case:
    """A task and what it means."""

    task: Task
    site: CatalogSite
    family: str
    plan: list[dict[str, Any]]
    answer: str
    """What the oracle says at the end."""
    targets: list[Target] = field(default_factory=list)
    """The things that it is about, in the order of the instruction."""
    query: Query | None = None
    """The list that is counted, named or shown."""
    attribute: Attribute | None = None
    """What is asked of the targets."""

    @property
    def host(self) -> str:
        return self.site.host

    @property
    def compact(self) -> bool:
        return self.site.layout == "compact"

    @property
    def layout(self) -> str:
        return "compact" if self.compact else "auto"

    @property
    def asks(self) -> bool:
        """An answer is asked for."""
        return self.family not in DO

    @property
    def target(self) -> Target:
        return self.targets[0]

    @property
    def winner(self) -> Target:
        """Of two things that are compared, the one with the higher value."""
        assert self.attribute is not None
        key = self.attribute.key
        return max(self.targets, key=lambda target: int(target.entity.values[key]))

    @property
    def loser(self) -> Target:
        return next(target for target in self.targets if target is not self.winner)

    @property
    def names(self) -> list[str]:
        """The names that are asked for, in their order."""
        assert self.query is not None
        names = [entity.name for entity in self.query.found]
        return next(names[:count] for count in range(1, len(names) + 1) if ", ".join(names[:count]) == self.answer)

    def steps(self, do: str) -> list[dict[str, Any]]:
        """The sub-goals of the plan of one sort."""
        return [step for step in self.plan if step["do"] == do]


def missing_name(case: Case) -> str:
    """The name of what is asked for and not there."""
    return str(case.plan[0]["text"])


def form_step(case: Case) -> dict[str, Any]:
    """The first form that the plan sends."""
    return case.steps("form")[0]


def query_of(case: Case) -> Query:
    """The list of a task that asks for one."""
    assert case.query is not None
    return case.query


def site_at(task: Task, host: str = "") -> CatalogSite:
    """The site of a task, or of another host in the same layout."""
    return load_site(*parse_host(host or task.website), task.metadata.get("layout", "compact"))


def query_at(site: CatalogSite, path: str) -> Query | None:
    """The list at an address; None: it is no list of a collection."""
    inward = site.inward(path) if isinstance(site, SizedSite) else path
    parts = urlsplit(inward)
    slug = parts.path.strip("/")
    if slug not in site.collections:
        return None
    values = dict(parse_qsl(parts.query))
    collection = site.collections[slug]
    sort = values.get("sort", "")
    return Query(site, collection, tuple(collection.asked(values)), sort, int(values.get("page", "1")))


def entity_at(site: CatalogSite, path: str) -> tuple[Collection, Entity] | None:
    """The thing whose page has an address."""
    inward = site.inward(path) if isinstance(site, SizedSite) else path
    slug, _, name = urlsplit(inward).path.strip("/").partition("/")
    collection = site.collections.get(slug)
    if collection is None or name not in collection.by_slug:
        return None
    return collection, collection.by_slug[name]


def case_of(task: Task) -> Case:
    """What a task means."""
    plan = task.metadata["plan"]
    site, end = site_at(task), plan[-1]
    case = Case(task, site, task.metadata["goal"], plan, end["answer"])
    pending: Query | None = None
    for step in plan:
        here = site_at(task, step.get("site", ""))
        if step["do"] == "visit":
            if (found := entity_at(here, step["path"])) is not None:
                if not any(t.entity is found[1] and t.site is here for t in case.targets) or pending is not None:
                    case.targets.append(Target(here, *found, pending))
                pending = None
            elif (query := query_at(here, step["path"])) is not None:
                if step["note"].endswith(" is first."):
                    pending = query
                else:
                    case.query = query
        elif step["do"] == "marker" and not any(t.entity.slug == step["marker"] for t in case.targets):
            case.targets.append(Target(here, here.main, here.main.by_slug[step["marker"]]))
        elif step["do"] == "add":
            case.targets.append(Target(here, here.main, here.main.by_slug[step["item"]], pending))
            pending = None
        elif step["do"] == "menu":
            found = entity_at(here, step["item"])
            assert found is not None
            case.targets.append(Target(here, *found, pending))
            pending = None
    if case.family == "price":
        name = end["because"].removeprefix("Price of ").rpartition(" is ")[0]
        entity = next(each for each in site.main.entities if each.name == name)
        case.targets, case.query = [Target(site, site.main, entity)], None
    case.attribute = _attribute(case, end["because"])
    return case


def _attribute(case: Case, because: str) -> Attribute | None:
    """What is asked of the targets; the reason at the end begins with its label."""
    if not case.asks or not case.targets or case.family == "refused":
        return None
    collection = case.targets[0].collection
    fitting = [a for a in collection.attributes if because.startswith((f"{a.label} is ", f"{a.label} of "))]
    return max(fitting, key=lambda attribute: len(attribute.label), default=None)
