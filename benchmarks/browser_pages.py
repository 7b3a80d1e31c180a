"""The pages of the browser benchmark, and the actions that an agent carries out on them.

    python benchmarks/browser_pages.py static photos scripts     serves them and prints their origin

All ways get the same bytes and do the same actions in the same order. Each action changes the page, and the page
itself counts those that arrived in a viewport of the right size (`bench.count`) and shows the count as a row of black
and white cells, so that lost actions and stale screenshots are found out by anyone who can read the screenshot.
Every page has one short script for that, as nearly all pages of the web have one.

- static: about 140 tags, 12 cards with small photos;
- photos: 24 photos of 1600×1200, shown at a quarter of that size;
- scripts: every action renders a table of 300 rows anew, and measures it a little later.
"""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

VIEWPORT_PX = (1280, 1000)
PAGES = ("flat", "text", "static", "photos", "scripts")
"""One colour, a page full of text, small photos, large photos, scripts that draw a table anew."""
CELL_PX = 16
BITS = 16
"""The count is shown in the top left corner, lowest bit first, white for 1."""
_SCROLL_PX = 500


@dataclass(frozen=True)
class Action:
    """One action; points in 0..1000 of the viewport, as the tools of webdojo take them."""

    kind: Literal["click", "write", "scroll"]
    x: int = 0
    y: int = 0
    text: str = ""
    direction: Literal["up", "down"] = "down"

    @property
    def x_px(self) -> int:
        return round(self.x * VIEWPORT_PX[0] / 1000)

    @property
    def y_px(self) -> int:
        return round(self.y * VIEWPORT_PX[1] / 1000)

    @property
    def wheel_px(self) -> int:
        return _SCROLL_PX if self.direction == "down" else -_SCROLL_PX

    @property
    def amount(self) -> float:
        """Of the viewport."""
        return _SCROLL_PX / VIEWPORT_PX[1]


CYCLE = 6


def action(step: int) -> Action:
    """The action of a step, counted from 0 on a fresh page: three clicks, two scrolls, one text in a cycle."""
    cycle, place = divmod(step, CYCLE)
    return (
        Action("click", 156, 50),  # "Add"
        Action("scroll", 500, 500, direction="down"),
        Action("click", 469, 50),  # the search field
        Action("write", text=f"mug {cycle}"),
        Action("scroll", 500, 500, direction="up"),
        Action("click", 781, 50),  # "Turn": the cards in the opposite order
    )[place]


def shown_count(screenshot: bytes) -> int:
    """Read the count that an encoded screenshot shows."""
    with Image.open(io.BytesIO(screenshot)) as image:
        strip = np.asarray(image.crop((0, 0, CELL_PX * BITS, CELL_PX)).convert("L"))
    middle = CELL_PX // 2
    return sum(int(strip[middle, CELL_PX * bit + middle] > 127) << bit for bit in range(BITS))


_STYLE = """
* { box-sizing: border-box }
body { margin: 0; padding: 96px 16px 16px; font: 16px/1.4 sans-serif; background: #f4f1ea; color: #223 }
#bar { position: fixed; inset: 0 0 auto; height: 88px; background: #26374f; z-index: 1 }
#bar > * { position: absolute; top: 30px; height: 44px; font: inherit }
#add { left: 120px; width: 160px } #q { left: 450px; width: 300px } #turn { left: 920px; width: 160px }
#mark { position: fixed; left: 0; top: 0; display: flex; z-index: 2 }
#mark i { width: 16px; height: 16px; background: #000 } #mark i.on { background: #fff }
#cards { display: flex; flex-wrap: wrap; gap: 16px }
#cards.turned { flex-flow: row-reverse wrap-reverse }
.card { width: 296px; height: 470px; padding: 12px; background: #fff; border-radius: 8px; box-shadow: 0 2px 8px #0003 }
.card.hit { background: #d9f2dc }
.card img { display: block; width: 272px; height: 204px; object-fit: cover }
.wide .card { width: 400px; height: 330px; padding: 0 } .wide img { width: 400px; height: 300px }
table { border-collapse: collapse; table-layout: fixed; width: 100% } td { border: 1px solid #ccc; padding: 2px 8px }
td i { display: block; height: 10px; background: linear-gradient(90deg, #58c, #c85) }
"""

_SCRIPT = """
const cells = [...document.querySelectorAll('#mark i')], cards = [...document.querySelectorAll('.card')];
const bench = window.bench = {count: 0};
const show = () => cells.forEach((cell, bit) => cell.classList.toggle('on', bench.count >> bit & 1));
let typed = 0, low = false;
const arrived = () => {
  if (innerWidth !== WIDTH || innerHeight !== HEIGHT) return;
  bench.count++;
  if (cards.length) cards[bench.count %% cards.length].classList.toggle('hit');
  if (window.work) work(show); else show();
};
document.getElementById('add').onclick = arrived;
document.getElementById('turn').onclick = () => {
  document.getElementById('cards').classList.toggle('turned');
  arrived();
};
const q = document.getElementById('q');
q.onclick = arrived;
q.oninput = () => { if (q.value === `mug ${typed}`) { typed++; arrived(); } };
addEventListener('scroll', () => {
  if (Math.abs(scrollY - (low ? 0 : %d)) < 2) { low = !low; arrived(); }
});
"""

_WORK = """
window.work = (then) => {
  const of = (row) => (row * 7919 + bench.count * 104729) %% 1000;
  const rows = [...Array(%d).keys()].sort((a, b) => of(a) - of(b));
  const body = document.querySelector('tbody');
  body.replaceChildren(...rows.map(row => {
    const line = document.createElement('tr');
    line.innerHTML = `<td>${row}<td>item ${of(row)}<td><b>${bench.count}</b> times<td><i></i>`;
    return line;
  }));
  setTimeout(() => {
    const widths = [...body.rows].map(line => line.offsetWidth);
    widths.forEach((width, k) => body.rows[k].querySelector('i').style.width = `${width * of(k) / 4000}px`);
    then();
  }, 20);
};
work(() => {});
"""
_ROWS = 300
_WORDS = (
    "the price of a mug of glazed stoneware made by hand in one of the towns along the river depends on its size and "
    "on how many of them were fired at once while each differs a little from all others in colour weight and sound"
)


def html(page: str) -> str:
    """One of `PAGES`."""
    bar = "<button id=add>Add</button><input id=q aria-label=Search><button id=turn>Turn</button>"
    mark = "<div id=mark>" + "<i></i>" * BITS + "</div>"
    width, height = VIEWPORT_PX
    script = f"const WIDTH = {width}, HEIGHT = {height};" + _SCRIPT % _SCROLL_PX
    if page == "static":
        cards = "".join(
            f"<div class=card><img src=/small/{k}.jpg alt=''><h3>Mug {k}</h3><p>Glazed stoneware, {200 + 20 * k} ml. "
            f"Made by hand, <em>each one differs</em>.</p><p><b>{12 + k} €</b> <s>{15 + k} €</s></p>"
            f"<a href='#'>Details</a> <button>Buy</button></div>"
            for k in range(12)
        )
        body = f"<div id=cards>{cards}</div>"
    elif page == "photos":
        photos = "".join(f"<div class='card'><img src=/large/{k}.jpg alt=''><b>Photo {k}</b></div>" for k in range(24))
        body = f"<div id=cards class=wide>{photos}</div>"
    elif page == "flat":
        body = "<div id=cards style='height:2400px'></div>"
    elif page == "text":
        words = _WORDS.split()
        lines = (" ".join(words[(7 * line + 3 * k) % len(words)] for k in range(22)) for line in range(150))
        body = f"<div id=cards></div>{''.join(f'<p>{line}.</p>' for line in lines)}"
    else:
        body = "<div id=cards></div><table><tbody></tbody></table>"
        script += _WORK % _ROWS
    head = f"<meta charset=utf-8><title>{page}</title><link rel=icon href='data:,'><style>{_STYLE}</style>"
    body = f"{mark}<div id=bar>{bar}</div>{body}<script>{script}</script>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>"


def photo(seed: int, width: int, height: int) -> bytes:
    """A JPEG as hard to encode as a photo: soft light, some edges, a little grain. The same for a seed everywhere."""
    rng = np.random.default_rng(seed)
    picture = Image.fromarray(rng.integers(30, 225, (6, 8, 3), dtype=np.uint8)).resize(
        (width, height), Image.Resampling.BICUBIC
    )
    draw = ImageDraw.Draw(picture)
    for _ in range(40):
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        a, b = rng.uniform(0.02, 0.15, 2) * width
        draw.ellipse((x - a, y - b, x + a, y + b), fill=tuple(int(c) for c in rng.integers(0, 255, 3)))
    soft = np.asarray(picture.filter(ImageFilter.GaussianBlur(1.5)), dtype=np.float32)
    grain = rng.normal(0, 4, (height, width, 1)).astype(np.float32)
    out = io.BytesIO()
    Image.fromarray(np.clip(soft + grain, 0, 255).astype(np.uint8)).save(out, "jpeg", quality=88)
    return out.getvalue()


def _files(pages: list[str]) -> dict[str, tuple[str, bytes]]:
    """Everything that is served, by path: type and bytes."""
    files = {f"/{page}": ("text/html; charset=utf-8", html(page).encode()) for page in pages}
    if "static" in pages:
        files |= {f"/small/{k}.jpg": ("image/jpeg", photo(k, 400, 300)) for k in range(12)}
    if "photos" in pages:
        # Six pictures at four addresses each: Chromium decodes each address by itself.
        large = [photo(100 + k, 1600, 1200) for k in range(6)]
        files |= {f"/large/{k}.jpg": ("image/jpeg", large[k % 6]) for k in range(24)}
    return files


def serve(pages: list[str]) -> None:
    """Serve pages on a free port until stdin ends; the origin is the first line on stdout."""
    files = _files(pages)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            kind, data = files.get(self.path, ("text/plain", b"not here"))
            self.send_response(200 if self.path in files else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "max-age=3600")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # a browser that goes away in mid-answer is no news

    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()  # it ends with the process that asked for the pages, however that ends


@contextmanager
def served(pages: list[str]) -> Iterator[str]:
    """The pages from a process of its own, by their origin: its CPU time is no way's."""
    command = [sys.executable, str(Path(__file__)), *pages]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()


if __name__ == "__main__":
    serve(sys.argv[1:])
