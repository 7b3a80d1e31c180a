"""The compact pages and tasks stay as they are: the shipped tiny model was taught on them."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from webdojo.sites import COMPACT_KINDS, HELDOUT_SEED
from webdojo.sites.design.render import render
from webdojo.sites.kinds import load_site
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Redirect, Request
from webdojo.sites.taskgen import SPLITS, make_tasks, stream
from webdojo.types import Task

TASKS = {
    0: "4725593f5149a727",
    1: "ecc1423a81f77b29",
    2: "0c2ecd6fc4de3575",
}
STREAMS = {
    "train": "aaf43a6072f7e86d",
    "valid": "1ee7ac46e4c204ec",
    "test_phrasings": "4acae6bd6de356f9",
}
PAGES = {
    ("shop", 0): "9394eb4dfc3395d1",
    ("shop", 1): "7d7bae6bd0ad39e1",
    ("shop", 2): "f845d80764db979c",
    ("shop", 3): "1bc588873497f864",
    ("shop", HELDOUT_SEED): "393ad1a853cde42b",
    ("wiki", 0): "8721fcb30791e498",
    ("wiki", 1): "05f3b991331fd454",
    ("wiki", 2): "1410c26411b3c220",
    ("wiki", 3): "9a333ba1a8488ca9",
    ("wiki", HELDOUT_SEED): "098b20071a437bac",
}
"""Of all pages and ways, by kind and seed."""
CARTS = {
    0: "53c2a4dbaf39de38",
    1: "fd2abde91741bec4",
    2: "732635809e4b8ae7",
}


def digest(parts: Iterable[object]) -> str:
    text = "\n".join(json.dumps(part, sort_keys=True) for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def dumped(tasks: Iterable[Task]) -> Iterator[object]:
    return (task.model_dump(mode="json", exclude={"evaluator": True, "metadata": {"rubric"}}) for task in tasks)


def answer(site: CatalogSite, method: str, path: str, overlay: Overlay, **values: str) -> object:
    """What a session gets."""
    parts = urlsplit(path)
    reply = site.respond(Request(method, parts.path, values or dict(parse_qsl(parts.query))), overlay)
    if isinstance(reply, Redirect):
        return reply.path
    return reply.status, reply.title, render(site, reply, overlay, "compact")


@pytest.mark.parametrize("seed", range(3))
def test_tasks_stay_the_same(seed: int) -> None:
    drawn = [*make_tasks(list(COMPACT_KINDS), range(100), 2000, seed, layout="compact")]
    for difficulty in (1, 2, 3, 4):
        heldout = range(HELDOUT_SEED, HELDOUT_SEED + 50)
        drawn += make_tasks(list(COMPACT_KINDS), heldout, 250, seed, [difficulty], layout="compact")
    assert digest(dumped(drawn)) == TASKS[seed]


@pytest.mark.parametrize("split", ["train", "valid", "test_phrasings"])
def test_streams_stay_the_same(split: str) -> None:
    tasks = stream(split, kinds=COMPACT_KINDS, layout="compact")
    assert split in SPLITS and digest(dumped(next(tasks) for _ in range(500))) == STREAMS[split]


@pytest.mark.parametrize("kind", COMPACT_KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2, 3, HELDOUT_SEED])
def test_pages_stay_the_same(kind: str, seed: int) -> None:
    site = load_site(kind, seed, "compact")
    paths = [*site.paths(), "/nowhere", "/search?q=zzz", "/search?q=", "/products", "/articles", "/c/none", "/a/none"]
    lists = [path for path in paths if path.startswith(("/c/", "/t/")) and "?" not in path]
    paths += [f"{path}?{query}" for path in lists for query in ("page=99", "page=x")]
    offered = " ".join(str(answer(site, "GET", path, Overlay())) for path in list(site.paths())[::3])
    paths += sorted({unescape(link) for link in re.findall(r'href="(/[^"]*)"', offered)} - set(paths))
    ways = [[*site.way_to(path), site.reason(path)] for path in site.paths()]
    assert digest([*(answer(site, "GET", path, Overlay()) for path in paths), *ways]) == PAGES[kind, seed]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_carts_stay_the_same(seed: int) -> None:
    site, overlay = load_site("shop", seed, "compact"), Overlay()
    things = [path.removeprefix("/p/") for path in site.paths() if path.startswith("/p/")]
    seen: list[object] = []
    for thing in (*things[::7], *things[::14]):
        seen += [answer(site, "POST", "/cart/add", overlay, item=thing), dict(overlay.state)]
        seen += [answer(site, "GET", path, overlay) for path in ("/cart", f"/added/{thing}", "/", f"/p/{thing}")]
    for thing in things[::3]:
        seen += [answer(site, "POST", "/cart/remove", overlay, item=thing), dict(overlay.state)]
        seen.append(answer(site, "GET", "/cart", overlay))
    seen += [answer(site, "POST", path, overlay, item="nothing") for path in ("/cart/add", "/cart", "/")]
    assert digest(seen) == CARTS[seed]
