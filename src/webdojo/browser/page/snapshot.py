"""A page element by element, from which every text observation is made.

One script walks the rendered page of a frame, open shadow trees included, and returns the names, values, states and
boxes of controls, headings, pictures and runs of text. `snapshot` joins the frames of a tab. Boxes are in CSS pixels of
the viewport, clipped to what their frame shows. `views.py` turns a snapshot into text for a model.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from dataclasses import dataclass

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, JSHandle, Page

from webdojo.browser.page.probe import ELEMENTS_JS

MAX_NODES = 5000
"""Maximum number of nodes of one frame, so that a page of 50,000 elements does not take seconds."""
_FRAME_TIMEOUT_S = 2.0
_MIN_FRAME_PX = 16

_INSET_JS = """(frame) => {
  const style = getComputedStyle(frame);
  return [frame.clientLeft + parseFloat(style.paddingLeft), frame.clientTop + parseFloat(style.paddingTop)];
}"""

_SNAPSHOT_JS = (
    f"(limit) => {{ {ELEMENTS_JS}"
    + """
  const ROLES = {A: 'link', BUTTON: 'button', SUMMARY: 'button', SELECT: 'combobox', TEXTAREA: 'textbox',
    OPTION: 'option', IMG: 'image', SVG: 'image', CANVAS: 'image', VIDEO: 'video', H1: 'heading', H2: 'heading',
    H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading', NAV: 'navigation', MAIN: 'main', FORM: 'form',
    TABLE: 'table', TR: 'row', TD: 'cell', TH: 'columnheader', UL: 'list', OL: 'list', LI: 'listitem',
    DIALOG: 'dialog', PROGRESS: 'progressbar', IFRAME: 'iframe'};
  const INPUTS = {checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox',
    button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', color: 'button'};
  const CONTROLS = ['link', 'button', 'combobox', 'textbox', 'searchbox', 'checkbox', 'radio', 'slider', 'spinbutton',
    'option', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'switch', 'treeitem', 'listbox'];
  const GROUPS = ['navigation', 'main', 'form', 'table', 'row', 'list', 'listitem', 'dialog', 'cell', 'columnheader',
    'alert', 'menu', 'tablist', 'radiogroup', 'grid', 'tree', 'iframe'];
  const OPEN = CSS.supports('selector(:open)');
  const whole = [0, 0, innerWidth, innerHeight], nowhere = [0, 0, -1, -1];
  const nodes = [], elements = [];
  let omitted = 0;
  const roleOf = (e) => {
    const said = e.getAttribute('role');
    if (said && said !== 'presentation' && said !== 'none') return said.split(' ')[0];
    if (e.tagName === 'INPUT') return INPUTS[e.type] || 'textbox';
    if (e.tagName === 'A' && !e.hasAttribute('href')) return '';
    if (e.isContentEditable && !(e.parentElement && e.parentElement.isContentEditable)) return 'textbox';
    return ROLES[e.tagName.toUpperCase()] || '';
  };
  const labelOf = (e) => {
    const by = (e.getAttribute('aria-labelledby') || '').split(/\\s+/).filter(Boolean)
      .map(id => e.getRootNode().getElementById && e.getRootNode().getElementById(id)).filter(Boolean)
      .map(other => other.textContent).join(' ');
    const label = e.labels && e.labels.length ? [...e.labels].map(l => l.textContent).join(' ') : '';
    const pressed = e.tagName === 'INPUT' && ['button', 'submit', 'reset'].includes(e.type) ? e.value : '';
    for (const name of [by, e.getAttribute('aria-label'), label, pressed, e.getAttribute('alt'),
        e.getAttribute('placeholder')]) {
      const line = squeeze(name, 120);
      if (line) return line;
    }
    return '';
  };
  const contentOf = (e) => {
    const text = squeeze(e.innerText === undefined ? e.textContent : e.innerText, 120);
    if (text) return text;
    const image = e.querySelector('img[alt], svg title, [aria-label]');
    if (!image) return '';
    return squeeze(image.getAttribute('alt') || image.getAttribute('aria-label') || image.textContent, 120);
  };
  const cut = (box, clip) => {
    const left = Math.max(box.left, clip[0]), top = Math.max(box.top, clip[1]);
    const right = Math.min(box.right, clip[2]), bottom = Math.min(box.bottom, clip[3]);
    return right - left > 1 && bottom - top > 1 ? [left, top, right, bottom] : null;
  };
  const place = (box, clip) => {
    const seen = cut(box, clip);
    return {box_px: seen || [box.left, box.top, box.right, box.bottom], in_view: seen !== null};
  };
  const add = (node, e) => { nodes.push(node); elements.push(e); };
  const walk = (parent, depth, clip, within, silent) => {
    for (const child of parent.childNodes) {
      if (nodes.length >= limit) {
        omitted += child.nodeType === Node.ELEMENT_NODE ? 1 + child.getElementsByTagName('*').length : 0;
        continue;
      }
      if (child.nodeType === Node.TEXT_NODE) {
        const text = squeeze(child.data, 300);
        if (!text || within || silent) continue;
        const range = document.createRange();
        range.selectNodeContents(child);
        const box = range.getBoundingClientRect();
        if (box.width < 1 || box.height < 1) continue;
        add({depth, tag: '#text', role: 'text', name: text, ...place(box, clip)}, child);
        continue;
      }
      if (child.nodeType !== Node.ELEMENT_NODE) continue;
      const e = child;
      if (['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD'].includes(e.tagName)) continue;
      const style = getComputedStyle(e);
      if (style.display === 'none' || e.getAttribute('aria-hidden') === 'true' || e.inert) continue;
      const box = e.getBoundingClientRect();
      const hidden = style.visibility !== 'visible' || style.opacity === '0';
      let role = roleOf(e);
      const clickable = e.hasAttribute('onclick') || (style.cursor === 'pointer' && parent.nodeType === 1 &&
        getComputedStyle(parent).cursor !== 'pointer');
      const control = CONTROLS.includes(role) || (!role && clickable && !e.querySelector('a,button,input,select'));
      if (control && !role) role = 'clickable';
      let inner = depth, leaf = within;
      const shown = !hidden && box.width > 1 && box.height > 1;
      if (shown && (control || (!within && (['heading', 'image', 'video'].includes(role) || GROUPS.includes(role))))) {
        const group = GROUPS.includes(role);
        const name = labelOf(e) || (group ? '' : contentOf(e)) || squeeze(e.getAttribute('title'), 120);
        if (!group || role !== 'listitem' || e.children.length) {
          const node = {depth, tag: e.tagName.toLowerCase(), role, name, control, ...place(box, clip)};
          if (role === 'heading') node.level = +(e.getAttribute('aria-level') || e.tagName[1] || 2);
          if (['INPUT', 'TEXTAREA'].includes(e.tagName) && !['checkbox', 'radio', 'password'].includes(e.type))
            node.value = squeeze(e.value, 120);
          if (e.type === 'password') node.value = '*'.repeat(e.value.length);
          if (e.tagName === 'SELECT') {
            node.value = squeeze([...e.selectedOptions].map(o => o.label).join(', '), 120);
            node.options = [...e.options].slice(0, 50).map(o => squeeze(o.label, 60));
          }
          if (['checkbox', 'radio'].includes(e.type)) node.checked = e.checked;
          else if (e.hasAttribute('aria-checked')) node.checked = e.getAttribute('aria-checked') === 'true';
          if (e.hasAttribute('aria-selected')) node.selected = e.getAttribute('aria-selected') === 'true';
          if (e.hasAttribute('aria-expanded')) node.expanded = e.getAttribute('aria-expanded') === 'true';
          if (e.disabled || e.getAttribute('aria-disabled') === 'true') node.disabled = true;
          if (e === document.activeElement) node.focused = true;
          if (e.tagName === 'INPUT' && role === 'textbox' && e.type !== 'text') node.type = e.type;
          if (control && node.in_view && !reachedAt(e, middleOf(e, clip))) node.covered = true;
          if (group || control || name) add(node, e);
          inner = depth + 1;
          leaf = within || ((control || role === 'heading') && !['listbox', 'treeitem'].includes(role));
        }
      }
      if (e.tagName === 'SELECT' && OPEN && e.matches(':open')) {
        for (const o of e.options) {
          const at = o.getBoundingClientRect();
          if (at.width > 1 && at.height > 1) {
            const node = {depth: inner, tag: 'option', role: 'option', name: squeeze(o.label, 60), control: true,
              selected: o.selected, ...place(at, whole)};
            node.in_view = node.in_view && reachedAt(o, middleOf(o));  // the list may be shorter than its options
            add(node, o);
          }
        }
      }
      if (e.tagName === 'SELECT' || e.tagName === 'TEXTAREA' || e.tagName === 'IFRAME' || e.tagName === 'svg') continue;
      let shows = clip;
      if (style.position === 'fixed') shows = whole;
      if (/hidden|auto|scroll|clip/.test(style.overflowX + style.overflowY)) shows = cut(box, shows) || nowhere;
      if (e.tagName === 'SLOT') walk({childNodes: e.assignedNodes()}, inner, shows, leaf, hidden);
      walk(e.shadowRoot || e, inner, shows, leaf, hidden);
    }
  };
  if (document.body) walk(document.body, 0, whole, false, false);
  return {nodes, omitted, elements};
}"""
)


Box = tuple[float, float, float, float]
"""Left, top, right, bottom in CSS pixels."""


@dataclass(frozen=True)
class Node:
    """One element, or one run of text."""

    depth: int
    tag: str
    """Tag name in lower case; `#text` for text."""
    role: str
    """Explicit or implicit ARIA role; `text` or `clickable` if there is none."""
    name: str
    box_px: Box
    """In the viewport: of the visible part, or of the whole element if nothing is visible."""
    in_view: bool
    control: bool = False
    """Whether it can be clicked, typed into or chosen."""
    covered: bool = False
    """Whether it is in view, but a click in its middle would hit another element."""
    value: str | None = None
    options: tuple[str, ...] = ()
    checked: bool | None = None
    selected: bool | None = None
    expanded: bool | None = None
    disabled: bool = False
    focused: bool = False
    level: int = 0
    """Level of a heading; 0 for other elements."""
    type: str = ""
    """Type of a text field that is not plain, such as `email`."""


@dataclass(frozen=True)
class Snapshot:
    """All nodes of a tab in reading order; the nodes of a frame follow the frame."""

    nodes: tuple[Node, ...]
    viewport_px: tuple[int, int]
    title: str
    url: str
    omitted: int = 0
    """Number of elements after the first `MAX_NODES` nodes."""


@dataclass(frozen=True)
class ElementRef:
    """The element of a node in the live page."""

    frame: Frame
    elements: JSHandle
    """All elements of the frame that are in the snapshot, as an array."""
    index: int
    """Index of this element in the array."""


Found = list[tuple[Node, ElementRef]]


async def snapshot(page: Page, viewport_px: tuple[int, int]) -> tuple[Snapshot, list[ElementRef]]:
    """Read a page with its frames, and the element of each node; frames that do not answer are left out."""
    found, omitted = await _read(page.main_frame)
    frames = [frame for frame in page.frames if frame != page.main_frame]
    for inner in await asyncio.gather(*(_frame(frame) for frame in frames)):
        if inner is None:
            continue
        box, inside, left_out = inner
        omitted += left_out
        at = next((i for i, (node, _) in enumerate(found) if _shows(node, box)), len(found) - 1)
        depth = found[at][0].depth + 1 if found else 0
        found[at + 1 : at + 1] = [(_moved(node, depth, box, viewport_px), ref) for node, ref in inside]
    nodes = tuple(node for node, _ in found)
    return Snapshot(nodes, viewport_px, await page.title(), page.url, omitted), [ref for _, ref in found]


async def _read(frame: Frame) -> tuple[Found, int]:
    """Return the nodes of one frame, and the number of elements that were left out."""
    handle = await frame.evaluate_handle(_SNAPSHOT_JS, MAX_NODES)
    # As text, because Playwright's own serialisation takes ten times as long.
    raw = json.loads(await handle.evaluate("({nodes, omitted}) => JSON.stringify({nodes, omitted})"))
    elements = await handle.get_property("elements")
    await handle.dispose()
    found = []
    for index, node in enumerate(raw["nodes"]):
        tuples = {"box_px": tuple(node["box_px"]), "options": tuple(node.get("options", ()))}
        found.append((Node(**(node | tuples)), ElementRef(frame, elements, index)))
    return found, raw["omitted"]


async def frame_corner(frame: Frame) -> tuple[float, float] | None:
    """Return where in the viewport the page of a frame begins, or None if the frame is not shown."""
    if frame.parent_frame is None:
        return 0, 0
    element = await frame.frame_element()
    outside = await element.bounding_box()
    if outside is None:
        return None
    left, top = await element.evaluate(_INSET_JS)
    return outside["x"] + left, outside["y"] + top


async def _frame(frame: Frame) -> tuple[Box, Found, int] | None:
    """Return the box of a frame, the nodes inside it, and the number of elements left out; None if it is not shown."""
    try:
        async with asyncio.timeout(_FRAME_TIMEOUT_S):
            corner = await frame_corner(frame)
            width, height = await frame.evaluate("[innerWidth, innerHeight]")
            if corner is None or min(width, height) < _MIN_FRAME_PX:
                return None
            found, omitted = await _read(frame)
    except (PlaywrightError, TimeoutError):
        return None
    x, y = corner
    return (x, y, x + width, y + height), found, omitted


def _shows(node: Node, frame: Box) -> bool:
    """Whether a node is the element of a frame: its box may be clipped, but it lies inside the box of the frame."""
    left, top, right, bottom = node.box_px
    x, y = (left + right) / 2, (top + bottom) / 2
    return node.tag == "iframe" and frame[0] - 1 <= x <= frame[2] + 1 and frame[1] - 1 <= y <= frame[3] + 1


def _moved(node: Node, depth: int, frame: Box, viewport_px: tuple[int, int]) -> Node:
    """Move a node of a frame into the viewport, and clip it to what the viewport shows of it."""
    (left, top, right, bottom), (x, y, *_) = node.box_px, frame
    box = (left + x, top + y, right + x, bottom + y)
    seen = (max(box[0], 0), max(box[1], 0), min(box[2], viewport_px[0]), min(box[3], viewport_px[1]))
    in_view = node.in_view and seen[2] - seen[0] > 1 and seen[3] - seen[1] > 1
    return dataclasses.replace(node, depth=node.depth + depth, box_px=seen if in_view else box, in_view=in_view)
