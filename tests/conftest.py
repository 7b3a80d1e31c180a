"""Which tests belong to which tier, in one place: `make check`, `make test` and `make test-slow`.

Modules that are named nowhere start no browser and train nothing: they are what `make check` runs.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("any_machine", deadline=None)  # a busy one takes long for an example now and then
settings.load_profile("any_machine")

TESTS = Path(__file__).parent

SLOW = {
    "": "adding howtos readme release your_own",
    "benchmarks": "adversary fairness judges quickstart",
    "browser": "chaos",
    "browser/apps": "datasette jupyterlab",
    "envs/apps": "installed library",
    "loops/collection": "collect_kills",
    "loops/construction": "construct_kills",
    "loops/distillation": "distill_kills",
    "loops": "full_disk judged_kills kills open_web recipes",
    "reward": "mutations",
    "sites/perturbations": "browser",
    "tasks": "miniwob",
    "tiny": "train",
}
"""Modules of `make test-slow` by folder: `kills` is `test_kills.py`."""

INTEGRATION = {
    "": "architecture deploy plugins",
    "agent": "parsing properties pycall toolcall",
    "benchmarks": "apps async_loop browser dedup engine learner learner_exactness paced sites",
    "browser": "begin_frame har hard_pages images pool remote screenshots session uploads",
    "browser/page": "elements popups views",
    "browser/person": "capture",
    "browser_service": "client server server_fuzz",
    "cli": "analyze apps cli judge record runs supervise tasks tasks_build",
    "dry_run": "memory",
    "envs": "dojo env",
    "envs/apps": "chromium trac",
    "envs/browsergym": "browsergym",
    "gpu": "gpu",
    "gym": "env guide",
    "interop": "host",
    "interop/browsergym": "tasks",
    "interop/openenv": "openenv serve",
    "interop/trl": "trl",
    "interop/verifiers": "verifiers",
    "loops": "act browsers crash evaluations judged keep old_runs online pipeline push resume secrets tracking",
    "loops/collection": "attempts collect curate exchange imitated person",
    "loops/construction": "attempt construct crawl propose",
    "loops/distillation": "distill",
    "loops/judging": "stress",
    "policy/chat": "client",
    "policy/hf": "engine_agreement engine_options",
    "policy/model": "block_mask families parts",
    "policy/vllm": "engine scratch",
    "reward/webarena": "pages",
    "reward/judges": "endpoint hostile_page judge tiny_judge",
    "rollout": "embedded embedded_text endpoint episode harnesses scheduler",
    "sites": "board broken_scripts compact compact_grid kinds looks map new_kind site splits taskgen widgets",
    "sites/oracle": "oracle",
    "sites/perturbations": "perturbations",
    "sites/serving": "server",
    "store": "failures run",
    "trainer": "packing plugs sft",
    "trainer/learner": "driver layers learner lora nodes options ranks",
    "view": "analysis_page page report trace viewer",
}
"""Modules that start browsers, train, or run whole commands, and so are not for every edit."""


def named(tier: dict[str, str]) -> set[Path]:
    """The files of a tier."""
    return {TESTS / folder / f"test_{name}.py" for folder, names in tier.items() for name in names.split()}


@pytest.fixture(scope="module", autouse=True)
def leaves_nothing_open() -> Iterator[None]:
    """A socket, file or transport that a module leaves open fails its last test, and not one of another module."""
    yield
    gc.collect()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow, integration = named(SLOW), named(INTEGRATION)
    for item in items:
        if item.path in slow:
            item.add_marker(pytest.mark.slow)
        elif item.path in integration:
            item.add_marker(pytest.mark.integration)
