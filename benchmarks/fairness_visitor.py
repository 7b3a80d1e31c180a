"""A person's browser without the browser: it follows the links and sends the forms that pages have, by real HTTP.

Requests carry what Chromium sends. `Referer` is the address of the page whose link, form or script led here (its origin
where that is another host), and absent where an address was typed. `Sec-Fetch-Dest` says whether a page, a frame or a
script asks. Frames, late parts and map cards come along with the page that has them. All that was on screen stays in
`views`, so that a class can tell what the session was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx
from fairness_page import Link, Node, Page, Thing, controls

from webdojo.sites.serving.server import SiteServer

T = TypeVar("T")


class CannotGoError(Exception):
    """The page at hand has no such link, form or control, so a person could not go this way."""


@dataclass
class _Entry:
    """An entry of a tab's history."""

    url: str
    referrer: str


@dataclass
class _Tab:
    entries: list[_Entry] = field(default_factory=list)
    page: Page | None = None


def address(url: str) -> str:
    """Path with query of a URL."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def query_of(url: str) -> dict[str, str]:
    """The query of a URL by key, without empty values."""
    return dict(parse_qsl(urlsplit(url).query))


class Visitor:
    """One session on the embedded sites."""

    def __init__(self, server: SiteServer, session: str, layout: str, start_url: str) -> None:
        self._server, self._session = server, session
        self._headers = server.headers(session, layout)
        self._client = httpx.Client(base_url=f"http://{server.address}", timeout=30, trust_env=False, verify=False)
        self._tabs = [_Tab()]
        self.views: list[Page] = []
        """All pages and parts that were on screen, in order."""
        self.log: list[str] = []
        """What was done, for reports."""
        self.type_address(start_url)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()
        self._server.end(self._session)

    @property
    def page(self) -> Page:
        """The page at hand."""
        page = self._tabs[-1].page
        assert page is not None
        return page

    @property
    def url(self) -> str:
        """What the address bar says."""
        return self.page.url

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def state(self) -> dict[str, Any]:
        """What the server knows of the session."""
        return self._server.state(self._session)

    def type_address(self, url: str) -> None:
        """Write an address into the address bar; a path is one of the host at hand."""
        url = url if "://" in url else urljoin(self.url, url)
        self.log.append(f"types {url}")
        self._navigate("GET", url, "")

    @property
    def links(self) -> list[Link]:
        """The links of the page at hand, with those of the parts that came by themselves."""
        return [link for page in (self.page, *self.page.parts) for link in page.links]

    def follow(self, link: Link) -> None:
        """Click a link of the page at hand, or of one of its parts."""
        self.log.append(f"clicks “{link.text[:50]}” to {address(link.url)}")
        frames = [part for part in self.page.parts if part.came == "frame" and link in part.links]
        referer = _referer((frames[0] if frames else self.page).url, link.url)
        if link.new_tab:
            self._tabs.append(_Tab())
        self._navigate("GET", link.url, referer)

    def open_text(self, text: str) -> None:
        """Click the first link with this text."""
        self.follow(_first([link for link in self.links if link.text == text], f"link “{text}”"))

    def open_path(self, path: str) -> None:
        """Click the first link that leads to this path with query; one without a host is of the host at hand."""
        wanted = _key(urljoin(self.url, path))
        self.follow(_first([link for link in self.links if _key(link.url) == wanted], f"link to {path}"))

    def has_path(self, path: str) -> bool:
        """Whether the page at hand has a link to this path with query."""
        wanted = _key(urljoin(self.url, path))
        return any(_key(link.url) == wanted for link in self.links)

    def home(self) -> None:
        """Click the name of the site."""
        if urlsplit(self.url).path != "/":
            self.open_path("/")

    def back(self) -> None:
        """Go back in the history; a tab that a link opened is closed instead where it has no history."""
        self.log.append("goes back")
        tab = self._tabs[-1]
        if len(tab.entries) == 1 and len(self._tabs) > 1:
            self._tabs.pop()
            self.log.append(f"is at {address(self.url)} again")
            return
        if len(tab.entries) < 2:
            raise CannotGoError("there is nothing to go back to")
        tab.entries.pop()
        entry = tab.entries.pop()
        self._navigate("GET", entry.url, entry.referrer)

    def search(self, text: str) -> None:
        """Send the search form of the page."""
        forms = [form for form in self.page.forms if form.get("role") == "search"]
        self.log.append(f"searches for “{text}”")
        self.send(_first(forms, "search form"), {"q": text})

    def narrow(self, key: str, value: str) -> None:
        """Set one control of a list: a filter or its order; an empty value takes it away."""
        self.log.append(f"sets {key} to {value or 'any'}")
        forms = [form for form in self.page.forms if "filters" in form.get("class").split()]
        if forms:
            if key not in controls(forms[0]):
                raise CannotGoError(f"no control for {key}")
            self.send(forms[0], {key: value})
            return
        now = {each: text for each, text in query_of(self.url).items() if each != "page"}
        wanted = {each: text for each, text in {**now, key: value}.items() if text}
        here = urlsplit(self.url).path
        found = [
            link
            for link in self.page.links
            if urlsplit(link.url).path == here and _folded(query_of(link.url)) == _folded(wanted)
        ]
        self.follow(_first(found, f"control for {key}={value}"))

    def more(self) -> bool:
        """Show the next part of the list at hand; False where it has ended."""
        if self.page.root.has("data-more"):
            return self._grow()
        now, here = int(query_of(self.url).get("page", "1")), urlsplit(self.url).path
        for link in self.page.links:
            query = query_of(link.url)
            if urlsplit(link.url).path == here and query.get("page") == str(now + 1):
                rest = {key: value for key, value in query.items() if key != "page"}
                if _folded(rest) == _folded({k: v for k, v in query_of(self.url).items() if k != "page"}):
                    self.follow(link)
                    return True
        return False

    def _grow(self) -> bool:
        """A list that grows fetches its next part and takes over that part's address."""
        last = next((part for part in reversed(self.page.parts) if part.came == "grown"), self.page)
        if not (navs := last.root.has("data-more")):
            return False
        to = urljoin(self.url, navs[0].all("a")[0].get("href"))
        self.log.append(f"scrolls on to {address(to)}")
        part = self._fetch(to, "grown", self.url)
        self.page.parts.append(part)
        self.page.url = self._tabs[-1].entries[-1].url = to
        return True

    def send(self, form: Node, values: Mapping[str, str], source: Page | None = None) -> None:
        """Fill in controls of a form and send it; all others are sent as they are."""
        known, filled = controls(form), []
        if unknown := values.keys() - known.keys():
            raise CannotGoError(f"the form has no control {', '.join(sorted(unknown))}")
        for key, control in known.items():
            given = control.filled(values[key]) if key in values else control.values
            if given is None:
                raise CannotGoError(f"{key} cannot be {values[key]!r}")
            filled += [(key, each) for each in given]
        source = source or self.page
        to = urljoin(source.url, form.get("action") or address(source.url))
        self.log.append(f"sends a form to {address(to)}: {dict(filled)}")
        method, body = form.get("method", "get").upper(), urlencode(filled)
        if method == "GET":
            parts = urlsplit(to)
            to, body = f"{parts.scheme}://{parts.netloc}{parts.path}?{body}", ""
        if source.came == "frame":
            source.url, response = self._load(method, to, "iframe", _referer(source.url, to), body)
            self.page.parts[self.page.parts.index(source)] = self._part(source.url, response, "frame")
        else:
            self._navigate(method, to, _referer(source.url, to), body)

    def locate(self, values: Mapping[str, str]) -> None:
        """Send the form that leads to a list of places."""
        self.send(
            _first([form for form in self.page.forms if "locator" in form.get("class").split()], "locator"), values
        )

    def form(self, action: str) -> tuple[Node, Page]:
        """The form that is sent to a path, and the page or frame that has it."""
        for page in (self.page, *self.page.parts):
            for form in page.forms:
                if urlsplit(urljoin(page.url, form.get("action"))).path == action:
                    return form, page
        raise CannotGoError(f"no form is sent to {action}")

    def offer(self, name: str, action: str, values: Mapping[str, str] | None = None) -> None:
        """Right-click a thing in a list and take the entry of its menu that is sent to `action`."""
        for thing in self.things():
            for text, to, _, own in thing.offers:
                if thing.name == name and to == action and (values is None or dict(values) == own):
                    self.log.append(f"right-clicks “{name}” and takes “{text}”")
                    url = urljoin(self.url, to)
                    self._navigate("POST", url, _referer(self.url, url), urlencode(own))
                    return
        raise CannotGoError(f"no menu of {name} offers {action}")

    def drag(self, card: str, column: str) -> None:
        """Drag a card of a board to a column."""
        board = _first(self.page.root.has("data-board"), "board")
        cards = {node.get("data-card") for node in board.has("data-card")}
        columns = {node.get("data-column") for node in board.has("data-column")}
        if card not in cards or column not in columns:
            raise CannotGoError(f"no card {card} or column {column}")
        self.log.append(f"drags {card} to {column}")
        url = urljoin(self.url, board.all("form")[0].get("action"))
        self._navigate("POST", url, _referer(self.url, url), urlencode({"card": card, "column": column}))

    def click_marker(self, slug: str) -> Page:
        """Click a marker of the map; its card takes the place of the one before."""
        if not any(node.get("data-marker") == slug for node in self.page.root.has("data-marker")):
            raise CannotGoError(f"the page has no marker {slug}")
        self.log.append(f"clicks the marker {slug}")
        card = self._fetch(urljoin(self.url, f"/map/card/{slug}"), "card", self.url)
        self.page.parts = [card]
        return card

    def things(self) -> list[Thing]:
        """The things in the lists of the page at hand, with what came by itself."""
        return [thing for page in (self.page, *self.page.parts) for thing in page.things]

    def _navigate(self, method: str, url: str, referer: str, body: str = "") -> None:
        url, response = self._load(method, url, "document", referer, body)
        page = Page(url, response.status_code, response.text)
        tab = self._tabs[-1]
        tab.entries.append(_Entry(url, referer))
        tab.page = page
        self.views.append(page)
        for frame in page.root.all("iframe"):
            host = frame.get("data-host")
            to = f"http://{host}{frame.get('data-path')}" if host else urljoin(url, frame.get("src"))
            page.parts.append(self._fetch(to, "frame", url))
        for late in page.root.has("data-late"):
            page.parts.append(self._fetch(urljoin(url, late.get("data-late")), "late", url))

    def _fetch(self, url: str, came: str, page_url: str) -> Page:
        """Get a part of the page at hand."""
        dest = "iframe" if came == "frame" else "empty"
        _, response = self._load("GET", url, dest, _referer(page_url, url))
        return self._part(url, response, came)

    def _part(self, url: str, response: httpx.Response, came: str) -> Page:
        part = Page(url, response.status_code, response.text, came=came)
        self.views.append(part)
        return part

    def _load(self, method: str, url: str, dest: str, referer: str, body: str = "") -> tuple[str, httpx.Response]:
        """Send a request and go where it is redirected to: the address in the end, and the answer."""
        headers = {"Sec-Fetch-Dest": dest, **({"Referer": referer} if referer else {})}
        response = self._request(method, url, headers, body)
        while response.status_code == 303:
            url = urljoin(url, response.headers["location"])
            response = self._request("GET", url, headers, "")
        return url, response

    def _request(self, method: str, url: str, headers: dict[str, str], body: str) -> httpx.Response:
        # A kept connection would wait some 40 ms for each answer (Nagle's algorithm and delayed acknowledgements).
        own = {**self._headers, **headers, "Host": urlsplit(url).netloc, "Connection": "close"}
        if method == "POST":
            own["Content-Type"] = "application/x-www-form-urlencoded"
        return self._client.request(method, address(url), headers=own, content=body.encode() or None)


def _first(found: Sequence[T], what: str) -> T:
    if not found:
        raise CannotGoError(f"the page has no {what}")
    return found[0]


def _referer(source: str, to: str) -> str:
    """What Chromium tells a page of where the visitor comes from: the address, or to another host its origin."""
    here, there = urlsplit(source), urlsplit(to)
    return source if here.netloc == there.netloc else f"{here.scheme}://{here.netloc}/"


def _key(url: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """A URL so that two ways to write the same one are equal."""
    parts = urlsplit(url)
    return parts.netloc, parts.path, tuple(sorted(parse_qsl(parts.query)))


def _folded(query: Mapping[str, str]) -> dict[str, str]:
    return {key: value.lower() for key, value in query.items()}
