"""What a page shows to a person, read from its HTML: texts, links, forms, things in lists, and values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from urllib.parse import urljoin

from webdojo.sites.content.words import single

_VOID = frozenset(single("area base br col embed hr img input link meta source track wbr"))
_UNSEEN = frozenset(("head", "script", "style", "svg", "template", "title"))
_DROPPED = re.compile(r"<(style|svg|script)\b.*?</\1>", re.DOTALL)


@dataclass
class Node:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """The element and all below it, in the order of the page."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, *tags: str, **attributes: str) -> list[Node]:
        """The elements below it with one of these tags, whose attributes hold these words."""
        return [
            node
            for node in self.walk()
            if (not tags or node.tag in tags) and all(word in node.get(key).split() for key, word in attributes.items())
        ]

    def has(self, key: str) -> list[Node]:
        """The elements below it with this attribute."""
        return [node for node in self.walk() if key in node.attributes]

    def get(self, key: str, default: str = "") -> str:
        return self.attributes.get(key.rstrip("_").replace("_", "-"), default)

    @property
    def text(self) -> str:
        """Its visible text, in one line."""
        return " ".join(" ".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        if self.tag in _UNSEEN or "hidden" in self.attributes or self.tag == "option":
            return
        for child in self.children:
            if isinstance(child, Node):
                yield from child._texts()
            else:
                yield child


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {key: value or "" for key, value in attrs})
        self._open[-1].children.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        depth = next((i for i in reversed(range(1, len(self._open))) if self._open[i].tag == tag), 0)
        if depth:
            del self._open[depth:]

    def handle_data(self, data: str) -> None:
        if data.strip():
            self._open[-1].children.append(data)


@dataclass(frozen=True)
class Link:
    """A link with the address that it leads to."""

    text: str
    url: str
    new_tab: bool


@dataclass(frozen=True)
class Control:
    """A control of a form: its kind, the values that it sends as it stands, and those that can be chosen."""

    kind: str
    values: tuple[str, ...]
    options: tuple[str, ...] = ()

    def filled(self, text: str) -> tuple[str, ...] | None:
        """What it sends when it is set to a text; None: it cannot be set to that."""
        if not self.options:
            return (text,)
        wanted = tuple(text.split(", ")) if self.kind == "checkbox" and text not in self.options else (text,)
        wanted = tuple(each for each in wanted if each or "" in self.options)
        return tuple(each for each in self.options if each in wanted) if set(wanted) <= set(self.options) else None


def controls(form: Node) -> dict[str, Control]:
    """The controls of a form by name, in their order."""
    found: dict[str, Control] = {}
    for node in form.all("input", "select", "textarea"):
        name, kind = node.get("name"), node.get("type", "text") if node.tag == "input" else node.tag
        if not name:
            continue
        if node.tag == "select":
            options = tuple(option.get("value", _inner(option)) for option in node.all("option"))
            chosen = [option.get("value", _inner(option)) for option in node.all("option") if _is(option, "selected")]
            found[name] = Control(kind, tuple(chosen or options[:1]), options)
        elif kind in ("checkbox", "radio"):
            before = found.get(name, Control(kind, ()))
            ticked = (node.get("value"),) if _is(node, "checked") else ()
            found[name] = Control(kind, before.values + ticked, (*before.options, node.get("value")))
        else:
            found[name] = Control(kind, (_inner(node) if node.tag == "textarea" else node.get("value"),))
    return found


def _is(node: Node, key: str) -> bool:
    return key in node.attributes


def _inner(node: Node) -> str:
    return "".join(child for child in node.children if isinstance(child, str)).strip()


@dataclass(frozen=True)
class Thing:
    """One thing in a list: its name, address, and what the list says about it by label; a number without one has ``."""

    name: str
    url: str
    values: dict[str, str]
    offers: tuple[tuple[str, str, str, dict[str, str]], ...] = ()
    """The entries of its right-click menu: text, address, question and values of the form."""


@dataclass
class Page:
    """A page as its window shows it; `parts` came by themselves: frames, late parts and what a script fetched."""

    url: str
    status: int
    html: str
    parts: list[Page] = field(default_factory=list)
    came: str = ""
    """How it came, if it is no page of its own: as `frame`, `late` part, map `card`, or what a list was `grown` by."""

    @cached_property
    def root(self) -> Node:
        reader = _Reader()
        reader.feed(_DROPPED.sub("", self.html))
        return reader.root

    @cached_property
    def text(self) -> str:
        return self.root.text

    @property
    def all_text(self) -> str:
        """The text of the page and of its parts."""
        return " ".join((self.text, *(part.all_text for part in self.parts)))

    @cached_property
    def links(self) -> list[Link]:
        return [
            Link(node.text, urljoin(self.url, node.get("href")), node.get("target") == "_blank")
            for node in self.root.all("a")
            if node.get("href") and not node.get("href").startswith("#")
        ]

    @cached_property
    def forms(self) -> list[Node]:
        return self.root.all("form")

    @cached_property
    def heading(self) -> str:
        """The text of its `h1`, without a note beside it."""
        found = self.root.all("h1")
        if not found:
            return ""
        notes = [note for note in found[0].all("span") if "margin-left" in note.get("style")]
        text = found[0].text
        return text.removesuffix(notes[0].text).strip() if notes else text

    @cached_property
    def lead(self) -> str:
        """The line below the heading, such as `21 articles`."""
        return next((node.text for node in self.root.all("p", class_="lead")), "")

    @cached_property
    def notices(self) -> list[str]:
        return [node.text for node in self.root.all("section", class_="notice")]

    @cached_property
    def tables(self) -> list[list[list[str]]]:
        """Tables as rows of texts, the head first."""
        return [
            [[cell.text for cell in row.all("td", "th")] for row in table.all("tr")] for table in self.root.all("table")
        ]

    @cached_property
    def details(self) -> dict[str, str]:
        """What the page of a thing says of it, by label."""
        found = [node for group in self.root.all("dl", class_="facts") for node in group.all("div")]
        values = {node.all("dt")[0].text: node.all("dd")[0].text for node in found}
        for row in self.root.all(class_="fact"):
            notes = [note.text for note in row.all("span") if "margin-left" in note.get("style")]
            text = row.text
            label, _, value = (text.removesuffix(notes[0]).strip(), "", notes[0]) if notes else text.partition(" ")
            values[label] = value
        return values

    @cached_property
    def things(self) -> list[Thing]:
        """The things in its lists, in their order."""
        return [*self._cards(), *self._rows(), *self._grid_rows()]

    def _cards(self) -> Iterator[Thing]:
        for node in self.root.all(class_="card"):
            link = node.all("a")[0]
            pairs = [pair for brief in node.all("dl") for pair in brief.all("div")]
            values = {pair.all("dt")[0].text: pair.all("dd")[0].text for pair in pairs}
            yield Thing(link.all("span", class_="name")[0].text, self._to(link), values, _offers(node))
        for node in self.root.has("data-card"):
            yield Thing(node.all("a")[0].text, self._to(node.all("a")[0]), {}, _offers(node))

    def _rows(self) -> Iterator[Thing]:
        for section in self.root.all("section", class_="results"):
            for table in section.all("table"):
                head = [cell.text for cell in table.all("thead")[0].all("th")][1:]
                for row in table.all("tbody")[0].all("tr"):
                    values = [cell.text for cell in row.all("td")]
                    link = row.all("a")[0]  # results of several collections share the head of the first
                    yield Thing(link.text, self._to(link), dict(zip(head, values, strict=False)), _offers(row))

    def _grid_rows(self) -> Iterator[Thing]:
        for row in self.root.all(class_="item"):
            for link in row.all("a"):
                numbers = re.findall(r"\$?\d+", link.text)
                name = " ".join(re.findall(r"[A-Z][a-z]+", link.text))
                yield Thing(name, self._to(link), {"": numbers[0]} if numbers else {})

    def _to(self, link: Node) -> str:
        return urljoin(self.url, link.get("href"))


def _offers(node: Node) -> tuple[tuple[str, str, str, dict[str, str]], ...]:
    if not node.get("data-offers"):
        return ()
    return tuple(
        (text, action, question, values) for text, action, question, values in json.loads(node.get("data-offers"))
    )
