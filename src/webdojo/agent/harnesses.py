"""The harnesses by the name that a recipe gives them; `config.build(codec)` makes one."""

from __future__ import annotations

from webdojo.agent.harness import HarnessConfig
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.agent.openwebvoyager import OpenWebVoyagerConfig
from webdojo.agent.webagent_r1 import WebAgentR1Config
from webdojo.agent.webgym import WebGymConfig
from webdojo.plugins import Registry, derived_from

HARNESSES: Registry[type[HarnessConfig]] = Registry(
    "webdojo.harnesses",
    "harness",
    *derived_from(HarnessConfig),
    {
        "openwebrl": OpenWebRLConfig,
        "webgym": WebGymConfig,
        "webagent_r1": WebAgentR1Config,
        "openwebvoyager": OpenWebVoyagerConfig,
    },
)
"""What `harness.name` of a recipe may be."""
