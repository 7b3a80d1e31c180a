"""Rules for the address of the page that an agent left."""

from __future__ import annotations

from collections import defaultdict
from urllib.parse import SplitResult, parse_qs, unquote, urlparse, urlsplit

from webdojo.reward.webarena.rules import Rules
from webdojo.reward.webarena.spec import UrlMatch

_PORTS = {"http": 80, "https": 443}


def matches(check: UrlMatch, url: str, rules: Rules) -> bool:
    """Whether an address fits one of the references."""
    if rules.strict_lite:
        return _published_lite(check, url)
    if rules.strict_compat:
        return _published(check, url)
    return any(_fits(reference, url, check.exact) for reference in check.references)


def _fits(reference: str, url: str, exact: bool) -> bool:
    """Whether an address is a reference, or with `exact` false a page under it: on the same site, with the segments of
    its path at the beginning, and with each value of its query."""
    wanted, given = urlsplit(reference.strip()), urlsplit(url)
    path, begins = _segments(given), _segments(wanted)
    if _site(wanted) != _site(given):
        return False
    if exact:
        rest = (wanted.query, wanted.fragment) == (given.query, given.fragment)
        return rest and path == begins and wanted.scheme == given.scheme
    query = parse_qs(given.query)
    values = ((key, value) for key, all_values in parse_qs(wanted.query).items() for value in all_values)
    return path[: len(begins)] == begins and all(value in query.get(key, []) for key, value in values)


def _site(parts: SplitResult) -> tuple[str, int | None]:
    host = parts.hostname or ""
    return "127.0.0.1" if host == "localhost" else host, parts.port or _PORTS.get(parts.scheme)


def _segments(parts: SplitResult) -> list[str]:
    return [unquote(segment) for segment in parts.path.split("/") if segment]


def _published(check: UrlMatch, url: str) -> bool:
    """WebArena's rule as it was published."""
    given = urlparse(url.rstrip("/"))
    path, query = given.netloc + given.path, parse_qs(given.query)
    bases, wanted = [], defaultdict[str, set[str]](set)
    for reference in check.references:
        parts = urlparse(reference.rstrip("/"))
        bases.append(parts.netloc + parts.path)
        for key, values in parse_qs(parts.query).items():
            wanted[key].update(values)
    return any(base in path for base in bases) and all(
        any(value in query.get(key, []) for value in values) for key, values in wanted.items()
    )


def _published_lite(check: UrlMatch, url: str) -> bool:
    """WebArena-Lite's rule as it was published."""

    def cleaned(url: str) -> str:
        return url.replace("localhost", "127.0.0.1").removesuffix("/")

    references = [cleaned(reference) for reference in check.references]
    return cleaned(url) in references if check.exact else any(each in cleaned(url) for each in references)
