"""The process of a vLLM server that ends with the process that started it.

Run as `python -m webdojo.policy.vllm.launch <arguments of vLLM's API server>`, as the first of its own
process group and with a pipe on standard input. Invariant: when the other end of the pipe is gone, for
whatever reason, the whole group ends, so that no server keeps a GPU that nobody uses.
"""

from __future__ import annotations

import os
import runpy
import signal
import threading


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, name="webdojo-parent", daemon=True).start()
    runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__", alter_sys=True)
