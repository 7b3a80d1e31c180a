"""Waiting until a page is ready to be looked at, by events and never by fixed sleeps.

A page is ready when no navigation is under way, the document is loaded (or was parsed a second ago), DOM, layout and
scroll position have been still for `_QUIET_S`, fonts and the images in view are loaded, and neither a data request
(fetch, XHR) nor the next document of a frame is pending. Running animations and slow third parties delay it by at most
`ready_cap_s` after the document is there. Browsers that are started here draw no frame without its images
(`chromium.py`). Browsers that run elsewhere may do so, and there each image is decoded first.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.config import BrowserConfig
from webdojo.browser.page.probe import READ_JS, WATCH_JS
from webdojo.browser.tab import Tab

T = TypeVar("T")

_QUIET_S = 0.06
_LOAD_S = 1.0
"""How long to wait for the end of loading; what takes longer is mostly a third party."""

_READY_JS = f"""async ([quietMs, capMs, loadMs, decode, point]) => {{
  {WATCH_JS}
  {READ_JS}
  const end = performance.now() + capMs;
  const watch = window[watchKey] || startWatch();
  const sleep = (ms) => new Promise(done => setTimeout(done, ms));
  const frame = () => new Promise(done => {{ requestAnimationFrame(done); setTimeout(done, 50); }});
  const before = (work) => Promise.race([work, sleep(Math.max(0, end - performance.now()))]);
  if (document.readyState === 'loading')
    await before(new Promise(done => document.addEventListener('DOMContentLoaded', done, {{once: true}})));
  // Many pages come to life on `load`; a page that keeps loading is waited for only once.
  if (document.readyState !== 'complete' && !document.webdojoLoadAwaited) {{
    Object.defineProperty(document, 'webdojoLoadAwaited', {{value: true}});
    await before(Promise.race([sleep(loadMs), new Promise(done => addEventListener('load', done, {{once: true}}))]));
  }}
  // Without scripts nothing moves by itself: two frames let scrolls and styles land.
  const quiet = document.scripts.length ? quietMs : 0;
  const shapeOf = () => [...pageSize(), scrollX, scrollY].join();
  const imagesInView = () => [...document.images].filter(image => {{
    if (image.complete && (!decode || image.webdojoDecoded === image.currentSrc)) return false;
    const box = image.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 &&
      box.top < innerHeight && box.left < innerWidth;
  }});
  // Decoding keeps the whole picture in memory, where drawing needs one of the size that is shown.
  const arrival = (image) => decode
    ? image.decode().catch(() => {{}}).then(() => {{
        Object.defineProperty(image, 'webdojoDecoded', {{value: image.currentSrc, writable: true, configurable: true}});
      }})
    : new Promise(done => ['load', 'error'].forEach(end => image.addEventListener(end, done, {{once: true}})));
  await before(frame());
  await before(frame());
  let shape = shapeOf();
  while (performance.now() < end) {{
    const images = imagesInView();
    if (images.length) await before(Promise.all(images.map(arrival)));
    if (document.fonts.status !== 'loaded') await before(document.fonts.ready);
    watch.take(watch.observer.takeRecords());
    const now = performance.now();
    const current = shapeOf();
    if (current !== shape) {{ shape = current; watch.last = now; }}
    const left = quiet - (now - watch.last);
    if (left <= 0) break;
    await sleep(Math.min(left, 25));
  }}
  return {{...readPage(point), changes: watch.changes}};
}}"""


async def settle(tab: Tab, config: BrowserConfig, point_px: tuple[int, int] | None = None) -> dict[str, Any]:
    """Wait until the tab is ready, and return its state as `probe.read_state` takes it.

    A navigation that is under way may take as long as the caller's timeout allows; `ready_cap_s` counts from its end.
    """
    document = -1
    deadline = 0.0
    while True:
        await tab.navigated()
        if document != tab.document:
            deadline = time.monotonic() + config.ready_cap_s
        document = tab.document
        left = max(0.0, deadline - time.monotonic())
        try:
            raw: dict[str, Any] = await tab.page.evaluate(
                _READY_JS, [_QUIET_S * 1000, left * 1000, _LOAD_S * 1000, bool(config.cdp_url), point_px]
            )
        except PlaywrightError as error:
            if not is_overtaken(error):
                raise
            continue
        if not (tab.navigating or tab.document != document or await tab.requests_done(deadline)):
            return raw


async def until_read(read: Callable[[], Awaitable[T]], navigated: Callable[[], Awaitable[None]] | None = None) -> T:
    """Return what `read` returns about a page; call it again each time that a new document has come meanwhile.

    `navigated` waits for the end of the navigation before each further call.
    """
    while True:
        try:
            return await read()
        except PlaywrightError as error:
            if not is_overtaken(error):
                raise
        if navigated is not None:
            await navigated()


def is_overtaken(error: PlaywrightError) -> bool:
    """Whether a command failed because a new document replaced the one that it ran in."""
    return "context was destroyed" in error.message or "Not attached to an active page" in error.message
