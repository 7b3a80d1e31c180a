"""The page of `webdojo analyze` as a browser shows it."""

from __future__ import annotations

import pytest

from tests.loops.analysis.made import episode, step
from tests.view.demo_run import HOSTILE
from tests.view.test_report import opened
from webdojo.loops.analysis.analyze import analyze
from webdojo.store.run import RunStore
from webdojo.view.analyzing import write_analysis


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analysis")
    with RunStore.create(folder / "run", "name: quickstart\n", {"seed": 0}) as store:
        for n in range(40):
            made = episode(f"e{n}", step("So far a captcha."), step(), success=n % 3 == 0, website=f"site-{n}.test")
            made.task.website = f"{n} {HOSTILE}"
            store.add_trajectory(made, "rl", n // 4)
    return write_analysis(folder / "out", "run", analyze([folder / "run"]))


@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (390, "dark")])
async def test_plots_are_shown_and_nothing_overflows_or_runs(page_file, width, scheme):
    async with opened(page_file, width, scheme) as page:
        await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        await page.wait_for_function("[...document.images].every((i) => i.complete)")
        widths = await page.evaluate("[...document.querySelectorAll('img.plot')].map((i) => i.naturalWidth)")
        assert len(widths) > 10 and min(widths) > 100
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await page.title() == "run · webdojo"
        assert await page.locator("#websites td").count() > 100
        assert await page.locator("#websites td script, #websites td img").count() == 0
