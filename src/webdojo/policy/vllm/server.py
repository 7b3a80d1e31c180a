"""A vLLM server: a process that we start as a recipe says, or an address where somebody else runs one; and the folder
through which new weights reach it.

Invariants: a server that we started is gone, with all its processes, when `stop` returns, when it is started again, and
when this process ends in whatever way (`launch`). A scratch folder is gone once its engine is closed or, where that was
killed, once the next engine starts in the same place.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import torch
from safetensors.torch import save_file

from webdojo.errors import EngineError, EngineLost
from webdojo.policy.engine import ServedModel, VLLMConfig
from webdojo.policy.model.loading import device_of, engine_dtype

_POLL_S = 0.2
_TERM_S = 10.0
_HEALTH_S = 10.0
_CPU_CACHE_BYTES = 2**30
"""The size of the KV cache if the recipe names none: vLLM would take most of the machine's memory."""
_PIECE_BYTES = 4 * 2**30
"""Size of a file of weights: so much is held a second time while it is written."""
_PREFIX = "webdojo-vllm-"
_LOCK = "lock"
_ERROR_LINE = re.compile(r"\b\w*(?:Error|Exception): .+")


@dataclass(eq=False)
class Server:
    """One server."""

    url: str
    """Where it answers, such as `http://127.0.0.1:8000`."""
    start_timeout_s: float
    """How long it may take until it answers."""
    command: Sequence[str] = ()
    """Starts it; empty for one that somebody else runs."""
    env: Mapping[str, str] = field(default_factory=dict)
    """On top of this process's own environment."""
    log: Path = Path(os.devnull)
    """Gets what the server prints."""
    closed: bool = False
    process: subprocess.Popen[bytes] | None = None
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Start the process, after the end of the one before; `wait` waits until it answers."""
        if not self.command:
            return
        with self._changing, self.log.open("ab") as log:
            self._kill()
            if self.closed:
                return
            self.process = subprocess.Popen(
                self.command,
                env={**os.environ, **self.env},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Block until the server answers; EngineLost if it was killed, EngineError if it does not come up."""
        deadline = time.monotonic() + self.start_timeout_s
        while not self.answers():
            if self.closed:
                raise EngineError("the engine was closed while its vLLM server started")
            if self.process is not None and (status := self.process.poll()) is not None:
                kind = EngineLost if status < 0 else EngineError  # somebody killed it, or it fails by itself
                named = _ERROR_LINE.search(self.log.read_text(errors="replace"))  # errors after it follow from it
                raise kind(
                    f"the vLLM server ended with status {status} while it started: "
                    f"{named[0] if named else 'no reason given'} (its log: {self.log})"
                )
            if time.monotonic() > deadline:
                raise EngineError(
                    f"no vLLM server answers at {self.url} after {self.start_timeout_s:g} s"
                    f"{f' (its log: {self.log})' if self.command else ''}; "
                    "raise engine.start_timeout_s if it only needs more time"
                )
            time.sleep(_POLL_S)

    def stop(self) -> None:
        self.closed = True
        with self._changing:
            self._kill()

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=_HEALTH_S, trust_env=False).is_success
        except httpx.TransportError:
            return False

    def _kill(self) -> None:
        """End the whole process group: kindly, so that it cleans up, then by force."""
        process, self.process = self.process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(ProcessLookupError):  # the group has no process any more
            for number in (signal.SIGTERM, signal.SIGKILL):
                os.killpg(process.pid, number)
                deadline = time.monotonic() + _TERM_S
                while time.monotonic() < deadline:
                    process.poll()  # a child that nobody waits for stays in its group
                    os.killpg(process.pid, 0)
                    time.sleep(_POLL_S / 4)
        process.wait()
        process.stdin.close()


def start_servers(folder: Path, model: ServedModel, config: VLLMConfig, scratch: Path) -> list[Server]:
    """Start the servers of a recipe for a model in a folder, side by side, and wait until all answer.

    Where one fails none is left. Their logs go to `scratch`.
    """
    device, dtype = device_of(model.config), engine_dtype(model.config)
    servers = [Server(url.rstrip("/"), config.start_timeout_s) for url in config.urls]
    for index in range(0 if config.urls else config.replicas):
        port = config.port + index if config.port else free_port()
        command = serve_command(folder, config, device, dtype, model.max_context_tokens, port)
        env = server_env(config, device, model.config.threads, index)
        url, log = f"http://127.0.0.1:{port}", scratch / f"server-{index}.log"
        servers.append(Server(url, config.start_timeout_s, command, env, log))
    try:
        for server in servers:
            server.start()
        for server in servers:
            server.wait()
    except BaseException:
        for server in servers:
            server.stop()
        raise
    return servers


def serve_command(
    folder: Path, config: VLLMConfig, device: torch.device, dtype: torch.dtype, max_model_len: int, port: int
) -> list[str]:
    on_cpu = device.type == "cpu"
    options = {
        "--model": folder,
        "--host": "127.0.0.1",
        "--port": port,
        "--dtype": str(dtype).removeprefix("torch."),
        "--max-model-len": config.max_model_len or max_model_len,
        "--tensor-parallel-size": config.tensor_parallel_size,
        "--gpu-memory-utilization": config.gpu_memory_utilization,
        "--logprobs-mode": "processed_logprobs",
        "--generation-config": "vllm",
        "--weight-transfer-config": '{"backend": "webdojo"}',
    }
    flags = ["--enable-scale-out", "--enable-prefix-caching", "--disable-uvicorn-access-log"]
    if cache_bytes := config.kv_cache_memory_bytes or (_CPU_CACHE_BYTES if on_cpu else 0):
        options["--kv-cache-memory-bytes"] = cache_bytes
    if config.enforce_eager or on_cpu:
        flags.append("--enforce-eager")
    if config.enable_sleep_mode:
        flags.append("--enable-sleep-mode")
    given = [str(word) for option in options.items() for word in option]
    python = config.python or sys.executable
    return [python, "-m", "webdojo.policy.vllm.launch", *given, *flags, *config.args]


def server_env(config: VLLMConfig, device: torch.device, threads: int, index: int) -> dict[str, str]:
    """What the environment of the server with this index has beyond our own."""
    env = {"VLLM_SERVER_DEV_MODE": "1", "VLLM_NO_USAGE_STATS": "1"}  # the first opens the routes that change weights
    if device.type == "cpu":
        env["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
        return env | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    if config.gpus:
        wanted = config.tensor_parallel_size
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, config.gpus[index * wanted : (index + 1) * wanted]))
    return env


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass(frozen=True, eq=False)
class WeightFolder:
    """A folder of weights and the version that they are served as."""

    folder: Path
    version: int
    temporary: bool
    """Written for the servers, to be removed when newer ones serve."""

    def remove(self) -> None:
        if self.temporary:
            shutil.rmtree(self.folder, ignore_errors=True)


class Scratch:
    """A folder for the weights and logs of one engine's servers, under `place` or where temporary files go.

    A lock, which the system frees when a process ends, tells the folders of running engines from those of killed ones.
    """

    def __init__(self, place: str) -> None:
        for left in Path(place or tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            # Not ours where it is locked, another user's, or just being removed.
            with contextlib.suppress(OSError), (left / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place or None))
        new = self.path / f"{_LOCK}.new"
        self._lock = new.open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new.rename(self.path / _LOCK)  # so that nobody finds it before it is locked

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def abandon(self) -> None:
        """Leave the folder with its logs to whoever reads them before the next engine starts and removes it."""
        self._lock.close()


def write_weights(state_dict: Mapping[str, torch.Tensor], folder: Path, dtype: torch.dtype) -> None:
    """Write a state dict as safetensors in `dtype`; tensors that share their memory are written once."""
    folder.mkdir(parents=True, exist_ok=True)
    piece: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    size = pieces = 0
    for name, tensor in state_dict.items():
        if tensor.data_ptr() in seen:
            continue
        seen.add(tensor.data_ptr())
        piece[name] = tensor.detach().to("cpu", dtype).contiguous()
        size += piece[name].nbytes
        if size >= _PIECE_BYTES:
            save_file(piece, folder / f"model-{pieces:05}.safetensors")
            piece, size, pieces = {}, 0, pieces + 1
    if piece:
        save_file(piece, folder / f"model-{pieces:05}.safetensors")
