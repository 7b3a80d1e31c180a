"""MiniWoB++ (Shi et al. 2017, Liu et al. 2018): 125 small pages with rewards of their own.

The pages are those of the `miniwob` package, unchanged; `sites.miniwob` serves them. A task is a page
and a seed. What to do is drawn by the page from the seed and shown in its yellow bar, so the
instruction points there: no text of ours stands between the benchmark and the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from webdojo.errors import TaskError
from webdojo.types import Task

KIND = "miniwob"
HOST = "miniwob.localhost"
INSTRUCTION = (
    "Do what the yellow bar at the top of the page says. When the page says that the episode is over, say done."
)

_NOT_LISTED = frozenset({"button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says"})
"""Pages that the package ships but does not register as environments: they need reactions in real time."""


def pages_folder() -> Path:
    """The folder of the installed package that holds the pages and what they load; TaskError if it is not there."""
    # Found without importing it: an import would load Selenium and register environments.
    spec = find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise TaskError(
            "MiniWoB++ needs the pages of the package 'miniwob', which is not installed: pip install 'webdojo[miniwob]'"
        )
    return Path(spec.submodule_search_locations[0]) / "html"


def page_names() -> list[str]:
    """Names of all tasks, `ascending-numbers` to `visual-addition`; those that the package registers."""
    pages = sorted(page.stem for page in (pages_folder() / "miniwob").glob("*.html"))
    return [name for name in pages if name not in _NOT_LISTED]


def load(seeds: Sequence[int] = (0,)) -> list[Task]:
    """Every page with every seed, as the package's own `reset(seed=…)` takes it; the same id is the same problem."""
    for seed in seeds:
        if seed < 0:
            raise TaskError(f"MiniWoB++ seed {seed} must be 0 or more")
    release = f"miniwob {version('miniwob')}"
    return [
        Task(
            id=f"{KIND}:{name}:{seed}",
            instruction=INSTRUCTION,
            start_url=f"http://{HOST}/miniwob/{name}.html?seed={seed}",
            website=HOST,
            kind=KIND,
            evaluator={"type": KIND},
            metadata={"env": name, "seed": seed, "time_limit": False, "release": release},
        )
        for name in page_names()
        for seed in seeds
    ]
