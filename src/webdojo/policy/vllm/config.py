"""Options of the engine `vllm`, which starts vLLM servers or uses some that run (`policy/engines.py` opens it)."""

from __future__ import annotations

from pydantic import Field

from webdojo.policy.engine import EngineConfig


class VLLMConfig(EngineConfig):
    """vLLM's own options have vLLM's names."""

    name: str = "vllm"

    python: str = ""
    """Python of an environment that has vLLM and webdojo; empty takes the one that runs this. See `docs/vllm.md`."""
    urls: list[str] = []
    """Addresses of servers that run already, to use instead of starting any."""
    replicas: int = Field(default=1, ge=1)
    """Servers to start; each request goes to the least busy one."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port of the first server, the others count up from it; 0 takes free ones. They listen on this machine only."""
    gpus: list[int] = []
    """GPUs of the servers in their order, `tensor_parallel_size` for each; empty shows each server all of them."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs that share one copy of the model."""
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    """Share of a GPU's memory that a server takes."""
    kv_cache_memory_bytes: int = Field(default=0, ge=0)
    """Size of the cache of keys and values; 0 takes what `gpu_memory_utilization` leaves, and 1 GiB on the CPU."""
    max_model_len: int = Field(default=0, ge=0)
    """Tokens of prompt and response together; 0 takes `rollout.max_context_tokens`."""
    enforce_eager: bool = False
    """Without compiled graphs: a quicker start, slower sampling. On the CPU it is always so."""
    enable_sleep_mode: bool = False
    """Free the servers' GPU memory while the learner steps, for runs where both share a GPU."""
    args: list[str] = []
    """Further arguments of vLLM's server, such as `--max-num-seqs=64`."""
    weights_dir: str = ""
    """Folder through which new weights reach the servers, which must see it under the same path; empty takes the
    machine's temporary folder."""
    start_timeout_s: float = Field(default=900, gt=0)
    """How long a server may take until it answers."""
