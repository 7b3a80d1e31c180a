"""A small web site with one page for each thing that a browser session must cope with."""

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import pytest_asyncio

from webdojo.browser.config import BrowserConfig, GuardConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.store.images import MemoryImages

# Rows of 50 px in a viewport of 500 x 500: row k is clicked at y = 100 k + 50.
ROWS = "<style>body{{margin:0}} .row{{display:block;height:50px;box-sizing:border-box}}</style>{}"


def rows(*cells: str) -> str:
    body = "".join(f"<div class=row>{cell}</div>" for cell in cells)
    return f"<!doctype html><title>rows</title>{ROWS.format(body)}"


PAGES = {
    "/": rows(
        "<a href=/two>Mugs</a>",
        "<a href=/two target=_blank>Blank</a>",
        "plain text",
        "<input aria-label=Search>",
        "<label><input type=checkbox>Gift</label>",
        '<button onclick=\'this.insertAdjacentText("afterend", "added")\'>Add</button>',
        "<button onclick='alert(\"Sold out\")'>Alert</button>",
        "<select aria-label=Size><option>Small<option>Large</select>",
        "<a href=/file>Download</a>",
    ),
    "/two": rows("<a href=/>Home</a>", "<a href=/two>Again</a>", "<a href=/dead>Dead</a>"),
    "/doors": rows("<a href=/dead target=_blank>Dead</a>"),
    "/form": rows(
        "<form action=/two><input name=q placeholder=Query value=old></form>",
        "<input aria-label=Upper oninput='this.value = this.value.toUpperCase()'>",
        "<input type=date aria-label=Day>",
        "<textarea aria-label=Note>first</textarea>",
        "<button>Plain</button>",
        "<input aria-label=Keys onkeydown='out.textContent = event.key'><span id=out></span>",
    ),
    "/login": rows("<input type=password aria-label=Password>"),
    "/long": "<!doctype html><title>long</title><body style='margin:0;height:2500px'>"
    "<div style='height:200px;overflow:auto'><div style='height:1000px'>inner</div></div>",
    "/drag": "<!doctype html><body style='margin:0'><div id=d style='width:100px;height:100px;background:red'></div>"
    "<script>let x=0;d.onmousedown=()=>x=1;onmousemove=e=>{if(x)d.title=e.clientX};onmouseup=()=>x=0</script>",
    "/late": rows("<button onclick='fetch(\"/data\").then(r => r.text()).then(t => out.textContent = t)'>Load</button>")
    + "<p id=out></p><script></script>",
    "/restless": rows("<button>Calm</button>") + "<p id=out></p><script>let n = 0;"
    "setInterval(() => { out.textContent = n++; out.style.left = n + 'px' }, 10)</script>",
    "/drawn": "<!doctype html><title>drawn</title><body><script>"
    "setTimeout(() => document.body.append('here'), 700)</script>",
    "/undrawn": "<!doctype html><title>undrawn</title><body><script></script>",
    "/popup": rows(
        "<button onclick='window.open(\"/slow\")'>Open</button>",
        "<button onclick='window.open(\"/close\")'>Brief</button>",
    ),
    "/close": "<script>window.close()</script>",
    "/hang": rows("<button onclick='for (;;);'>Hang</button>"),
    "/dead": "",
    "/icon": "",
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    flaky = 0

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/slow":
            time.sleep(0.5)
        if path == "/data":
            time.sleep(0.3)
            self.answer(200, "arrived")
        elif path == "/cookie":
            self.answer(200, self.headers.get("Cookie", "none"), {"Set-Cookie": "who=me"})
        elif path == "/headers":
            self.answer(200, self.headers.get("X-Test", "none"))
        elif path == "/broken":
            self.answer(503, "down")
        elif path == "/flaky":
            Handler.flaky += 1
            self.answer(503 if Handler.flaky < 3 else 200, f"try {Handler.flaky}")
        elif path == "/file":
            self.answer(200, "bytes", {"Content-Disposition": "attachment; filename=price.zip"})
        elif path == "/dead":
            self.close_connection = True
            self.connection.close()
        elif path == "/missing":
            self.answer(404, "not here")
        else:
            self.answer(200, PAGES.get(path, "<title>slow</title>slow"))

    def answer(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a browser that goes away in mid-answer is no news


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on a free port, by its origin."""
    server = QuietServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    with served(Handler) as origin:
        yield origin


LOCAL = GuardConfig(private_hosts=["127.0.0.1"], connections_per_second=0)
"""The test site is on this machine."""

CONFIG = BrowserConfig(
    viewport_px=(500, 500),
    action_timeout_s=10,
    ready_cap_s=2,
    guard=LOCAL,
)


@pytest.fixture(scope="session")
def config() -> BrowserConfig:
    return CONFIG


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def images() -> MemoryImages:
    return MemoryImages()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(config: BrowserConfig, images: MemoryImages) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(config, images) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="module")
async def session(pool: BrowserPool, site: str) -> AsyncIterator[BrowserSession]:
    session = await pool.open(f"{site}/")
    yield session
    await session.close()
