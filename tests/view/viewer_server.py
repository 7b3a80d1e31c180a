"""The viewer as it is served, for tests in a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from webdojo.view.server.app import create_app
from webdojo.view.server.runs import Runs


@contextmanager
def served(folders: Sequence[Path]) -> Iterator[str]:
    """The address of a server for some folders, on a free port."""
    runs = Runs(folders)
    config = uvicorn.Config(create_app(runs), port=0, lifespan="off", log_level="error", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    runs.stopping.set()
    server.should_exit = True
    thread.join()
    listening.close()
    runs.close()
