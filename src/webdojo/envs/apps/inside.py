"""Installs, seeds and serves an application, as a script of the application's own Python.

    inside.py MODULE install            in the folder that becomes its base: `db.sqlite3`, `static`
    inside.py MODULE seed < WORLD       in a copy of the base's database: fills it, writes `logins.json`
    inside.py MODULE serve              in the base: forks a process for each visit

MODULE is a file, or the `__init__.py` of a package, with the functions `install()`, `seed(world)` and `application()`,
which returns a WSGI application that has loaded all its code; it is imported as `webdojo_application`, and may import
the modules beside this file. Its paths are relative: a visit is a process, forked from one that has loaded everything,
in a folder of its own, with its own `db.sqlite3` and `media`.

`serve` reads commands as JSON lines and answers each with one: `{"start": id, "folder": …, "socket": …}`,
`{"stop": id}`, `{"alive": id}`. It ends, with all visits, when its input ends. Nothing in it may connect to a network.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import mimetypes
import os
import selectors
import signal
import socket
import socketserver
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
PAGES = "pages.jsonl"
"""Every HTML page, JSON answer and redirection that a visit was served, one a line: `path`, `method`, `status`, and
`html` or `json`."""
KINDS = {"text/html": "html", "application/json": "json"}
"""What is kept, by the type that the application names."""


def main(module: str, command: str) -> None:
    package = [os.path.dirname(module)] if os.path.basename(module) == "__init__.py" else None
    spec = importlib.util.spec_from_file_location("webdojo_application", module, submodule_search_locations=package)
    assert spec is not None and spec.loader is not None
    site = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = site
    sys.addaudithook(_refuse_networks)
    sys.path.append(str(Path(__file__).parent))
    spec.loader.exec_module(site)
    match command:
        case "install":
            site.install()
        case "seed":
            Path("logins.json").write_text(json.dumps(site.seed(json.load(sys.stdin))))
        case "serve":
            serve(site.application(), Path.cwd())


def _refuse_networks(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo" or (event == "socket.connect" and arguments[0].family != socket.AF_UNIX):
        raise PermissionError(f"applications reach nothing outside: {event}{arguments[1:]!r}")


def serve(application: Wsgi, base: Path) -> None:
    """Answer commands until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the application prints is no answer
    life, held = os.pipe()
    application = recorded(with_files(application, base))
    gc.collect()
    gc.freeze()  # so that collections in the visits do not touch, and copy, what they share
    visits: dict[str, int] = {}
    print(json.dumps({"ready": os.getpid()}), file=answers)
    answer: dict[str, Any]
    for line in sys.stdin:
        order = json.loads(line)
        match order:
            case {"start": str(visit), "folder": str(folder), "socket": str(path)}:
                server = VisitServer(path)
                server.set_app(application)
                if not (pid := os.fork()):
                    os.close(held)
                    _attend(server, folder, life)
                server.server_close()
                visits[visit] = pid
                answer = {"pid": pid}
            case {"stop": str(visit)}:
                answer = {"stopped": _end(visits.pop(visit, 0))}
            case {"alive": str(visit)}:
                answer = {"alive": visit in visits and os.waitpid(visits[visit], os.WNOHANG)[0] == 0}
                if not answer["alive"]:
                    visits.pop(visit, None)
            case _:
                answer = {"error": f"unknown order {order!r}"}
        print(json.dumps(answer), file=answers)
    for pid in visits.values():
        _end(pid)


def _end(pid: int) -> bool:
    if not pid:
        return False
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return True


def _attend(server: VisitServer, folder: str, life: int) -> None:
    """Serve one visit, one request after the other, for as long as the process that forked this one lives."""
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with selectors.DefaultSelector() as selector:
        selector.register(server, selectors.EVENT_READ)
        selector.register(life, selectors.EVENT_READ)
        while True:
            if any(key.fileobj == life for key, _ in selector.select()):
                os._exit(0)
            server.handle_request()


class VisitServer(WSGIServer):
    """Listens on a Unix socket; every connection ends after its answer."""

    address_family = socket.AF_UNIX
    request_queue_size = 64

    def __init__(self, path: str) -> None:
        super().__init__(path, _QuietHandler)  # type: ignore[arg-type]  # the address of a Unix socket is a path

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", 80
        self.setup_environ()

    def get_request(self) -> tuple[socket.socket, Any]:
        return self.socket.accept()[0], ("127.0.0.1", 0)


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def with_files(application: Wsgi, base: Path) -> Wsgi:
    """The application, with `/static/` from its base and `/media/` from the folder of the visit."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        for prefix, root in (("/static/", base / "static"), ("/media/", Path("media").absolute())):
            if path.startswith(prefix):
                file = (root / path.removeprefix(prefix)).resolve()
                if not file.is_relative_to(root.resolve()) or not file.is_file():
                    start_response("404 Not Found", [("Content-Type", "text/plain")])
                    return [b"there is no such file\n"]
                kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
                start_response("200 OK", [("Content-Type", kind), ("Cache-Control", "max-age=86400")])
                return [file.read_bytes()]
        return application(environ, start_response)

    return answer


def recorded(application: Wsgi) -> Wsgi:
    """The application, with its pages and what their scripts fetch written to `PAGES` in the folder of the visit."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        started: list[Any] = []
        written: list[bytes] = []

        def start(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], Any]:
            started[:] = [status, headers]
            write = start_response(status, headers, error) if error else start_response(status, headers)

            def keep(data: bytes) -> None:  # the older way to answer, beside what is returned
                written.append(data)
                write(data)

            return keep

        parts = application(environ, start)
        try:
            body = b"".join(parts)
        finally:
            if close := getattr(parts, "close", None):  # WSGI asks for it (PEP 3333)
                close()
        status, headers = started
        named = next((value for name, value in headers if name.lower() == "content-type"), "")
        redirects = status.startswith("3")
        if kind := KINDS.get(named.partition(";")[0].strip(), "html" if redirects else ""):
            query = environ.get("QUERY_STRING", "")
            page = {
                "path": _utf8(environ.get("PATH_INFO", "")) + (f"?{query}" if query else ""),
                "method": environ["REQUEST_METHOD"],
                "status": int(status.split()[0]),
                kind: (b"".join(written) + body).decode(errors="replace"),
            }
            with open(PAGES, "a", encoding="utf-8") as file:
                file.write(json.dumps(page) + "\n")
        return [body]

    return answer


def _utf8(path: str) -> str:
    """A path of WSGI, whose characters are bytes (PEP 3333), as the text that they are."""
    return path.encode("latin-1").decode(errors="replace")


if __name__ == "__main__":
    main(*sys.argv[1:])
