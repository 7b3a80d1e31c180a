"""The engines by the name that a recipe gives them."""

from __future__ import annotations

from webdojo.plugins import Registry, derived_from
from webdojo.policy.chat.config import ChatConfig
from webdojo.policy.engine import EngineConfig
from webdojo.policy.hf_config import HFConfig
from webdojo.policy.vllm.config import VLLMConfig

ENGINES: Registry[type[EngineConfig]] = Registry(
    "webdojo.engines",
    "engine",
    *derived_from(EngineConfig),
    {"hf": HFConfig, "vllm": VLLMConfig, "chat": ChatConfig},
)
"""What `engine.name` of a recipe may be."""
