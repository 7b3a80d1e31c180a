"""How fast the viewer shows a run of many trajectories, and what it costs a run that trains beside it.

    python benchmarks/viewer.py [--trajectories 100000] [--training]

A made-up run (`viewer_run.py`) is served and looked at in real Chromium. Times are medians, as a person has them: from
the click or the key to the rows, or to the first step with its screenshot, in the page. The first list of a run reads
the columns of all its trajectories, and has a figure of its own (`first_list_ms`).

| figure | what it is |
|---|---|
| `list_ms` | from the address of the list to its rows |
| `filter_ms` | from the choice of a kind, an outcome or an order to the rows that it leaves |
| `search_ms` | from the answer's request to its arrival, for words of which half of all trajectories have one |
| `open_ms` | from the address of a trajectory to its first step with its screenshot |
| `long_open_ms` | the same for a trajectory of 100 steps with prompts of 4,000 tokens |
| `longest_task_ms` | the longest task of the browser while those steps are scrolled, prompts open; 0: none took 50 ms |
| `axe_violations` | kinds of violations that axe-core finds on all pages, light and dark, at 390 and 1,280 px |
| `training_slowdown` | 1 − turns an hour with a viewer open on the run over those without; anew with `--training` |
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from record import record, recorded
from viewer_run import LONG, make_run

from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.store.info import git_hash
from webdojo.store.run import DATABASE, RunStore

REPEATS = 9
AXE = Path(__file__).parent.parent / "tests" / "view" / "axe" / "axe.min.js"
WATCHED = 3 * (False, True, True, False)
TRAINING = ["evaluate.tasks=20", f"train.iterations={len(WATCHED)}"]
FIRST_ROW = "!!document.querySelector('.row .task a')"
FIRST_STEP = """(() => {
  const image = document.querySelector('.step img');
  return !!image && image.complete && image.naturalWidth > 0;
})()"""
FILTERED = """([name, value]) => new Promise((done) => {
  const field = document.querySelector(`#filters [name=${name}]`);
  const rows = document.querySelector('#rows');
  const began = performance.now();
  new MutationObserver((_, watch) => {
    if (!rows.querySelector('.task a')) return;
    watch.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  }).observe(rows, { childList: true, subtree: true });
  field.value = value;
  field.dispatchEvent(new Event('input', { bubbles: true }));
})"""
FILTERS = [
    ("kind", "shop"),
    ("outcome", "success"),
    ("sort", "-steps"),
    ("kind", ""),
    ("outcome", ""),
    ("sort", "task"),
]
PROMPTS = "document.querySelectorAll('[data-prompt]')"
SCROLLED = """() => new Promise((done) => {
  let longest = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longest = Math.max(longest, entry.duration);
  }).observe({ type: 'longtask' });
  const step = () => {
    const before = scrollY;
    scrollBy(0, 240);
    if (scrollY > before) requestAnimationFrame(step);
    else setTimeout(() => done(longest), 300);
  };
  step();
})"""


@contextmanager
def viewer(folder: Path) -> Iterator[str]:
    """`webdojo view` as a process of its own; gives its address."""
    command = [sys.executable, "-m", "webdojo.cli", "view", str(folder), "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip().partition("/runs/")[0]
        finally:
            process.terminate()


def shown_ms(page: Page, url: str, there: str) -> float:
    """From the start of the navigation until `there` holds in the page."""
    page.goto(url, wait_until="commit")
    return float(page.wait_for_function(f"({there}) && performance.now()", polling="raf").json_value())


def median_of(measure: Callable[[], float], repeats: int = REPEATS) -> float:
    return round(statistics.median(measure() for _ in range(repeats)), 1)


def speed(browser: Browser, address: str) -> dict[str, float]:
    """How long a person waits."""
    # The policy of the pages would stop the functions by which Playwright waits.
    page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
    run = f"{address}/runs/big"
    figures = {"first_list_ms": round(shown_ms(page, f"{run}/trajectories", FIRST_ROW), 1)}
    while page.request.get(f"{run}/rows?limit=0").json()["reading"] is not None:
        time.sleep(0.1)
    figures["list_ms"] = median_of(lambda: shown_ms(page, f"{run}/trajectories", FIRST_ROW))
    figures["filter_ms"] = round(statistics.median(page.evaluate(FILTERED, each) for each in 2 * FILTERS), 1)
    ids = [row["id"] for row in page.request.get(f"{run}/rows?limit=100&sort=-reward").json()["rows"]]
    opened = iter(ids)
    figures["open_ms"] = median_of(lambda: shown_ms(page, f"{run}/trajectory?id={next(opened)}", FIRST_STEP))
    figures["long_open_ms"] = median_of(lambda: shown_ms(page, f"{run}/trajectory?id={LONG}", FIRST_STEP))
    page.evaluate(f"{PROMPTS}.forEach((each) => {{ each.open = true }})")
    page.wait_for_function(f"[...{PROMPTS}].every((each) => each.children.length > 1)")
    figures["longest_task_ms"] = round(page.evaluate(SCROLLED), 1)
    began = time.perf_counter()
    while page.request.get(f"{run}/rows?q=kettle").json()["reading"] is not None:
        time.sleep(0.5)
    figures["words_read_s"] = round(time.perf_counter() - began, 1)

    def search() -> float:
        asked = time.perf_counter()
        page.request.get(f"{run}/rows?q=kettle+lamp&limit=100")
        return 1000 * (time.perf_counter() - asked)

    figures["search_ms"] = median_of(search)
    page.close()
    return figures


def violations(browser: Browser, address: str) -> list[str]:
    """What axe-core finds, as `rule page`."""
    run = "/runs/big"
    pages = ("/", run, f"{run}/trajectories", f"{run}/trajectory?id={LONG}", "/compare?run=big&group=g-1")
    found = set()
    for width, scheme in ((1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
            bypass_csp=True,
        )
        page = context.new_page()
        for path in pages:
            page.goto(address + path, wait_until="load")
            page.wait_for_timeout(800)
            page.evaluate(AXE.read_text())
            found |= {f"{each['id']} {path}" for each in page.evaluate("axe.run().then((all) => all.violations)")}
        context.close()
    return sorted(found)


@contextmanager
def watched(browser: Browser, folder: Path) -> Iterator[None]:
    """Somebody looks at the dashboard and at the list of a run."""
    with viewer(folder) as address:
        pages = [browser.new_page() for _ in range(2)]
        for page, path in zip(pages, ("", "/trajectories"), strict=True):
            page.goto(f"{address}/runs/{folder.name}{path}")
        try:
            yield
        finally:
            for page in pages:
                page.close()


def trained(browser: Browser, folder: Path) -> list[dict[str, Any]]:
    """Iterations of the quickstart's online training, which an open viewer watches in the order A B B A.

    Each iteration is its own measurement in one process, so that neither the warm start nor the machine of another
    hour lies between those compared.
    """
    command = [sys.executable, "-m", "webdojo.cli", "train", "quickstart", *TRAINING, "--run", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as training:
        for iteration, watches in enumerate(WATCHED, 1):
            with watched(browser, folder) if watches else nullcontext():
                while training.poll() is None and ended(folder) < iteration:
                    time.sleep(1)
    with RunStore.open(folder, readonly=True) as store:
        metrics = store.metrics("rl")
        turns = [sum(row.steps for row in store.rows("rl", each["step"])) for each in metrics]
    return [
        {"viewer_open": watches, "turns": count, "seconds": each["seconds_total"], "commit": git_hash()}
        for watches, count, each in zip(WATCHED, turns, metrics, strict=True)
    ]


def slowdown(rows: list[dict[str, Any]]) -> float:
    """The share of its turns an hour that a training loses by the viewer."""
    with_viewer, without = (
        turns_an_hour([row for row in rows if row["viewer_open"] is watches]) for watches in (True, False)
    )
    return round(1 - with_viewer / without, 4)


def turns_an_hour(rows: list[dict[str, Any]]) -> float:
    return 3600 * sum(row["turns"] for row in rows) / sum(row["seconds"] for row in rows)


def ended(folder: Path) -> int:
    """The number of iterations of online training that have ended."""
    if not (folder / DATABASE).is_file():
        return 0
    with RunStore.open(folder, readonly=True) as store:
        return len(store.metrics("rl"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trajectories", type=int, default=100_000)
    parser.add_argument("--training", action="store_true", help="measure the cost to training, too: one run")
    parser.add_argument("--run", type=Path, help="a run that was made before, or where to make it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        big = (options.run or Path(folder)) / "big"
        if not big.is_dir():
            make_run(big, options.trajectories)
        browser = playwright.chromium.launch(executable_path=find_chromium(BrowserConfig()), args=["--no-sandbox"])
        with viewer(big) as address:
            figures = speed(browser, address)
            wrong = violations(browser, address)
        kept = [row for row in recorded("viewer") if "viewer_open" in row]
        rows = trained(browser, Path(folder) / "run") if options.training else kept
        browser.close()
    headline: dict[str, float | None] = {"trajectories": options.trajectories, **figures}
    headline |= {"axe_violations": len(wrong), "training_slowdown": slowdown(rows) if rows else None}
    record("viewer", headline, [*rows, *({"violation": each} for each in wrong)])


if __name__ == "__main__":
    main()
