"""What the oracle sees of a page: links, fields, buttons, cards and markers with the points where they are.

Elements in frames are included, also in frames of other sites; their points are relative to the page.
"""

from __future__ import annotations

from typing import Any

from webdojo.browser.page.world import until_read

PageView = dict[str, Any]
"""What `read_page` returns."""

_READ = """() => {
  const out = [];
  const fields = 'input:not([type=hidden]), select, textarea, select:open option, [data-option], [data-rich]';
  const board = '[data-card], [data-column], [data-column] h2';
  const scroller = el => {
    for (let up = el.parentElement; up && up !== document.body; up = up.parentElement) {
      if (up.scrollHeight < up.clientHeight + 2 || !/auto|scroll/.test(getComputedStyle(up).overflowY)) continue;
      const {left, top, right, bottom} = up.getBoundingClientRect();
      return {left, top, right, bottom};
    }
    return null;
  };
  for (const el of document.querySelectorAll(`a[href], button, ${fields}, ${board}`)) {
    const frame = el.getBoundingClientRect();
    let box = frame, best = 0;
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    while (!el.dataset.marker && walker.nextNode()) {
      const text = walker.currentNode.textContent.trim();
      if (text.length <= best) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      const rect = range.getClientRects()[0];
      if (rect && rect.width) { best = text.length; box = rect; }
    }
    if (!frame.width || !frame.height) continue;
    const x = (Math.max(box.left, frame.left) + Math.min(box.right, frame.right)) / 2;
    const y = (Math.max(box.top, frame.top) + Math.min(box.bottom, frame.bottom)) / 2;
    const edges = [['left', 'right', innerWidth], ['top', 'bottom', innerHeight]];
    const shown = (from, to, end) => Math.min(to, end) - Math.max(from, 0) > 1;
    const inView = edges.every(([low, high, end]) => shown(frame[low], frame[high], end));
    const seen = edges.map(([low, high, end]) => {
      let from = Math.max(box[low], frame[low]), to = Math.min(box[high], frame[high]);
      if (!inView || !shown(from, to, end)) [from, to] = [frame[low], frame[high]];
      return inView ? (Math.max(from, 0) + Math.min(to, end)) / 2 : (from + to) / 2;
    });
    const form = el.closest('form');
    const inside = x >= 0 && x < innerWidth && y >= 8 && y <= innerHeight - 8;
    const hit = inside ? document.elementFromPoint(x, y) : null;
    const {rich = '', option = ''} = el.dataset;
    out.push({
      tag: el.tagName.toLowerCase(), text: el.innerText.trim(), x, y,
      name: el.name || rich || option || el.closest('select')?.name || '',
      type: el.type || '', value: rich ? el.innerText.trim() : el.value || '', box: scroller(el),
      option: !!option, suggest: 'suggest' in el.dataset, offers: !!el.closest('[data-offers]'),
      seen, options: el.tagName === 'SELECT' ? [...el.options].map(o => [o.value, o.label]) : [],
      checked: !!el.checked,
      label: el.labels?.[0]?.innerText.trim() || (rich && el.ariaLabel) || '',
      calendar: el.dataset.calendar || '', day: el.dataset.day || '',
      card: el.dataset.card || '',
      column: el.dataset.column || (el.tagName === 'H2' && el.parentElement.dataset.column) || '',
      marker: el.dataset.marker || '', zoom: el.dataset.zoom || '',
      hidden: getComputedStyle(el).visibility === 'hidden', menu: el.closest('[data-menu]')?.dataset.menu || '',
      into: el.closest('[data-column]')?.dataset.column || '',
      href: el.tagName === 'A' && el.origin === location.origin ? el.pathname + el.search : '',
      away: el.tagName === 'A' && el.origin !== location.origin ? el.href : '',
      action: form ? new URL(form.getAttribute('action') || '', location).pathname : '',
      event: form?.elements.event?.value ?? '',
      clear: !!hit && (hit === el || el.contains(hit) || (!!el.labels && [...el.labels].some(l => l.contains(hit)))),
    });
  }
  const map = document.querySelector('[data-map]');
  const {left, top, right, bottom} = map?.querySelector('.sheet').getBoundingClientRect() || {};
  return {
    map: map && {left, top, right, bottom, card: map.dataset.opened || ''},
    path: location.pathname + location.search, host: location.hostname, origin: location.origin,
    busy: !!document.querySelector('[aria-busy=true]'),
    status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0,
    width: innerWidth, height: innerHeight, elements: out,
  };
}"""

_FRAMES_ON_TOP = """points => points.map(([x, y]) => document.elementFromPoint(x, y)?.tagName === 'IFRAME')"""


async def read_page(page: Any) -> PageView:
    """Read a Playwright page.

    Returns:
        `host`, `path` with query, `status`, `width`, `height`, `busy` (a part of the page is still to come), `map`,
        `frames` (the paths that frames of the same site show) and `elements`. Each element has a point `x`, `y` in CSS
        pixels, and is `clear` if a click at that point would meet it; `seen` is a point in the part of the element
        that is in view, or its middle if no part is. A page that goes on to another by itself is not read; the page
        that follows is.
    """
    return await until_read(lambda: _read(page))


async def _read(page: Any) -> PageView:
    view: PageView = {**await page.evaluate(_READ), "frames": []}
    inner: list[dict[str, Any]] = []
    for frame in page.main_frame.child_frames:
        area = await (await frame.frame_element()).bounding_box()
        seen = await frame.evaluate(_READ)
        if area is None:
            continue
        if seen["origin"] == view["origin"]:
            view["frames"].append(seen["path"])
        inner += [_moved(element, area, seen["origin"], view["origin"]) for element in seen["elements"]]
    if inner:
        on_top = await page.evaluate(_FRAMES_ON_TOP, [(element["x"], element["y"]) for element in inner])
        for element, shown in zip(inner, on_top, strict=True):
            element["clear"] = element["clear"] and shown and 8 <= element["y"] <= view["height"] - 8
    view["elements"] += inner
    return view


def _moved(element: dict[str, Any], area: dict[str, float], origin: str, main: str) -> dict[str, Any]:
    """An element of a frame as one of the page; links and forms of another site are none of this one."""
    left, top = area["x"], area["y"]
    box = {"left": left, "top": top, "right": left + area["width"], "bottom": top + area["height"]}
    seen = [left + element["seen"][0], top + element["seen"][1]]
    moved = {**element, "x": left + element["x"], "y": top + element["y"], "seen": seen, "box": box}
    if origin == main:
        return moved
    return {**moved, "href": "", "action": "", "away": f"{origin}{element['href']}" if element["href"] else ""}
