"""Observations with numbered controls, for agents that do not point at pixels.

There are three ways to show a `Snapshot`, one for each family of agents: an accessibility tree with numbers
(OpenWebVoyager §3.2), simplified HTML with element ids (WebAgent-R1, appendix A), and a screenshot with numbered marks
(set-of-marks mode of WebGym). The controls have the same numbers in all of them, beginning with those in view. Lines
that exceed the token budget are left out, those farthest from the view first, and the text says how many.
"""

from __future__ import annotations

import html
import io
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from webdojo.browser.page.snapshot import Node, Snapshot
from webdojo.types import View

_MARK_COLOURS = ("#d00000", "#0050d0", "#007a1f", "#8a2be2", "#b35900", "#00767a")
_JPEG: dict[str, Any] = {"quality": 90, "subsampling": 0}
"""Settings that keep thin coloured lines and small digits sharp."""
_HTML_TAGS = {
    **{role: role for role in ("button", "main", "form", "table", "dialog", "option")},
    **dict.fromkeys(("textbox", "searchbox", "checkbox", "radio", "slider", "spinbutton"), "input"),
    "link": "a",
    "combobox": "select",
    "image": "img",
    "navigation": "nav",
    "row": "tr",
    "cell": "td",
    "columnheader": "th",
    "list": "ul",
    "listitem": "li",
}


def estimated_tokens(line: str) -> int:
    """Estimate the tokens of a line as a quarter of its characters, which is about right for English."""
    return len(line) // 4 + 1


def numbered(snapshot: Snapshot) -> dict[int, int]:
    """Return the number of each control by its index in `snapshot.nodes`: from 1, and those in view first."""
    controls = [index for index, node in enumerate(snapshot.nodes) if node.control]
    controls.sort(key=lambda index: not snapshot.nodes[index].in_view)
    return {index: number for number, index in enumerate(controls, 1)}


def render(view: View, snapshot: Snapshot, image: bytes) -> tuple[bytes, str, dict[int, Node]]:
    """Return the screenshot, the page as text, and by number the controls that one of them shows, as a view asks."""
    if view.kind == "marks":
        picture, shown = marked(image, snapshot)
        return picture, "", shown
    return image, *as_text(view, snapshot)


def marked(image: bytes, snapshot: Snapshot) -> tuple[bytes, dict[int, Node]]:
    """Draw a numbered box around each control that can be clicked; return the screenshot and the controls."""
    given = Image.open(io.BytesIO(image))
    picture = given.convert("RGB")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=max(11, picture.height // 70))
    shown: dict[int, Node] = {}
    for index, number in numbered(snapshot).items():
        node = snapshot.nodes[index]
        if not node.in_view or node.covered:
            continue
        shown[number] = node
        left, top, right, bottom = (round(edge) for edge in node.box_px)
        colour = _MARK_COLOURS[number % len(_MARK_COLOURS)]
        draw.rectangle((left, top, right - 1, bottom - 1), outline=colour, width=2)
        _, _, width, height = draw.textbbox((0, 0), str(number), font=font)
        at = (max(0, min(left, picture.width - width - 4)), top - height - 3 if top > height + 3 else top)
        draw.rectangle((at[0], at[1], at[0] + width + 3, at[1] + height + 3), fill=colour)
        draw.text((at[0] + 2, at[1] + 1), str(number), fill="white", font=font)
    out = io.BytesIO()
    picture.save(out, given.format, **(_JPEG if given.format == "JPEG" else {}))
    return out.getvalue(), shown


def as_text(view: View, snapshot: Snapshot) -> tuple[str, dict[int, Node]]:
    """Show each node as an indented line, and return the controls in the text by number.

    `accessibility_tree` writes `[3] textbox 'Search' value='red mug' focused`, and `simplified_html`
    `<input id="3" placeholder="Search" value="red mug">`.
    """
    numbers, tree = numbered(snapshot), view.kind == "accessibility_tree"
    head = f"page {snapshot.title!r}" if tree else f"<title>{html.escape(snapshot.title)}</title>"
    line_of = _tree_line if tree else _html_line
    lines = {
        index: "  " * node.depth + line_of(node, numbers.get(index))
        for index, node in enumerate(snapshot.nodes)
        if node.in_view or view.whole_page
    }
    left = view.max_tokens - estimated_tokens(head) - estimated_tokens("(99999 more lines)")
    kept: set[int] = set()
    height = snapshot.viewport_px[1]
    for index in sorted(lines, key=lambda index: (_distance(snapshot.nodes[index], height), index)):
        left -= estimated_tokens(lines[index]) + 1
        if left < 0:
            break
        kept.add(index)
    omitted = len(lines) - len(kept) + (snapshot.omitted if view.whole_page else 0)
    text = [head, *(line for index, line in lines.items() if index in kept)]
    if omitted:
        text.append(f"({omitted} more lines)")
    shown = {number: snapshot.nodes[index] for index, number in numbers.items() if index in kept}
    return "\n".join(text), shown


def _distance(node: Node, height: int) -> float:
    if node.in_view:
        return 0.0
    _, top, _, bottom = node.box_px
    return max(top - height, -bottom, 1.0)


def _states(node: Node) -> dict[str, bool]:
    """Return the states that a line mentions: those that hold, and for what can be on or off also those that do not."""
    said = {"checked": node.checked, "selected": node.selected, "expanded": node.expanded}
    said |= {"disabled": node.disabled or None, "focused": node.focused or None, "covered": node.covered or None}
    return {name: value for name, value in said.items() if value is not None}


def _tree_line(node: Node, number: int | None) -> str:
    if node.role == "text":
        return f"text {node.name!r}"
    parts = [f"[{number}]"] if number is not None else []
    parts.append(f"{node.type} {node.role}" if node.type else node.role)
    parts += [repr(node.name)] if node.name else []
    parts += [f"value={node.value!r}"] if node.value is not None else []
    parts += [f"options={list(node.options)}"] if node.options else []
    parts += [name if value else f"not {name}" for name, value in _states(node).items()]
    return " ".join(parts)


def _html_line(node: Node, number: int | None) -> str:
    if node.role == "text":
        return html.escape(node.name, quote=False)
    tag = f"h{node.level}" if node.role == "heading" else _HTML_TAGS.get(node.role, "div")
    attributes = {"id": str(number)} if number is not None else {}
    if tag == "input":
        kind = node.role if node.role in ("checkbox", "radio") else node.type
        attributes |= ({"type": kind} if kind else {}) | ({"placeholder": node.name} if node.name else {})
        attributes |= {"value": node.value} if node.value else {}
    elif tag == "img":
        attributes |= {"alt": node.name}
    elif tag == "div":
        attributes |= {"role": node.role}
    flags = "".join(f" {name}" if value else "" for name, value in _states(node).items() if name != "covered")
    opening = "".join(f' {key}="{html.escape(value)}"' for key, value in attributes.items())
    if tag in ("input", "img"):
        return f"<{tag}{opening}{flags}>"
    if tag == "select":
        name = f' name="{html.escape(node.name)}"' if node.name else ""
        options = "".join(
            f"<option{' selected' if option == node.value else ''}>{html.escape(option, quote=False)}</option>"
            for option in node.options
        )
        return f"<select{opening}{name}{flags}>{options}</select>"
    inside = html.escape(node.name, quote=False)
    return f"<{tag}{opening}{flags}>{inside}</{tag}>" if inside or node.control else f"<{tag}{opening}>"
