"""The harnesses by the name that a recipe gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webdojo.agent.harness import Codec, Harness
from webdojo.agent.openwebrl import OpenWebRLHarness
from webdojo.agent.openwebvoyager import OpenWebVoyagerHarness
from webdojo.agent.webagent_r1 import WebAgentR1Harness
from webdojo.agent.webgym import WebGymHarness
from webdojo.config import HarnessConfig

_HARNESSES: dict[str, Callable[[Any, Codec], Harness]] = {
    "openwebrl": OpenWebRLHarness,
    "webgym": WebGymHarness,
    "webagent_r1": WebAgentR1Harness,
    "openwebvoyager": OpenWebVoyagerHarness,
}


def harness_names() -> tuple[str, ...]:
    """What `make_harness` can make."""
    return tuple(_HARNESSES)


def make_harness(config: HarnessConfig, codec: Codec) -> Harness:
    """The harness that a recipe asks for, for the model of this codec."""
    return _HARNESSES[config.name](config, codec)
