"""The state of a page besides its pixels (OpenWebRL A.2), read by one script.

The same script runs before and after every call, and `feedback` compares the two states. It also starts a mutation
watch, so that the second reading knows whether the document has changed at all. Points are given to the script in CSS
pixels; no model is shown pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WATCH_JS = """
const watchKey = Symbol.for('webdojo.watch');
const startWatch = () => {
  if (window[watchKey]) window[watchKey].observer.disconnect();
  const watch = {changes: 0, last: performance.now(), seen: new WeakMap()};
  watch.take = (records) => {
    for (const record of records) {
      watch.changes++;
      // Animations rewrite the same few nodes for ever: style changes and the ninth rewrite of a
      // node do not keep a page from being ready, but growth always does.
      if (record.type === 'attributes' && record.attributeName === 'style') continue;
      const times = (watch.seen.get(record.target) || 0) + 1;
      watch.seen.set(record.target, times);
      if (times <= 8 || record.addedNodes.length > record.removedNodes.length) watch.last = performance.now();
    }
  };
  watch.observer = new MutationObserver(watch.take);
  watch.observer.observe(document, {childList: true, subtree: true, attributes: true, characterData: true});
  Object.defineProperty(window, watchKey, {value: watch, configurable: true, enumerable: false});
  return watch;
};
"""

SIZE_JS = """
// A document that was just opened or wiped by its script has no root element.
const pageSize = () => {
  const root = document.scrollingElement || document.documentElement;
  return root ? [root.scrollWidth, root.scrollHeight] : [0, 0];
};
"""

FOCUS_JS = """
// What has the focus, inside open shadow trees and frames of the same origin, too.
const focused = () => {
  let element = document.activeElement;
  for (;;) {
    const inner = element && (element.shadowRoot || element.contentDocument);
    if (!inner || !inner.activeElement) return element;
    element = inner.activeElement;
  }
};
"""

ELEMENTS_JS = """
const squeeze = (text, limit) => {
  const line = (text || '').slice(0, Math.max(400, 4 * limit)).replace(/\\s+/g, ' ').trim();
  return line.length > limit ? line.slice(0, limit - 1) + '…' : line;
};
const elementAt = (x, y) => {
  let element = document.elementFromPoint(x, y);
  while (element) {
    let inner = null;
    if (element.shadowRoot) {
      inner = element.shadowRoot.elementFromPoint(x, y);
    } else if (element.contentDocument) {
      const box = element.getBoundingClientRect();
      x -= box.left + element.clientLeft;
      y -= box.top + element.clientTop;
      inner = element.contentDocument.elementFromPoint(x, y);
    }
    if (!inner || inner === element) break;
    element = inner;
  }
  return element;
};
// The middle of the largest piece of an element inside a box: a link may go over two lines.
const middleOf = (element, clip = [0, 0, innerWidth, innerHeight]) => {
  let best = null, most = 0;
  for (const box of element.getClientRects()) {
    const left = Math.max(box.left, clip[0]), right = Math.min(box.right, clip[2]);
    const top = Math.max(box.top, clip[1]), bottom = Math.min(box.bottom, clip[3]);
    if (right - left < 1 || bottom - top < 1 || (right - left) * (bottom - top) <= most) continue;
    most = (right - left) * (bottom - top);
    best = [(left + right) / 2, (top + bottom) / 2];
  }
  return best;
};
// Whether a click at a point lands on an element, its insides or its label.
const reachedAt = (element, point) => {
  const hit = point && elementAt(point[0], point[1]);
  for (let up = hit; up; up = up.parentNode || up.host) if (up === element) return true;
  return !!hit && !!element.labels && [...element.labels].some(label => label.contains(hit));
};
"""

READ_JS = (
    SIZE_JS
    + FOCUS_JS
    + ELEMENTS_JS
    + """
const INTERACTIVE = 'a[href],button,input,select,textarea,label,option,summary,[onclick],[contenteditable=""],' +
  '[contenteditable=true],' + ['button', 'link', 'tab', 'option', 'menuitem', 'checkbox', 'radio', 'switch',
  'combobox', 'textbox', 'searchbox', 'slider', 'treeitem'].map(role => `[role=${role}]`).join(',');
const NOT_TYPED = ['button', 'submit', 'reset', 'image', 'checkbox', 'radio', 'file', 'hidden'];
const FILLED = ['date', 'time', 'month', 'week', 'datetime-local', 'range', 'color'];
const TAKES = {date: '2026-05-17', time: '13:45', month: '2026-05', week: '2026-W20',
  'datetime-local': '2026-05-17T13:45', color: '#ff8800'};
const ownText = (element) =>
  [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join(' ');
const nameOf = (element, interactive) => {
  const by = element.getAttribute('aria-labelledby');
  const labelled = by && by.split(/\\s+/).map(id => document.getElementById(id)).filter(Boolean)
    .map(label => label.textContent).join(' ');
  const label = element.labels && element.labels[0] && element.labels[0].textContent;
  const pressed = element.tagName === 'INPUT' && ['button', 'submit', 'reset'].includes(element.type) && element.value;
  const field = ['INPUT', 'SELECT', 'TEXTAREA'].includes(element.tagName);
  const inside = field ? '' : interactive ? element.textContent : ownText(element);
  const image = interactive && !field && element.querySelector('img[alt]');
  for (const candidate of [element.getAttribute('aria-label'), labelled, label, pressed, element.getAttribute('alt'),
      element.getAttribute('placeholder'), inside, image && image.alt, element.getAttribute('title'),
      field && element.name]) {
    const name = squeeze(candidate, 40);
    if (name) return name;
  }
  return '';
};
const valueOf = (element) => {
  if (element.tagName === 'SELECT') return squeeze([...element.selectedOptions].map(o => o.label).join(', '), 200);
  if (element.tagName === 'INPUT' || element.tagName === 'TEXTAREA') return element.value.slice(0, 10000);
  return element.isContentEditable ? element.innerText.slice(0, 10000) : null;
};
const editableBy = (element) => {
  if (element.disabled || element.readOnly) return '';
  if (element.tagName === 'INPUT')
    return NOT_TYPED.includes(element.type) ? '' : FILLED.includes(element.type) ? 'fill' : 'type';
  // A foreign frame hides what has the focus inside it: let the keys through.
  return element.tagName === 'TEXTAREA' || element.tagName === 'IFRAME' || element.isContentEditable ? 'type' : '';
};
const expandedOf = (element) => {
  if (element.tagName === 'SELECT') return CSS.supports('selector(:open)') ? element.matches(':open') : null;
  const said = element.getAttribute('aria-expanded');
  if (said) return said === 'true';
  return element.tagName === 'SUMMARY' && element.parentElement ? element.parentElement.open === true : null;
};
const describe = (element, interactive) => ({
  tag: element.tagName.toLowerCase(),
  role: element.getAttribute('role') || '',
  name: nameOf(element, interactive),
  value: valueOf(element),
  checked: ['checkbox', 'radio'].includes(element.type) ? element.checked : null,
  expanded: expandedOf(element),
  editable: editableBy(element),
  takes: element.tagName === 'INPUT' && TAKES[element.type] || '',
});
const scrollerAt = (element) => {
  const page = [document.body, document.documentElement];
  for (; element && !page.includes(element); element = element.parentElement) {
    const room = [element.scrollWidth - element.clientWidth, element.scrollHeight - element.clientHeight];
    if (room[0] < 2 && room[1] < 2) continue;
    const style = getComputedStyle(element);
    if (/auto|scroll/.test(style.overflowX + style.overflowY))
      return [element.scrollLeft, element.scrollTop, room[0], room[1]];
  }
  return null;
};
const readPage = (point) => {
  const [width, height] = pageSize();
  const under = point && elementAt(point[0], point[1]);
  const target = under && (under.closest(INTERACTIVE) || under);
  const focus = focused();
  const hasFocus = focus && focus !== document.body && focus !== document.documentElement;
  return {
    scroll: [scrollX, scrollY, width - innerWidth, height - innerHeight],
    box: under ? scrollerAt(under) : null,
    target: target ? describe(target, target.matches(INTERACTIVE)) : null,
    focus: hasFocus || (focus && focus.isContentEditable) ? describe(focus, true) : null,
  };
};
"""
)

PROBE_JS = f"""(point) => {{
  {WATCH_JS}
  {READ_JS}
  const state = readPage(point);
  startWatch();
  return {{...state, changes: 0}};
}}"""

_STATUSES = {
    401: "log-in required",
    403: "access denied",
    407: "proxy log-in required",
    429: "too many requests",
    451: "unavailable for legal reasons",
    503: "service unavailable",
}
"""Status codes of documents with which sites turn robots away. 404 and 500 are errors, not blocks."""

_MARKS_JS = """
const blockMarks = () => {
  const found = [];
  const has = (selector) => document.querySelector(selector) !== null;
  const all = document.body ? document.body.innerText : '';  // costs a layout
  const text = all.length < 2000 ? all.toLowerCase() : '';
  if (has('#challenge-form,#challenge-running,#cf-challenge-running,script[src*="/cdn-cgi/challenge-platform/"]') &&
      /just a moment|checking your browser|verif|attention required/.test(document.title.toLowerCase() + ' ' + text))
    found.push('Cloudflare challenge');
  if (has('#px-captcha')) found.push('PerimeterX challenge');
  if (has('iframe[src*="captcha-delivery.com"]')) found.push('DataDome challenge');
  if (text && has('iframe[src*="recaptcha/api2"],iframe[src*="recaptcha/enterprise"],.g-recaptcha,#recaptcha'))
    found.push('reCAPTCHA');
  if (text && has('iframe[src*="hcaptcha.com"],.h-captcha')) found.push('hCaptcha');
  if (text && has('form[action*="/errors/validateCaptcha"]')) found.push('Amazon captcha');
  for (const phrase of ['unusual traffic', 'are you a robot', 'verify you are human', 'verify that you are human',
      'prove you are human', 'automated access', 'bot detection', 'access to this page has been denied'])
    if (text.includes(phrase)) { found.push(`"${phrase}"`); break; }
  return found;
};
"""
"""Defines `blockMarks()`, which lists the marks that bot checks leave on a page.

A page that shows its usual content is not blocked just because its forms have a captcha: only marks that replace the
content count.
"""

PAGE_JS = f"""() => {{
  {SIZE_JS}
  {_MARKS_JS}
  return {{title: document.title, page: pageSize(), scroll: [scrollX, scrollY], marks: blockMarks()}};
}}"""
"""Reads the few values that an observation needs."""


@dataclass(frozen=True)
class Element:
    """A DOM element as feedback names it."""

    tag: str
    role: str = ""
    name: str = ""
    value: str | None = None
    """The value of a field; None if the element is not a field."""
    checked: bool | None = None
    expanded: bool | None = None
    """Whether a drop-down, disclosure or menu is open; None for other elements."""
    editable: str = ""
    """`type`: it takes keys; `fill`: it takes a whole value (dates, sliders); empty: neither."""
    takes: str = ""
    """An example of a value, for fields whose values have a fixed format: dates, times, colours."""


@dataclass(frozen=True)
class PageState:
    """The active tab at one moment. Scroll offsets and rooms are in CSS pixels."""

    url: str
    tab: int = 0
    tabs: int = 1
    document: int = 0
    """Number of documents that this tab has loaded so far; a reload of the same URL counts."""
    scroll: Sequence[float] = (0, 0, 0, 0)
    """Left and top offset, and how far each of them can go."""
    box: Sequence[float] | None = None
    """The same for the innermost scrollable element at the point."""
    target: Element | None = None
    """The element at the point, or the interactive element around it."""
    focus: Element | None = None
    changes: int = 0
    """Number of DOM changes since the previous reading."""


def read_state(raw: dict[str, Any], *, url: str, tab: int, tabs: int, document: int) -> PageState:
    """Combine the result of the script and the session's own knowledge into a `PageState`."""
    elements = {key: Element(**raw[key]) if raw[key] else None for key in ("target", "focus")}
    return PageState(url=url, tab=tab, tabs=tabs, document=document, **(raw | elements))


def blocked_by(status: int, marks: Sequence[str]) -> str:
    """Return why a page counts as blocked, from its HTTP status and marks, or an empty string if it does not."""
    reasons = [f"HTTP {status} ({_STATUSES[status]})"] if status in _STATUSES else []
    return ", ".join([*reasons, *marks])
