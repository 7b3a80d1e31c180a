"""How a recipe's vLLM servers are started."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from webdojo.errors import ConfigError
from webdojo.policy.vllm.config import VLLMConfig
from webdojo.policy.vllm.server import Launch, Server, free_port

_CPU_CACHE_BYTES = 2**30
"""The size of the KV cache if the recipe names none: vLLM would take most of the machine's memory."""


def make_servers(
    folder: Path,
    config: VLLMConfig,
    scratch: Path,
    *,
    device: torch.device,
    dtype: torch.dtype,
    max_model_len: int,
    threads: int,
) -> list[Server]:
    """The servers of a recipe, not started yet; their logs go to `scratch`.

    Raises:
        ConfigError: more or fewer GPUs are named than the servers take.
    """
    if config.urls:
        return [Server(url, None, config.start_timeout_s) for url in config.urls]
    if config.gpus and len(config.gpus) != config.replicas * config.tensor_parallel_size:
        raise ConfigError(
            f"engine.gpus names {len(config.gpus)} GPUs, but {config.replicas} replicas of "
            f"{config.tensor_parallel_size} GPUs each need {config.replicas * config.tensor_parallel_size}"
        )
    servers = []
    for index in range(config.replicas):
        port = config.port + index if config.port else free_port()
        command = serve_command(folder, config, device, dtype, max_model_len, port)
        launch = Launch(command, server_env(config, device, threads, index), scratch / f"server-{index}.log")
        servers.append(Server(f"http://127.0.0.1:{port}", launch, config.start_timeout_s))
    return servers


def start_all(servers: Sequence[Server]) -> None:
    """Start servers side by side and wait until all answer; where one fails none is left.

    Raises:
        EngineError: one does not start.
    """
    try:
        for server in servers:
            server.start()
        for server in servers:
            server.wait()
    except BaseException:
        for server in servers:
            server.stop()
        raise


def serve_command(
    folder: Path,
    config: VLLMConfig,
    device: torch.device,
    dtype: torch.dtype,
    max_model_len: int,
    port: int,
) -> list[str]:
    """The command line of a server."""
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
