"""What a web site shows: a few of its pages, as titles, headings, controls and text.

The crawl is as polite as an episode there: each page waits for `Environment.admit`, which honours robots.txt and the
pace at a host. It stays on the host where it began, and follows no link that reads as if it did something.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from pydantic import BaseModel, ValidationError

from webdojo.browser.interface import Pool, Session
from webdojo.browser.page.snapshot import Snapshot
from webdojo.envs.env import Environment
from webdojo.errors import StartError
from webdojo.store.files import write_atomic, writing
from webdojo.types import Task, ToolCall

MOST_CONTROLS = 40
MOST_TEXTS = 40
LONGEST = 80
"""Characters of a heading, a control's name or a text that are kept."""

_LINKS = "() => [...document.links].map(link => link.href)"
_ACTS = re.compile(
    r"log-?(?:in|out|off)|sign-?(?:in|out|off|up)|register|account|delete|remove|unsubscribe|checkout|basket|cart|buy|"
    r"download|\.(?:pdf|zip|gz|png|jpe?g|mp[34]|exe|dmg|xml|json|csv)$",
    re.IGNORECASE,
)


class Page(BaseModel):
    """What one page shows."""

    url: str
    title: str
    headings: list[str]
    controls: list[str]
    """Role and name of each, such as `link Opening hours`."""
    texts: list[str]


class Visited(BaseModel):
    """What was seen of a site."""

    pages: list[Page]
    why_not: str = ""
    """Why there is no page: it cannot be reached, turns robots away, or its robots.txt forbids it."""


async def crawl(site: str, env: Environment, pool: Pool[Session], most_pages: int) -> Visited:
    """Look at a site's first page and at some that it links to.

    Raises:
        BrowserError: the browser or its server is lost.
    """
    task = Task(
        id=f"crawl:{site}",
        instruction="Look around.",
        start_url=site,
        website=urlsplit(site).hostname or "",
        kind=env.kind_of(site),
    )
    try:
        await env.admit(task)
        visit = await env.visit(task)
        try:
            session = await pool.open(visit.start_url, visit.headers, visit.storage_state)
            try:
                return await _look_around(session, task, env, most_pages)
            finally:
                await session.close()
        finally:
            await env.leave(visit)
    except StartError as error:
        return Visited(pages=[], why_not=str(error))


async def _look_around(session: Session, task: Task, env: Environment, most_pages: int) -> Visited:
    pages: list[Page] = []
    left, seen = [task.start_url], {task.start_url}
    host = ""
    while left and len(pages) < most_pages:
        url = left.pop(0)
        if pages:
            try:
                await env.admit(task.model_copy(update={"start_url": url}))
            except StartError:
                continue
            await session.act([ToolCall(name="goto_url", arguments={"url": url})])
        shown = await session.observe()
        if why := shown.blocked or shown.dead:
            if not pages:
                return Visited(pages=[], why_not=f"{shown.url}: {why}")
            continue
        host = host or urlsplit(shown.url).netloc
        if urlsplit(shown.url).netloc != host or shown.url in (page.url for page in pages):  # it led elsewhere
            continue
        pages.append(page_of(await session.snapshot()))
        (links,) = await session.read([_LINKS])
        if len(pages) == 1 and isinstance(links.value, list):
            left = to_follow([str(link) for link in links.value], host, seen | {shown.url})
    return Visited(pages=pages)


def to_follow(links: Sequence[str], host: str, seen: Iterable[str]) -> list[str]:
    """Links worth a look, in the order in which to follow them: those of other sections of the site first."""
    known, sections = {urldefrag(url).url for url in seen}, Counter[str]()
    found: list[tuple[int, str]] = []
    for link in links:
        url, parts = urldefrag(link).url, urlsplit(link)
        if url in known or parts.scheme not in ("http", "https") or parts.netloc != host:
            continue
        if _ACTS.search(f"{parts.path}?{parts.query}".rstrip("?")):
            continue
        known.add(url)
        section = parts.path.strip("/").partition("/")[0]
        found.append((sections[section], url))
        sections[section] += 1
    return [url for _, url in sorted(found, key=lambda each: each[0])]


def page_of(snapshot: Snapshot) -> Page:
    nodes = [node for node in snapshot.nodes if node.name.strip()]
    controls = [f"{node.role} {_short(node.name)}" for node in nodes if node.control]
    return Page(
        url=snapshot.url,
        title=_short(snapshot.title),
        headings=_once([_short(node.name) for node in nodes if node.role == "heading"], MOST_CONTROLS),
        controls=_once(controls, MOST_CONTROLS),
        texts=_once([_short(node.name) for node in nodes if node.role == "text"], MOST_TEXTS),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _once(texts: Sequence[str], most: int) -> list[str]:
    return list(dict.fromkeys(texts))[:most]


class Crawls:
    """What was seen of sites, in a file for each, so that a site is not visited again."""

    def __init__(self, folder: Path, most_pages: int) -> None:
        self._folder = folder / "pages"
        self._most_pages = most_pages

    def get(self, site: str) -> Visited | None:
        """What was seen of a site before; None where it was not visited, or could not be."""
        try:
            return Visited.model_validate_json(self._file(site).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    async def look(self, site: str, env: Environment, pool: Pool[Any]) -> Visited:
        """What was seen of a site before, or what is seen now. Raises as `crawl`."""
        if (known := self.get(site)) is not None:
            return known
        found = await crawl(site, env, pool, self._most_pages)
        if found.pages:
            with writing(self._folder):
                self._folder.mkdir(exist_ok=True)
            write_atomic(self._file(site), f"{found.model_dump_json(indent=1)}\n".encode())
        return found

    def _file(self, site: str) -> Path:
        digest = hashlib.sha256(f"{site} {self._most_pages}".encode()).hexdigest()[:12]
        return self._folder / f"{urlsplit(site).hostname}-{digest}.json"
