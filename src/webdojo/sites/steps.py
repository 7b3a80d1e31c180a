"""Forms with several pages: a page opens when those before it are filled in, and the last one sends everything.

What was filled in so far is a draft of the session (`Overlay.drafts`); it changes nothing that a task asks for.
"""

from __future__ import annotations

from collections.abc import Callable

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Details, Form, Heading, Steps
from webdojo.sites.catalog import Entity
from webdojo.sites.site import Overlay, Page, Redirect, Request


def step_at(action: Action, rest: list[str]) -> int | None:
    """Index of the page of an action that the rest of a path names by its number; None: there is no such page."""
    pages = [[], *([str(number)] for number in range(2, len(action.steps) + 1))]
    return pages.index(rest) if rest in pages else None


def step_page(
    action: Action,
    entity: Entity | None,
    at: int,
    request: Request,
    overlay: Overlay,
    say: Callable[[str], str],
    home: str,
) -> Page | Redirect:
    """Answer a request for page `at` of an action; `say` gives the site's word for a control, `home` for its home."""
    count = len(action.steps)
    path, error = action.path(entity), ""
    draft = overlay.drafts.get(path, {})
    ready = next((step for step in range(count) if action.error(draft, step)), count - 1)
    if at > ready:
        return Redirect(action.step_path(entity, ready))
    if request.method == "POST":
        draft = {**draft, **{each.key: request.values.get(each.key, "") for each in action.fields_of(at)}}
        error = action.error(draft, at)
        if not error:
            overlay.drafts[path] = draft
            if at == count - 1:
                overlay.state.update(action.change(overlay.drafts.pop(path), entity, overlay.state))
            return Redirect(action.step_path(entity, at + 1))
    above = [] if entity is None else [(entity.name, f"/{action.collection}/{entity.slug}")]
    steps = [(each.title, action.step_path(entity, i) if i <= ready else "") for i, each in enumerate(action.steps)]
    blocks: list[Block] = [Heading(say(action.button), "", ((home, "/"), *above)), Steps(tuple(steps), at)]
    if at == count - 1:
        given = [each for i in range(at) for each in action.fields_of(i) if draft.get(each.key)]
        blocks.append(Details(tuple((each.label, each.show(draft[each.key])) for each in given)))
    button = say(action.button if at == count - 1 else "Continue")
    form = Form(action.step_path(entity, at), button, action.fields_of(at), action.steps[at].title, draft, error)
    return Page("form", say(action.button), {"blocks": [*blocks, form]}, status=422 if error else 200)
