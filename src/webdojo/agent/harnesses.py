"""The harnesses by their names in a recipe."""

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
"""The values of `harness.name` in a recipe; `build(codec)` of the config makes the harness."""
