"""The part of the Hugging Face hub's HTTP API that an upload needs, with repositories in memory."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

TOKEN = "hf_double"
LARGE = 100_000
"""Bytes from which a file goes through git LFS."""


class Hub(ThreadingHTTPServer):
    """Use it by `hub()`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.repositories: dict[str, dict[str, bytes]] = {}
        """The files of each repository."""
        self.private: set[str] = set()
        self.large: dict[str, bytes] = {}
        """What came through git LFS, by its SHA-256."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def hub() -> Iterator[Hub]:
    with Hub() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Answers(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        if not self._allowed():
            return
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/main", urlsplit(self.path).path):
            files = self.server.repositories[found[1]]
            self._json([{"type": "file", "path": name, "size": len(data), "oid": "0"} for name, data in files.items()])
        else:
            self._json({"error": f"no {self.path}"}, 404)

    def do_PUT(self) -> None:
        data = self._body()
        oid = self.path.removeprefix("/lfs/")
        assert hashlib.sha256(data).hexdigest() == oid
        self.server.large[oid] = data
        self._json({})

    def do_POST(self) -> None:
        data = self._body()
        if not self._allowed():
            return
        path = urlsplit(self.path).path
        if path == "/api/repos/create":
            asked = json.loads(data)
            id = f"{asked['organization']}/{asked['name']}"
            if id in self.server.repositories:
                self._json({"error": "You already created this model repo", "url": f"{self.server.url}/{id}"}, 409)
                return
            self.server.repositories[id] = {}
            if asked.get("visibility") == "private":
                self.server.private.add(id)
            self._json({"url": f"{self.server.url}/{id}"})
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif path.endswith("/preupload/main"):
            files = json.loads(data)["files"]
            modes = [{"path": f["path"], "uploadMode": "lfs" if f["size"] >= LARGE else "regular"} for f in files]
            self._json({"files": [mode | {"shouldIgnore": False} for mode in modes]})
        elif path.endswith(".git/info/lfs/objects/batch"):
            objects = json.loads(data)["objects"]
            actions = [
                {**o, "actions": {"upload": {"href": f"{self.server.url}/lfs/{o['oid']}", "header": {}}}}
                for o in objects
            ]
            self._json({"transfer": "basic", "objects": actions})
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/main", path):
            self._commit(found[1], [json.loads(line) for line in data.splitlines()])
        else:
            self._json({"error": f"no {self.path}"}, 404)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _commit(self, id: str, lines: list[dict[str, Any]]) -> None:
        files = self.server.repositories[id]
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.server.large[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        self._json({"commitUrl": f"{self.server.url}/{id}/commit/{40 * 'a'}", "commitOid": 40 * "a"})

    def _allowed(self) -> bool:
        allowed = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if not allowed:
            self._json({"error": "Invalid username or password."}, 401)
        return allowed

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _json(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
