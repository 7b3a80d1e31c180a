"""The training under `supervise`: the command line, ended when its parent is gone."""

from __future__ import annotations

import os
import signal
import threading

from webdojo.cli import main


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, name="webdojo-parent", daemon=True).start()
    main()
