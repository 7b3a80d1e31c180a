"""What every kind of site that is made of collections and actions keeps to."""

import random
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from webdojo.sites import LAYOUTS
from webdojo.sites.blocks import Form, Frame
from webdojo.sites.catalog_goals import draw_goal
from webdojo.sites.design.render import render
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.taskgen import make_tasks

SEEDS = range(4)


def catalog(kind: str, seed: int, layout: str = "auto") -> CatalogSite:
    site = load_site(kind, seed, layout)
    assert isinstance(site, CatalogSite)
    return site


def get(site: CatalogSite, path: str, overlay: Overlay) -> Page | Redirect:
    parts = urlsplit(path)
    return site.respond(Request("GET", parts.path, dict(parse_qsl(parts.query))), overlay)


@pytest.mark.parametrize("kind", KINDS)
def test_content_is_a_function_of_the_seed(kind: str) -> None:
    site, again, other = (type(catalog(kind, 0))(seed) for seed in (5, 5, 6))
    assert site.collections == again.collections
    assert site.tagline == again.tagline and site.actions == again.actions
    assert site.main.entities != other.main.entities


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_names_and_slugs_are_unique(kind: str, seed: int) -> None:
    for collection in catalog(kind, seed).collections.values():
        assert len({entity.slug for entity in collection.entities}) == len(collection.entities)
        assert len({entity.name for entity in collection.entities}) == len(collection.entities)
        assert not {entity.name for entity in collection.entities} & set(collection.absent)
        assert all(re.fullmatch(r"[\w-]+", entity.slug) for entity in collection.entities)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_entities_have_what_lists_show_and_their_texts_tell_no_number(kind: str, seed: int) -> None:
    for collection in catalog(kind, seed).collections.values():
        listed = {a.key for a in collection.attributes if a.listed or a.filter or a.sort}
        for entity in collection.entities:
            assert listed <= entity.values.keys()
            assert not re.search(r"\d", " ".join(entity.texts))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_page_renders(kind: str, layout: str) -> None:
    site = catalog(kind, 1, layout)
    overlay = Overlay()
    for path in site.paths():
        page = get(site, path, overlay)
        assert isinstance(page, Page) and page.status == 200, path
        assert "</html>" in render(site, page, overlay, layout), path


@pytest.mark.parametrize("kind", KINDS)
def test_every_entity_is_found_by_its_name_on_the_first_page(kind: str) -> None:
    site = catalog(kind, 2)
    for slug, collection in site.collections.items():
        for entity in collection.entities[:40]:
            page = site.respond(Request("GET", "/search", {"q": entity.name.lower()}), Overlay())
            assert isinstance(page, Page)
            assert f"/{slug}/{entity.slug}" in render(site, page, Overlay(), "compact"), entity.name


def given(site: CatalogSite, step: dict[str, Any], overlay: Overlay) -> dict[str, str]:
    """What a browser sends when a step's values are filled into its form."""
    page = site.respond(Request("GET", step["at"], {}), overlay)
    assert isinstance(page, Page)
    if any(isinstance(block, Frame) and block.path == step["action"] for block in page.data["blocks"]):
        page = site.respond(Request("GET", step["action"], {}), overlay)
        assert isinstance(page, Page)
    form = next(b for b in page.data["blocks"] if isinstance(b, Form) and b.action == step["action"])
    shown = {each.key: form.values.get(each.key, "") for each in form.fields}
    return {**{key: value for key, value in shown.items() if value}, **step["values"]}


@pytest.mark.parametrize("kind", KINDS)
def test_every_action_is_asked_for_and_does_what_its_goal_says(kind: str) -> None:
    site = catalog(kind, 0)
    rng = random.Random(3)
    left = {action.key for action in site.actions}
    for i in range(6000):
        goal = draw_goal(site, i % 9 + 1, rng)
        forms = [step for step in goal.plan if step["do"] == "form"]
        if goal.name != "act" or not forms:
            continue
        overlay, then = Overlay(), ""
        for form in forms:
            reply = site.respond(Request("POST", form["action"], given(site, form, overlay)), overlay)
            assert isinstance(reply, Redirect), goal
            then = reply.path
        assert overlay.state == goal.state
        page = site.respond(Request("GET", then, {}), overlay)
        assert isinstance(page, Page) and page.status == 200
        left -= set(then.split("/"))
        if not left:
            break
    assert not left


@pytest.mark.parametrize("kind", KINDS)
def test_every_wording_of_an_action_says_every_value(kind: str) -> None:
    site = catalog(kind, 0)
    for action in (*site.actions, *site.menu):
        assert len(action.clauses) >= 3
        stated = {each.key for each in action.fields if each.askable and each.widget != "checkbox"} - action.also.keys()
        if action.collection:
            stated = {"new_name" if key == "name" else key for key in stated} | {"name"}
        for clause in action.clauses:
            assert set(re.findall(r"\{(\w+)\}", clause)) == stated, clause


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_that_is_not_filled_in_comes_back_with_what_is_wrong(kind: str) -> None:
    site = catalog(kind, 0)
    for action in site.actions:
        if action.steps or not any(each.required for each in action.fields):
            continue
        entities = site.collections[action.collection].entities if action.collection else (None,)
        entity = next(each for each in entities if each is None or (action.offered(each) and not action.refuses(each)))
        overlay = Overlay()
        page = site.respond(Request("POST", action.path(entity), {}), overlay)
        assert isinstance(page, Page) and page.status == 422
        assert 'role="alert"' in render(site, page, overlay, "auto")
        assert overlay.state == {}


@pytest.mark.parametrize("kind", KINDS)
def test_instructions_are_whole_sentences(kind: str) -> None:
    for task in make_tasks([kind], range(12), 180, 4, range(1, 10)):
        assert not re.search(r"[{}]|  |\bNone\b|\s[.,?]|\(\)", task.instruction), task.instruction
        assert task.instruction[0].isupper() or not task.instruction[0].isalpha()
        assert re.search(r"[.?!]”?$", task.instruction), task.instruction
        assert len(task.metadata["rubric"]) == task.difficulty
